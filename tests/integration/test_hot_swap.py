"""Policies come and go while many threads retrieve: no request fails for it, and each is answered
and logged by a policy that served while it lasted."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from uuid import UUID

import pytest

from memserver.domain.policies import BUILT_IN
from tests.integration.conftest import App
from tests.integration.room import LIKES_NOTES, LIKES_PRINCIPLES, Room

THREADS = 16
PAUSE_S = 0.4
"""Between one thread's questions: the log of decisions has one writer, and moves stand in its
queue."""
CYCLES = 2
"""Of six moves each, at least; more where moves are quick, so that askers meet them."""
SWAPPING_S = 3.0


@dataclass(frozen=True)
class Served:
    """A policy that may have served from the start of the move that brought it to the end of the
    one that took it away."""

    policy: str
    since: float
    until: float


@dataclass(frozen=True)
class Answer:
    retrieval: UUID
    policy: str
    kind: str
    asked: float
    given: float


@pytest.mark.slow
def test_no_request_fails_and_each_is_answered_by_a_policy_that_served_meanwhile(
    policy_app: App,
) -> None:
    room = Room(policy_app, policy_app.admin).furnish()
    principles, notes = room.register(LIKES_PRINCIPLES), room.register(LIKES_NOTES)
    first = {BUILT_IN: "note", notes: "note", principles: "principle"}
    done = threading.Event()

    def ask() -> list[Answer]:
        answers = []
        while not done.wait(PAUSE_S):
            asked = perf_counter()
            reply = room.retrieve(k=1)
            answers.append(
                Answer(
                    UUID(reply["retrieval_id"]),
                    reply["policy"],
                    reply["items"][0]["kind"],
                    asked,
                    perf_counter(),
                )
            )
        return answers

    with ThreadPoolExecutor(THREADS) as pool:
        asking = [pool.submit(ask) for _ in range(THREADS)]
        try:
            served = _swapped(room, principles, notes)
        finally:
            done.set()
        answers = [answer for one in asking for answer in one.result()]

    assert len(answers) >= THREADS
    assert {answer.policy for answer in answers} > {BUILT_IN}
    for answer in answers:
        meanwhile = {
            one.policy for one in served if one.since <= answer.given and one.until >= answer.asked
        }
        assert answer.policy in meanwhile
        assert answer.kind == first[answer.policy]
    room.settle()
    with policy_app.server.services.store.reading() as reader:
        for answer in answers:
            decision = reader.decision(room.scope, answer.retrieval)
            assert decision is not None
            assert decision.policy == answer.policy
    assert room.status()["serves"] == BUILT_IN


def _swapped(room: Room, principles: str, notes: str) -> list[Served]:
    """Promotes and rolls back, over and over, and tells what served when."""
    served: list[Served] = []
    now, since = BUILT_IN, 0.0

    def move(policy: str, becomes: str) -> None:
        nonlocal now, since
        began = perf_counter()
        reply = room.move(policy, "promote", override="a test") if policy else room.roll_back()
        assert reply.status_code == 200, reply.text
        served.append(Served(now, since, perf_counter()))
        now, since = becomes, began

    began_at, cycles = perf_counter(), 0
    while cycles < CYCLES or perf_counter() - began_at < SWAPPING_S:
        cycles += 1
        move(principles, principles)
        move(notes, notes)
        move("", principles)
        move(notes, notes)
        move("", principles)
        move("", BUILT_IN)
    return [*served, Served(now, since, float("inf"))]


@pytest.mark.parametrize("writers", [8])
def test_of_many_who_promote_at_once_one_is_active_in_the_end(
    policy_app: App, writers: int
) -> None:
    room = Room(policy_app, policy_app.admin).furnish()
    policies = [room.register({"kind_note": float(n)}) for n in range(1, writers + 1)]
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(room.force, policies))
    states = list(room.states().values())
    assert (states.count("active"), states.count("retired")) == (1, writers - 1)
    back = 0
    while room.roll_back().status_code == 200:
        back += 1
    assert back == writers
