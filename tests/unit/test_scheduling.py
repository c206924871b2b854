"""When a namespace is due, by a clock of ours."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.operations import Operation, State
from memserver.domain.ports.keeping import Written
from memserver.domain.scope import Namespace
from memserver.services.scheduling import PAUSE, Past, due

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
NS = Namespace(1, UUID(int=1), "team/agents")


def settings(**occasions: Any) -> NamespaceSettings:
    return NamespaceSettings(UUID(int=2), NS, **occasions)


def last(state: State = State.SUCCEEDED, *, ago: timedelta = timedelta(hours=2)) -> Operation:
    at = NOW - ago
    return Operation(UUID(int=3), NS.tenant, NS, "consolidate", {}, state, UUID(int=0), at, at)


def written(changes: int, *, ago: timedelta = timedelta(0)) -> Written:
    return Written(changes, NOW - ago if changes else None)


def asked(past: Past, **occasions: Any) -> str | None:
    return due(settings(**occasions), past, now=NOW)


def test_after_so_many_writes() -> None:
    assert asked(Past(None, written(3), None), consolidate_every_writes=3) == "3 writes"
    assert asked(Past(None, written(2), None), consolidate_every_writes=3) is None


def test_after_so_many_hours_since_the_last_or_since_the_first_write() -> None:
    hours = {"consolidate_every_hours": 2}
    assert asked(Past(last(), written(1), None), **hours) == "2 hours since the last one"
    assert asked(Past(last(ago=timedelta(hours=1)), written(1), None), **hours) is None
    assert asked(Past(None, written(1), NOW - timedelta(hours=3)), **hours) is not None
    assert asked(Past(None, written(1), NOW - timedelta(hours=1)), **hours) is None


def test_after_so_many_minutes_without_a_write() -> None:
    idle = {"consolidate_when_idle_minutes": 10}
    assert asked(Past(last(), written(1, ago=timedelta(minutes=10)), None), **idle) is not None
    assert asked(Past(last(), written(1, ago=timedelta(minutes=9)), None), **idle) is None


def test_never_without_a_write_and_never_while_one_is_under_way() -> None:
    every = {
        "consolidate_every_hours": 0.1,
        "consolidate_when_idle_minutes": 0.1,
        "consolidate_every_writes": 1,
    }
    assert asked(Past(last(), written(0), None), **every) is None
    for state in (State.PENDING, State.RUNNING, State.CANCELLING):
        assert asked(Past(last(state), written(9), None), **every) is None
    assert asked(Past(last(), written(9), None)) is None


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_one_that_failed_is_asked_for_again_after_a_pause(state: State) -> None:
    soon, later = PAUSE - timedelta(seconds=1), PAUSE
    every = {"consolidate_every_writes": 5}

    assert asked(Past(last(state, ago=soon), written(9), None), **every) is None
    assert asked(Past(last(state, ago=later), written(0), None), **every) is not None
