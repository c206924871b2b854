"""Which policy answers a run, what stays loaded, and how much of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

import numpy as np
import pytest

from memserver.domain.policies import (
    Exploration,
    Mode,
    Policy,
    PolicyRole,
    PolicyState,
    exploration_id,
)
from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.folder import PolicyFolder
from memserver.domain.ports import Reader
from memserver.domain.ports.meter import Unmetered
from memserver.domain.ports.store import Serving as InUse
from memserver.domain.scope import Namespace
from memserver.services.policies.serving import (
    MOST_SHADOWS,
    Scorers,
    Serving,
    in_canary,
    policy_for,
)
from memserver.services.retrieval.rankers import FIXED
from tests.fakes.encoder import HashEncoder
from tests.fakes.policies import ENCODER, folder

HERE = Namespace(1, uuid4(), "here")
NOW = datetime(2026, 5, 4, tzinfo=UTC)


@dataclass
class Rows:
    """The part of a reader that serving asks, and how often it was asked for weights."""

    policies: tuple[Policy, ...] = ()
    exploration: Exploration | None = None
    weights: dict[str, bytes] = field(default_factory=dict)
    loads: list[str] = field(default_factory=list)

    def serving(self, namespace: Namespace, role: PolicyRole) -> InUse:
        assert (namespace, role) == (HERE, PolicyRole.RETRIEVE)
        return InUse(self.policies, self.exploration)

    def policy_weights(self, weights_hash: str) -> bytes | None:
        self.loads.append(weights_hash)
        return self.weights.get(weights_hash)

    def add(self, made: PolicyFolder, state: PolicyState, **more: Any) -> Policy:
        manifest = made.manifest
        policy = Policy(
            id=uuid4(),
            namespace=HERE,
            role=PolicyRole.RETRIEVE,
            kind=manifest.kind,
            state=state,
            manifest=manifest.document(),
            weights_hash=manifest.weights_sha256,
            created_at=NOW,
            since=NOW,
            **more,
        )
        self.weights[manifest.weights_sha256] = made.weights
        self.policies = (policy, *self.policies)
        return policy

    @property
    def reader(self) -> Reader:
        return cast(Reader, self)


class Failures(Unmetered):
    def __init__(self) -> None:
        self.of: list[str] = []

    def policy_failed(self, policy: str) -> None:
        self.of.append(policy)


@pytest.fixture
def rows() -> Rows:
    return Rows()


def liking(weight: float) -> PolicyFolder:
    return folder({"cosine": weight})


def names(ranker_tuple: Sequence[Any]) -> list[str]:
    return [ranker.name for ranker in ranker_tuple]


# --- who answers


def test_the_active_one_serves_all_but_a_canarys_share(rows: Rows) -> None:
    active = rows.add(liking(1), PolicyState.ACTIVE)
    canary = rows.add(liking(2), PolicyState.CANARY, share=0.25)
    rows.add(liking(3), PolicyState.SHADOW)
    units = [uuid4() for _ in range(2000)]
    served = [policy_for(rows.policies, unit) for unit in units]
    assert served == [canary if in_canary(canary, unit) else active for unit in units]
    assert 400 < served.count(canary) < 600


def test_two_canaries_in_turn_get_different_runs(rows: Rows) -> None:
    first = rows.add(liking(1), PolicyState.CANARY, share=0.5)
    second = replace(first, id=uuid4())
    units = [uuid4() for _ in range(400)]
    assert {(in_canary(first, unit), in_canary(second, unit)) for unit in units} == {
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    }


def test_without_learned_policies_and_without_namespaces_the_built_in_one_answers(
    rows: Rows,
) -> None:
    serving = Serving(Scorers(ENCODER), Unmetered())
    for namespaces in ([HERE], []):
        chosen = serving.choose(rows.reader, namespaces, uuid4())
        assert (chosen.ranker, chosen.shadows, chosen.explores) == (FIXED, (), False)


def test_one_that_cannot_be_loaded_is_counted_and_hides_no_other(rows: Rows) -> None:
    shadow = rows.add(liking(1), PolicyState.SHADOW)
    lost = rows.add(liking(2), PolicyState.SHADOW)
    active = rows.add(liking(3), PolicyState.ACTIVE)
    for gone in (lost, active):
        del rows.weights[gone.weights_hash]
    failures = Failures()
    chosen = Serving(Scorers(ENCODER), failures).choose(rows.reader, [HERE], uuid4())
    assert chosen.ranker is FIXED
    assert names(chosen.shadows) == [shadow.name]
    assert sorted(failures.of) == sorted([lost.name, active.name])


def test_a_retrieve_scores_only_the_newest_shadows(rows: Rows) -> None:
    made = [rows.add(liking(n), PolicyState.SHADOW) for n in range(MOST_SHADOWS + 3)]
    chosen = Serving(Scorers(ENCODER), Unmetered()).choose(rows.reader, [HERE], uuid4())
    assert names(chosen.shadows) == [policy.name for policy in reversed(made[3:])]
    assert len(rows.loads) == MOST_SHADOWS


# --- who explores


def test_only_runs_that_explore_are_given_chance(rows: Rows) -> None:
    rows.exploration = Exploration(
        exploration_id(HERE, PolicyRole.RETRIEVE),
        HERE,
        mode=Mode.LEARNING,
        temperature=2.0,
        share=0.5,
        exposure_slots=1,
    )
    serving = Serving(Scorers(ENCODER), Unmetered())
    units = [uuid4() for _ in range(400)]
    chosen = [serving.choose(rows.reader, [HERE], unit) for unit in units]
    assert {(one.explores, one.temperature, one.exposure_slots) for one in chosen} == {
        (True, 2.0, 1),
        (False, 0.0, 0),
    }
    assert 140 < sum(one.explores for one in chosen) < 260
    again = [serving.choose(rows.reader, [HERE], unit) for unit in units]
    assert [one.explores for one in again] == [one.explores for one in chosen]


def test_whether_a_run_explores_says_nothing_of_whether_it_is_a_canarys(rows: Rows) -> None:
    rows.add(liking(1), PolicyState.CANARY, share=0.5)
    rows.exploration = Exploration(
        exploration_id(HERE, PolicyRole.RETRIEVE),
        HERE,
        mode=Mode.LEARNING,
        temperature=1,
        share=0.5,
    )
    serving = Serving(Scorers(ENCODER), Unmetered())
    chosen = [serving.choose(rows.reader, [HERE], uuid4()) for _ in range(800)]
    both = sum(one.explores and one.ranker is not FIXED for one in chosen)
    assert 140 < both < 260


def test_a_fixed_namespace_never_explores_whatever_its_share_says(rows: Rows) -> None:
    rows.exploration = Exploration(
        exploration_id(HERE, PolicyRole.RETRIEVE), HERE, temperature=1, share=1
    )
    chosen = Serving(Scorers(ENCODER), Unmetered()).choose(rows.reader, [HERE], uuid4())
    assert (chosen.explores, chosen.temperature) == (False, 0.0)


# --- what stays loaded


def test_weights_are_read_once(rows: Rows) -> None:
    policy, scorers = rows.add(liking(2), PolicyState.ACTIVE), Scorers(ENCODER)
    first = scorers(rows.reader, policy)
    assert scorers(rows.reader, policy) is first
    assert rows.loads == [policy.weights_hash]
    query = np.eye(1, ENCODER.dimension, dtype=np.float32)[0]
    features = np.zeros((1, len(policy.manifest["feature_names"])), np.float32)
    features[0, policy.manifest["feature_names"].index("cosine")] = 0.5
    assert first.logits(query, query[None], features).tolist() == [1.0]


def test_what_was_used_longest_ago_is_let_go_when_there_is_too_much(rows: Rows) -> None:
    policies = [rows.add(liking(n), PolicyState.SHADOW) for n in range(4)]
    size = len(rows.weights[policies[0].weights_hash])
    scorers = Scorers(ENCODER, kept_bytes=3 * size)
    for policy in (*policies[:3], policies[0], policies[3]):
        scorers(rows.reader, policy)
    assert scorers.size == 3 * size
    rows.loads.clear()
    for policy in (policies[0], policies[2], policies[3]):
        scorers(rows.reader, policy)
    assert rows.loads == []
    scorers(rows.reader, policies[1])
    assert rows.loads == [policies[1].weights_hash]


def test_one_that_is_larger_than_all_that_may_be_kept_still_serves(rows: Rows) -> None:
    policy, scorers = rows.add(liking(1), PolicyState.ACTIVE), Scorers(ENCODER, kept_bytes=1)
    first = scorers(rows.reader, policy)
    assert scorers(rows.reader, policy) is first


def test_of_one_that_does_not_fit_not_even_the_weights_are_read(rows: Rows) -> None:
    policy = rows.add(liking(1), PolicyState.ACTIVE)
    with pytest.raises(InvalidPolicy, match="encoder"):
        Scorers(HashEncoder(name="other"))(rows.reader, policy)
    assert rows.loads == []


def test_lost_weights_are_told_by_their_hash(rows: Rows) -> None:
    policy = rows.add(liking(1), PolicyState.ACTIVE)
    rows.weights.clear()
    with pytest.raises(LookupError, match=policy.weights_hash):
        Scorers(ENCODER)(rows.reader, policy)


def test_damaged_weights_are_refused(rows: Rows) -> None:
    policy = rows.add(liking(1), PolicyState.ACTIVE)
    rows.weights[policy.weights_hash] += b"."
    with pytest.raises(InvalidPolicy, match="SHA-256"):
        Scorers(ENCODER)(rows.reader, policy)


def test_a_unit_is_a_uuid_and_nothing_else_counts(rows: Rows) -> None:
    canary = rows.add(liking(1), PolicyState.CANARY, share=0.5)
    unit = uuid4()
    assert in_canary(canary, unit) == in_canary(replace(canary, reason="x"), UUID(str(unit)))
