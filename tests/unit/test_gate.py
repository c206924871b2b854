"""The gate: nobody is inside while it is closed, and nobody waits for it in vain."""

import threading
import time

import pytest

from memserver.domain.errors import Restoring, Unavailable
from memserver.services.gate import Gate

SOON_S = 5.0


def test_nobody_comes_in_while_it_is_closed() -> None:
    gate = Gate()
    with gate.closed(patience_s=SOON_S), pytest.raises(Restoring):
        gate.enter()
    gate.enter().leave()


def test_closing_waits_for_those_inside() -> None:
    gate = Gate()
    passage = gate.enter()
    left: list[float] = []

    def leave() -> None:
        time.sleep(0.05)
        left.append(time.monotonic())
        passage.leave()

    thread = threading.Thread(target=leave)
    thread.start()
    with gate.closed(patience_s=SOON_S):
        assert left
    thread.join()


def test_one_that_leaves_early_and_again_counts_once() -> None:
    gate = Gate()
    passage, other = gate.enter(), gate.enter()
    passage.leave()
    passage.leave()

    with pytest.raises(Unavailable), gate.closed(patience_s=0.01):
        raise AssertionError("the other is still inside")
    other.leave()
    with gate.closed(patience_s=0.01):
        pass


def test_where_patience_ends_the_gate_opens_again() -> None:
    gate = Gate()
    gate.enter()

    with pytest.raises(Unavailable, match="1 requests"), gate.closed(patience_s=0.01):
        raise AssertionError("somebody is inside")
    gate.enter()


def test_each_closing_is_an_epoch() -> None:
    gate = Gate()
    with gate.closed(patience_s=0):
        pass
    assert gate.epoch == 1


def test_it_is_closed_by_one_at_a_time() -> None:
    gate = Gate()
    with gate.closed(patience_s=0), pytest.raises(Restoring), gate.closed(patience_s=0):
        raise AssertionError("it is closed")
