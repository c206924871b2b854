"""Sessions in the store: what is put comes back, in order, and to nobody else."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from memserver.domain.errors import IdConflict, InvalidCursor
from memserver.domain.ports import PageRequest, SessionFilter
from memserver.domain.scope import Namespace
from memserver.domain.sessions.events import (
    CandidateNote,
    EventKind,
    EvidenceNote,
    Filtering,
    LedgerEdit,
    Link,
    Message,
    Payload,
    ReportEdit,
    RuleEdit,
    Session,
    SessionEvent,
    SummaryNote,
    ToolCall,
    ToolResult,
    Verdict,
    Verification,
)
from memserver.domain.sessions.rules import Rule
from memserver.domain.sessions.state import fold
from tests.contract.store.world import World, pages

ONE_OF_EACH: tuple[Payload, ...] = (
    Message("ann", "grüße, 世界 🌍\nand a second line"),
    ToolCall("refund", {"order": "A7", "lines": [1, 2.5, None], "to": {"iban": "DE"}}),
    ToolCall("refund", {}, override_reason="the boss said so", overrode=("no_refund_twice",)),
    ToolResult("refund", "done", is_error=True),
    ReportEdit("plan", "look", append=True),
    CandidateNote("a", "one", 0.1, (Link("item", str(uuid4())), Link("url", "https://x.y"))),
    CandidateNote("a", removed=True),
    EvidenceNote("e", "it is so", (Link("turn", "1"),)),
    Verification("e", Verdict.SUPPORTED, "ann", "seen"),
    LedgerEdit({"n": 1, "f": 1.0, "yes": True, "none": None, "many": ("a", 2)}, ("gone",)),
    RuleEdit(
        Rule(
            "no_refund_twice",
            "it was refunded already",
            ("refund",),
            when={"arg.amount": {"gt": 5}},
            forbid={"any": [{"state.refunded": {"eq": True}}, {"arg.o": {"eq": {"state": "o"}}}]},
        )
    ),
    RuleEdit(remove="no_refund_twice"),
    SummaryNote("so far", through=7),
    Filtering("what now", hides=(1, 2), drops=("a",)),
)


def begun(world: World, path: str = "team", **more: Any) -> Session:
    session = Session(
        id=more.pop("id", None) or uuid4(),
        namespace=world.namespace(path),
        agent=more.pop("agent", "tester"),
        subject=more.pop("subject", None),
        created_at=world.clock.now,
        updated_at=world.clock.now,
        **more,
    )
    world.store.write(lambda tx: tx.put_session(session))
    return session


def told(world: World, session: Session, *payloads: Payload, ids: bool = False) -> Session:
    added = [
        SessionEvent(n, payload, world.clock.now, uuid4() if ids else None)
        for n, payload in enumerate(payloads, session.events + 1)
    ]
    session = replace(session, events=session.events + len(added))

    def write(tx: Any) -> None:
        tx.put_session(session)
        tx.add_session_events(session, added)

    world.store.write(write)
    return session


def events(world: World, session: Session, **of: Any) -> tuple[SessionEvent, ...]:
    with world.store.reading() as reader:
        return reader.all_session_events(of.pop("scope", world.scope()), session.id, **of)


def found(world: World, session_id: UUID, *grants: str) -> Session | None:
    with world.store.reading() as reader:
        return reader.session(world.scope(*grants), session_id)


def test_a_session_comes_back_as_it_was_put(world: World) -> None:
    session = begun(world, subject="ann", summary=uuid4(), ended_at=world.clock.now)
    assert found(world, session.id) == session

    later = replace(session, events=0, updated_at=world.clock.turn(hours=1), summary=None)
    world.store.write(lambda tx: tx.put_session(later))
    assert found(world, session.id) == later


def test_every_kind_of_event_comes_back_as_it_was_told(world: World) -> None:
    assert {EventKind(SessionEvent(1, p, world.clock.now).kind) for p in ONE_OF_EACH} == {
        *EventKind
    }
    session = told(world, begun(world), *ONE_OF_EACH, ids=True)

    back = events(world, session)
    assert tuple(event.payload for event in back) == ONE_OF_EACH
    assert [event.seq for event in back] == list(range(1, len(ONE_OF_EACH) + 1))
    assert all(event.at == world.clock.now for event in back)
    # Equal is not enough: true is equal to one, and one to 1.0.
    assert repr(fold(back)) == repr(
        fold([SessionEvent(e.seq, p, e.at) for e, p in zip(back, ONE_OF_EACH, strict=True)])
    )


def test_events_are_read_by_kind_by_page_and_by_the_senders_ids(world: World) -> None:
    session = told(world, begun(world), *ONE_OF_EACH, ids=True)
    everything = events(world, session)

    assert {e.kind for e in events(world, session, kinds=[EventKind.CALL])} == {EventKind.CALL}
    with world.store.reading() as reader:
        scope = world.scope()
        by_page = [
            event
            for page in pages(lambda p: reader.session_events(scope, session.id, p), 4)
            for event in page.rows
        ]
        ids = [event.id for event in everything[2:4] if event.id]
        by_id = reader.session_events_by_id(scope, session.id, [*ids, uuid4()])
        with pytest.raises(InvalidCursor):
            reader.session_events(scope, session.id, PageRequest(4, "nonsense"))
    assert tuple(by_page) == everything
    assert by_id == {event.id: event for event in everything[2:4]}


def test_sessions_are_listed_in_order_of_their_beginning(world: World) -> None:
    made = []
    for n in range(7):
        world.clock.turn(minutes=n % 2)
        ended = world.clock.now if n % 3 == 0 else None
        made.append(begun(world, agent=f"agent-{n % 2}", ended_at=ended))
    begun(world, "elsewhere")
    here = (world.namespace().id,)

    def listed(**where: Any) -> list[Session]:
        with world.store.reading() as reader:
            read = lambda page: reader.sessions(world.scope(), SessionFilter(here, **where), page)  # noqa: E731
            return [session for page in pages(read, 2) for session in page.rows]

    in_order = sorted(made, key=lambda one: (one.created_at, one.id.hex))
    assert listed() == in_order
    assert listed(ended=True) == [one for one in in_order if one.ended_at is not None]
    assert listed(ended=False) == [one for one in in_order if one.ended_at is None]
    assert listed(agent="agent-1") == [one for one in in_order if one.agent == "agent-1"]


def test_another_namespace_or_tenant_sees_nothing_of_a_session(world: World) -> None:
    session = told(world, begun(world), Message("ann", "a secret"), ids=True)
    (event,) = events(world, session)
    other = world.another()
    assert event.id is not None

    for scope in (world.scope("other"), other.scope(), world.scope("team/sub", "tea")):
        with world.store.reading() as reader:
            assert reader.session(scope, session.id) is None
            assert reader.all_session_events(scope, session.id) == ()
            assert reader.session_events(scope, session.id, PageRequest()).rows == ()
            assert reader.session_events_by_id(scope, session.id, [event.id]) == {}
            everywhere = SessionFilter((session.namespace.id,))
            assert reader.sessions(scope, everywhere, PageRequest()).rows == ()


def test_an_id_is_one_session_a_tenant_and_another_in_another_tenant(world: World) -> None:
    session = told(world, begun(world), Message("ann", "mine"))
    elsewhere: Namespace = world.namespace("other")
    with pytest.raises(IdConflict):
        world.store.write(lambda tx: tx.put_session(replace(session, namespace=elsewhere)))

    other = world.another()
    twin = told(other, begun(other, id=session.id), Message("bob", "also mine"))
    assert [e.payload for e in events(world, session)] == [Message("ann", "mine")]
    assert [e.payload for e in events(other, twin)] == [Message("bob", "also mine")]

    other.store.write(lambda tx: tx.delete_session(twin))
    assert found(other, session.id) is None
    assert events(other, twin) == ()
    assert found(world, session.id) == session
    assert len(events(world, session)) == 1
