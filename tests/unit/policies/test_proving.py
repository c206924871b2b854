"""How a logged decision becomes choices that an estimate can reweigh."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt
import pytest

from memserver.domain.decisions import Considered, Decision
from memserver.domain.policies import BUILT_IN
from memserver.domain.policy.features import Features
from memserver.domain.policy.off_policy import LoggedChoice
from memserver.domain.ports import Reader, RunBrief
from memserver.domain.scope import Namespace, Role, Scope
from memserver.domain.trajectories import Outcome, OutcomeSource, Task
from memserver.services.exporting.rewards import Rewarded
from memserver.services.exporting.splits import Split, group_of_goal, split_of
from memserver.services.policies.proving import Proving, choices_of

HERE = Namespace(1, uuid4(), "here")
A, B, C = (uuid4() for _ in range(3))
VECTORS = {one: np.zeros(2, np.float32) for one in (A, B, C)}


@dataclass(frozen=True)
class ByAge:
    """Values what is older more."""

    def logits(
        self,
        query: npt.NDArray[np.float32],
        items: npt.NDArray[np.float32],
        features: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float64]:
        assert (query.shape, items.shape) == ((2,), (len(features), 2))
        ages: npt.NDArray[np.float64] = features[:, 14].astype(np.float64)
        return ages


def considered(
    document: UUID,
    rank: int | None,
    *,
    score: float = 0.0,
    slot: str = "policy",
    packed: bool | None = None,
    gated: str | None = None,
    **features: float,
) -> Considered:
    return Considered(
        id=document,
        features=tuple(Features(**features).vector().tolist()),
        rank=rank,
        packed=rank is not None if packed is None else packed,
        propensity=0.25,
        gated=gated,
        score=score,
        slot=None if rank is None else slot,
    )


def decision(*candidates: Considered, policy: str = BUILT_IN, temperature: float = 1.0) -> Decision:
    """Each place with the probability that its kind and the places before it give."""
    admitted = [one for one in candidates if one.gated is None]
    left = list(admitted)
    known: dict[UUID, float] = {}
    for one in sorted((one for one in admitted if one.rank), key=lambda one: one.rank or 0):
        weights = np.exp(np.array([other.score for other in left]) / temperature)
        chance = weights[left.index(one)] / weights.sum()
        known[one.id] = 1 / len(left) if one.slot == "exposure" else float(chance)
        left.remove(one)
    candidates = tuple(replace(one, propensity=known.get(one.id, 0.0)) for one in candidates)
    return Decision(
        id=uuid4(),
        tenant=HERE.tenant,
        namespaces=(HERE,),
        verb="retrieve",
        query="open the door",
        task_type=None,
        trajectory_id=None,
        schema=1,
        policy=policy,
        candidates=candidates,
        created_at=datetime(2026, 5, 4, tzinfo=UTC),
        k=3,
        explored=True,
        temperature=temperature,
        query_vector=np.zeros(2, "<f4").tobytes(),
    )


def choices(of: Decision, score: float = 1.0, **credits: float) -> list[LoggedChoice]:
    rewarded = Rewarded(
        {"outcome": score}, {UUID(one): weight for one, weight in credits.items()}, "a task"
    )
    return list(choices_of(of, rewarded, ByAge(), VECTORS))


def test_each_place_is_a_choice_among_what_was_left() -> None:
    first, second, third = choices(
        decision(considered(A, 3, age_days=3.0), considered(B, 1, age_days=1.0), considered(C, 2))
    )
    assert [one.slot for one in (first, second, third)] == [0, 1, 2]
    assert [one.taken for one in (first, second, third)] == [1, 1, 0]
    assert [len(one.features) for one in (first, second, third)] == [3, 2, 1]
    assert first.target.tolist() == [1, 0, 0]
    assert first.behaviour.tolist() == pytest.approx([1 / 3] * 3)
    assert second.target.tolist() == [1, 0]
    assert {one.cluster for one in (first, second, third)} == {"a task"}


def test_what_was_not_packed_earned_nothing_and_is_no_choice() -> None:
    found = choices(decision(considered(A, 1), considered(B, 2, packed=False), considered(C, None)))
    assert [(one.slot, one.reward) for one in found] == [(0, 1.0)]


def test_the_outcome_is_shared_by_credit_or_else_alike() -> None:
    of = decision(considered(A, 1), considered(B, 2))
    assert [one.reward for one in choices(of, 0.5)] == [0.25, 0.25]
    assert [one.reward for one in choices(of, 0.5, **{str(B): 1.0})] == [0, 0.5]
    thirds = {str(A): 1.0, str(B): 2.0}
    assert [one.reward for one in choices(of, 0.9, **thirds)] == pytest.approx([0.3, 0.6])


def test_an_exposure_place_was_filled_uniformly_and_a_forced_one_by_nobody() -> None:
    forced, exposed = (
        considered(A, 1, score=9.0, slot="forced"),
        considered(B, 2, slot="exposure"),
    )
    (found,) = choices(decision(forced, exposed, considered(C, None, score=5.0)))
    assert (found.slot, found.taken) == (1, 0)
    assert found.behaviour.tolist() == [0.5, 0.5]


FAILED_OFTEN = {"belief_outcomes": 9.0, "belief_lower": 0.05}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(BUILT_IN, [0, 1]), (str(uuid4()), [1, 0])],
    ids=["built-in", "learned"],
)
def test_the_reference_keeps_out_what_the_policy_itself_would_have(
    policy: str, expected: list[float]
) -> None:
    """The built-in one refuses what failed too often unless it explores; learned ones weigh it."""
    best, other = considered(A, 1, score=3.0, **FAILED_OFTEN), considered(B, None, score=1.0)
    (found,) = choices(decision(best, other, policy=policy))
    assert found.reference.tolist() == expected


def test_a_decision_of_which_a_candidate_is_gone_tells_nothing() -> None:
    of = decision(considered(A, 1), considered(uuid4(), 2))
    assert choices(of) == []
    assert choices(replace(of, candidates=())) == []


def test_a_decision_that_does_not_replay_tells_nothing() -> None:
    of = decision(considered(A, 1), considered(B, 2), considered(C, None))
    first, *rest = of.candidates
    assert len(choices(of)) == 2
    assert choices(replace(of, candidates=(replace(first, propensity=0.5), *rest))) == []


def test_what_the_gates_kept_out_is_no_candidate() -> None:
    (found,) = choices(decision(considered(A, None, gated="inactive"), considered(B, 1)))
    assert len(found.features) == 1


class TestWhatTrainingMayHaveSeen:
    """A policy that has learnt its log by heart must not be proved by it."""

    registered = datetime(2026, 5, 4, 12, tzinfo=UTC)

    def told(self, goal: str, at: datetime) -> bool:
        run, sender = uuid4(), uuid4()
        of = replace(decision(considered(A, 1)), trajectory_id=run, asked_by=sender, created_at=at)
        brief = RunBrief(
            run, Task(goal), Outcome(1.0, True, OutcomeSource.ENVIRONMENT), None, sender
        )
        scope = Scope(HERE.tenant, sender, Role.ADMIN, ("**",))
        reader = cast(Reader, Runs({run: brief}))
        return bool(Proving._told(reader, scope, [of], registered=self.registered))

    def test_before_it_was_registered_only_tasks_that_are_held_back_count(self) -> None:
        before = self.registered - timedelta(hours=1)
        goals = [f"open door {number}" for number in range(60)]
        held_back = [split_of(group_of_goal(goal)) is not Split.TRAIN for goal in goals]
        assert [self.told(goal, before) for goal in goals] == held_back
        assert {*held_back} == {True, False}

    def test_what_came_after_counts_whatever_the_task(self) -> None:
        assert all(self.told(f"open door {number}", self.registered) for number in range(20))


@dataclass(frozen=True)
class Runs:
    """Runs whose outcomes nobody has credited to anything."""

    runs: dict[UUID, RunBrief]

    def evidence_of_causes(self, scope: Scope, causes: Sequence[UUID]) -> dict[UUID, Any]:
        return {}

    def runs_in_brief(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, RunBrief]:
        return {one: self.runs[one] for one in ids}
