"""What outcomes say of a canary and of an active policy, from runs as the store gives them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import pytest

from memserver.domain.policies import BUILT_IN, Policy, PolicyRole, PolicyState, ScoredRun
from memserver.domain.policy.sequential import MIN_PER_ARM
from memserver.domain.ports import Reader
from memserver.domain.scope import Namespace
from memserver.services.policies.serving import in_canary
from memserver.services.policies.watching import Verdict, can_fail, scores_under, trial

NOW = datetime(2026, 5, 4, tzinfo=UTC)
HERE = Namespace(1, uuid4(), "here")


@dataclass
class Runs:
    """The part of a reader that watching asks."""

    runs: list[ScoredRun]

    def scored_runs(
        self, namespace: Namespace, *, since: datetime, limit: int
    ) -> tuple[ScoredRun, ...]:
        assert namespace == HERE
        return tuple([run for run in self.runs if run.at >= since][-limit:])

    @property
    def reader(self) -> Reader:
        return cast(Reader, self)


def policy(state: PolicyState, **more: Any) -> Policy:
    return Policy(
        id=uuid4(),
        namespace=HERE,
        role=PolicyRole.RETRIEVE,
        kind="case-value",
        state=state,
        manifest={},
        weights_hash="",
        created_at=NOW,
        since=NOW,
        **more,
    )


def run(name: str, score: float, *, minute: int = 1, unit: Any = None) -> ScoredRun:
    return ScoredRun(name, unit or uuid4(), score, NOW + timedelta(minutes=minute))


def beside(canary: Policy, count: int, own: float, others: float) -> list[ScoredRun]:
    """Runs as they are assigned, all served by whom they were meant for."""
    runs = []
    for _ in range(count):
        unit = uuid4()
        mine = in_canary(canary, unit)
        runs.append(run(canary.name if mine else BUILT_IN, own if mine else others, unit=unit))
    return runs


@pytest.mark.parametrize(
    ("own", "others", "verdict"),
    [
        (1.0, 0.0, Verdict.BETTER),
        (0.0, 1.0, Verdict.WORSE),
        (0.5, 0.5, Verdict.UNDECIDED),
    ],
)
def test_a_canary_is_compared_with_the_runs_beside_it(
    own: float, others: float, verdict: Verdict
) -> None:
    canary = policy(PolicyState.CANARY, share=0.5)
    found = trial(Runs(beside(canary, 200, own, others)).reader, canary)
    assert (found.verdict, found.mean, found.compared_mean) == (verdict, own, others)
    assert found.runs + found.compared_runs == 200
    assert found.told.startswith(f"{verdict}: {own:.3f} over {found.runs} runs against")


def test_a_run_counts_for_whom_it_was_meant_even_where_another_one_answered() -> None:
    canary = policy(PolicyState.CANARY, share=0.5)
    fallen_back = [
        ScoredRun(BUILT_IN, one.unit, one.score, one.at)
        for one in beside(canary, 200, own=0.0, others=1.0)
    ]
    found = trial(Runs(fallen_back).reader, canary)
    assert (found.verdict, found.mean, found.compared_mean) == (Verdict.WORSE, 0.0, 1.0)


def test_too_few_runs_decide_nothing_and_how_many_are_needed_is_told() -> None:
    canary = policy(PolicyState.CANARY, share=0.01)
    found = trial(Runs(beside(canary, 60, own=1.0, others=0.0)).reader, canary)
    assert (found.verdict, found.difference) == (Verdict.UNDECIDED, None)
    assert f"{MIN_PER_ARM} of each are needed" in found.told
    nothing = trial(Runs([]).reader, canary)
    assert (nothing.runs, nothing.mean, nothing.compared_mean) == (0, None, None)


def test_what_came_before_the_trial_does_not_count() -> None:
    canary = policy(PolicyState.CANARY, share=0.5)
    early = [run(one.policy, one.score, minute=-1) for one in beside(canary, 99, 1.0, 0.0)]
    assert trial(Runs(early).reader, canary).runs == 0


def test_an_active_policy_is_compared_with_its_baseline() -> None:
    active = policy(PolicyState.ACTIVE, baseline=(1.0,) * 60)
    runs = [run(active.name, 0.0) for _ in range(80)] + [run(BUILT_IN, 1.0) for _ in range(80)]
    found = trial(Runs(runs).reader, active)
    assert (found.runs, found.compared_runs, found.verdict) == (80, 60, Verdict.WORSE)


@pytest.mark.parametrize(
    ("state", "baseline", "can"),
    [
        (PolicyState.CANARY, 0, True),
        (PolicyState.ACTIVE, MIN_PER_ARM, True),
        (PolicyState.ACTIVE, MIN_PER_ARM - 1, False),
        (PolicyState.SHADOW, MIN_PER_ARM, False),
        (PolicyState.RETIRED, MIN_PER_ARM, False),
    ],
)
def test_only_what_has_something_to_be_compared_with_is_watched(
    state: PolicyState, baseline: int, can: bool
) -> None:
    watched = policy(state, baseline=(0.5,) * baseline)
    assert can_fail(watched) is can


def test_a_baseline_is_of_one_policy_and_of_its_newest_runs() -> None:
    here = policy(PolicyState.SHADOW)
    runs = [run(BUILT_IN, n / 600, minute=n) for n in range(600)]
    runs.insert(300, run("another", 0.0, minute=300))
    found = scores_under(Runs(runs).reader, here, BUILT_IN, NOW)
    assert found == tuple(n / 600 for n in range(100, 600))
    later = scores_under(Runs(runs).reader, here, BUILT_IN, NOW + timedelta(minutes=599))
    assert later == (599 / 600,)
