"""What the server does by itself: each part whatever becomes of the others."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import pytest

from memserver.domain.policies import Policy, PolicyRole, PolicyState, ScoredRun
from memserver.domain.ports import Store, Writer
from memserver.domain.ports.store import Serving
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.housekeeping import FORGOTTEN_TOGETHER, Housekeeping, Keeping
from memserver.services.own_work import SERVER
from memserver.services.policies.lifecycle import Lifecycle
from memserver.services.policies.watching import Trial, Verdict

NOW = datetime(2026, 5, 4, tzinfo=UTC)
SECRET = "the words of a user"


@dataclass
class Later:
    """A clock that moves on by a quarter of an hour whenever it is read."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=15)
        return self.now


@dataclass
class Rows:
    """The part of a store that housekeeping asks. The namespaces in `broken` cannot be read."""

    in_use: dict[Namespace, Policy] = field(default_factory=dict)
    runs: dict[Namespace, list[ScoredRun]] = field(default_factory=dict)
    broken: set[Namespace] = field(default_factory=set)
    decisions: int = 0
    prunes: list[dict[str, Any]] = field(default_factory=list)
    position: int = 1

    @contextmanager
    def reading(self) -> Iterator["Rows"]:
        yield self

    def write(self, work: Callable[[Writer], Any]) -> Any:
        return work(cast(Writer, self))

    def head_position(self) -> int:
        return self.position

    def namespaces_with_policies(self) -> tuple[Namespace, ...]:
        return tuple(self.in_use)

    def serving(self, namespace: Namespace, role: PolicyRole) -> Serving:
        if namespace in self.broken:
            raise RuntimeError(SECRET)
        return Serving((self.in_use[namespace],), None)

    def scored_runs(self, namespace: Namespace, **_: Any) -> tuple[ScoredRun, ...]:
        return tuple(self.runs[namespace])

    def prune_decisions(self, **how: Any) -> int:
        self.prunes.append(how)
        gone = min(how["limit"], self.decisions)
        self.decisions -= gone
        return gone

    def add(self, state: PolicyState, *, score: float, baseline: int = 60) -> Policy:
        """A policy in a namespace of its own, with runs that score so much."""
        here = Namespace(len(self.in_use) + 1, uuid4(), f"room-{len(self.in_use)}")
        policy = Policy(
            id=uuid4(),
            namespace=here,
            role=PolicyRole.RETRIEVE,
            kind="case-value",
            state=state,
            manifest={},
            weights_hash="",
            created_at=NOW,
            since=NOW,
            baseline=(0.5,) * baseline,
        )
        self.in_use[here] = policy
        self.runs[here] = [ScoredRun(policy.name, uuid4(), score, NOW) for _ in range(200)]
        return policy


@dataclass
class Demotions:
    """A lifecycle that notes what it was to demote, and for whom."""

    asked: list[tuple[Scope, Trial]] = field(default_factory=list)

    def demote(self, tx: Writer, server: Scope, failed: Trial) -> None:
        self.asked.append((server, failed))


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def demotions() -> Demotions:
    return Demotions()


@pytest.fixture
def house(rows: Rows, demotions: Demotions) -> Housekeeping:
    return Housekeeping(
        cast(Store, rows),
        cast(Lifecycle, demotions),
        Keeping(days=90, most=1000),
        clock=Later(),
        every_s=0.01,
    )


def test_only_what_does_worse_is_demoted_and_by_the_server(
    rows: Rows, demotions: Demotions, house: Housekeeping
) -> None:
    worse = rows.add(PolicyState.ACTIVE, score=0.0)
    rows.add(PolicyState.ACTIVE, score=0.5)
    rows.add(PolicyState.ACTIVE, score=1.0)
    house.guard()
    ((server, failed),) = demotions.asked
    assert (failed.policy, failed.verdict) == (worse, Verdict.WORSE)
    assert (server.tenant, server.key, server.role) == (worse.namespace.tenant, SERVER, Role.ADMIN)


def test_runs_are_not_even_read_where_nothing_can_be_compared(
    rows: Rows, demotions: Demotions, house: Housekeeping
) -> None:
    policy = rows.add(PolicyState.ACTIVE, score=0.0, baseline=0)
    rows.runs.pop(policy.namespace)
    assert house.guard() == []
    assert demotions.asked == []


def test_a_namespace_that_cannot_be_read_keeps_no_other_from_being_guarded(
    rows: Rows, demotions: Demotions, house: Housekeeping, caplog: pytest.LogCaptureFixture
) -> None:
    policies = [rows.add(PolicyState.ACTIVE, score=0.0) for _ in range(3)]
    rows.broken.add(policies[0].namespace)
    house.look()
    assert [failed.policy for _, failed in demotions.asked] == policies[1:]
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text
    assert len(rows.prunes) == 1
    rows.broken.clear()
    demotions.asked.clear()
    house.guard()
    assert [failed.policy for _, failed in demotions.asked] == policies


def test_without_a_change_since_the_last_look_there_is_nothing_to_see(
    rows: Rows, demotions: Demotions, house: Housekeeping
) -> None:
    rows.add(PolicyState.ACTIVE, score=0.0)
    house.guard()
    house.guard()
    assert len(demotions.asked) == 1
    rows.position += 1
    house.guard()
    assert len(demotions.asked) == 2


def test_old_decisions_go_some_at_a_time_until_none_is_left(
    rows: Rows, house: Housekeeping
) -> None:
    rows.decisions = 2 * FORGOTTEN_TOGETHER + 1
    assert house.forget() == 2 * FORGOTTEN_TOGETHER + 1
    assert len(rows.prunes) == 3
    now = NOW + timedelta(minutes=15)
    assert rows.prunes[0] == {
        "before": now - timedelta(days=90),
        "most": 1000,
        "limit": FORGOTTEN_TOGETHER,
    }


def test_a_part_that_fails_is_logged_without_content_and_the_next_is_done(
    rows: Rows,
    house: Housekeeping,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(rows, "namespaces_with_policies", fail)
    with caplog.at_level(logging.ERROR):
        house.look()
    assert "guard failed: RuntimeError" in caplog.text
    assert SECRET not in caplog.text
    assert len(rows.prunes) == 1


def test_the_thread_looks_again_and_again_and_stops_when_told(
    rows: Rows, house: Housekeeping
) -> None:
    house.start()
    try:
        assert house.alive
        deadline = datetime.now(UTC) + timedelta(seconds=20)
        while len(rows.prunes) < 3 and datetime.now(UTC) < deadline:
            house._stopping.wait(0.01)
    finally:
        house.stop()
    assert len(rows.prunes) >= 3
    assert not house.alive
