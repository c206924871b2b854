"""Questions about other times than now: what held then, and what was known of it then."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.changes import Draft, Verb
from memserver.domain.items import Status
from memserver.domain.scope import Scope
from memserver.services.remembering import closed_by
from tests.integration.conftest import App, asked_database, on_both_databases, start_app

BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
HOURS = 6
GRID = [BEGIN + timedelta(minutes=30 * n) for n in range(-1, 2 * HOURS + 3)]


def hour(number: int) -> datetime:
    return BEGIN + timedelta(hours=number)


@pytest.fixture(scope="module")
def timed_app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    with ExitStack() as stack:
        data = tmp_path_factory.mktemp("time") / "data"
        yield start_app(stack, data, database_url=asked_database(request))


# --- histories of one fact, and what a plain model makes of them ---------------------------


@dataclass(frozen=True)
class Say:
    """The value holds from that hour on: news, a correction or a late report."""

    hour: int
    value: str


@dataclass(frozen=True)
class Retract:
    """From that hour on there is no value any more."""

    hour: int


Step = Say | Retract


@dataclass(frozen=True)
class Told:
    """One version as the model sees it."""

    begin: int
    value: str


class Model:
    """Who owns each moment of the grid: a picture that every step paints over."""

    def __init__(self) -> None:
        self.cells: list[Told | None] = [None] * len(GRID)
        self.head: Told | None = None
        self.ended: int | None = None

    def apply(self, step: Step) -> None:
        if isinstance(step, Retract):
            self._retract(step.hour)
        elif self.head is None or step.hour >= self.head.begin:
            self._report(step)
        elif self.ended is not None or self.head.value != step.value:
            self._report_late(step)

    def can_retract(self, at: int) -> bool:
        return self.head is not None and self.ended is None and at > self.head.begin

    def _retract(self, at: int) -> None:
        self.ended = at
        for cell in range(_cell(at), len(GRID)):
            self.cells[cell] = None

    def _report(self, step: Say) -> None:
        """What was known to have ended goes on only by what is said of a time after that."""
        over = self.ended is not None and step.hour < self.ended
        same = self.head is not None and self.head.value == step.value
        if same and (over or self.ended is None):
            return
        self.head = Told(step.hour, step.value)
        if over:
            self._paint(self.head, _cell(self.ended))
        else:
            self.ended = None
            self._paint(self.head, len(GRID))

    def _report_late(self, step: Say) -> None:
        held = self.cells[_cell(step.hour)]
        if held is not None and held.value == step.value:
            return
        following = range(_cell(step.hour), len(GRID))
        end = next((cell for cell in following if self.cells[cell] is not held), len(GRID))
        self._paint(Told(step.hour, step.value), end)

    def _paint(self, told: Told, end: int) -> None:
        for cell in range(_cell(told.begin), end):
            self.cells[cell] = told


def _cell(at: int) -> int:
    return GRID.index(hour(at))


hours = st.integers(0, HOURS - 1)
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.builds(Say, hour=hours, value=st.sampled_from(["red", "blue", "green"])),
        st.builds(Retract, hour=hours),
    ),
    min_size=1,
    max_size=6,
)


@dataclass
class Fact:
    """One fact of the app, told in steps; `known` are moments between them."""

    app: App
    namespace: str
    id: str = ""

    def tell(self, step: Step) -> datetime:
        """A moment after the step and before the next."""
        if isinstance(step, Say):
            body = {"entity": "lamp", "key": "color", "value": step.value}
            sent = {"namespace": self.namespace, "kind": "fact", "body": body}
            sent["valid_from"] = hour(step.hour).isoformat()
            self.id = self.app.admin.post("/v1/memories", sent)["id"]
        else:
            retract(self.app, self.id, hour(step.hour))
        return datetime.now(UTC)

    def asked(self, **when: Any) -> list[tuple[str, datetime]]:
        """Values that a retrieve gives, each with the time from which it held."""
        question = {"namespace": self.namespace, "query": "color of the lamp", "k": 100, **when}
        found = self.app.admin.post("/v1/retrieve", question)["items"]
        return sorted(
            (hit["text"].rpartition(": ")[2], datetime.fromisoformat(hit["valid_from"]))
            for hit in found
        )

    def listed(self, **when: str) -> list[str]:
        rows = self.app.admin.rows("/v1/memories", namespace=self.namespace, limit=1, **when)
        return [row["version"]["body"]["value"] for row in rows]

    def got(self, **when: str) -> list[str]:
        reply = self.app.admin("GET", f"/v1/memories/{self.id}", params=when)
        assert reply.status_code in (200, 404)
        return [reply.json()["version"]["body"]["value"]] if reply.status_code == 200 else []


def retract(app: App, item_id: str, at: datetime) -> None:
    """Ends an item's present version, as a statement that it is no longer so does."""
    store, scope = app.server.services.store, system_scope(app)

    def end(tx: Any) -> None:
        head = tx.item(scope, uuid.UUID(item_id)).version
        ended = closed_by(head, at, at=datetime.now(UTC))
        why = Draft(
            tenant=scope.tenant, verb=Verb.REMEMBER, actor=scope.key, reason="ended", puts=(ended,)
        )
        tx.apply(why)

    store.write(end)
    assert app.server.services.indexer.catch_up()


def system_scope(app: App) -> Scope:
    return app.server.services.access.authenticate(app.admin.key)


@on_both_databases("timed_app")
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(history=steps, data=st.data())
def test_an_answer_about_another_time_is_the_models_and_never_holds_the_future(
    timed_app: App, history: list[Step], data: st.DataObject
) -> None:
    fact = Fact(timed_app, f"time/{uuid.uuid4().hex}")
    model, pictures = Model(), []
    for step in history:
        if isinstance(step, Retract) and not model.can_retract(step.hour):
            continue
        model.apply(step)
        pictures.append((fact.tell(step), list(model.cells)))
    if not pictures:
        return
    chosen = data.draw(st.lists(st.sampled_from(pictures), max_size=2))
    for known_at, picture in [(None, pictures[-1][1]), *chosen]:
        known = {} if known_at is None else {"known_at": known_at.isoformat()}
        for moment, told in zip(GRID, picture, strict=True):
            when = {"as_of": moment.isoformat(), **known}
            expected = [] if told is None else [(told.value, hour(told.begin))]
            assert fact.asked(**when) == expected
            assert all(begin <= moment for _, begin in expected)
            assert fact.listed(**when) == [value for value, _ in expected]
            assert fact.got(**when) == [value for value, _ in expected]
        first = data.draw(st.integers(0, len(GRID) - 2))
        last = data.draw(st.integers(first + 1, len(GRID) - 1))
        span = {"from": GRID[first].isoformat(), "to": GRID[last].isoformat()}
        held = {told for told in picture[first:last] if told is not None}
        assert fact.asked(between=span, **known) == sorted(
            (told.value, hour(told.begin)) for told in held
        )


# --- what else must hold --------------------------------------------------------------------


def tell(app: App, namespace: str, text: str, valid_from: datetime | None = None) -> str:
    sent = {"namespace": namespace, "body": {"text": text}}
    if valid_from is not None:
        sent["valid_from"] = valid_from.isoformat()
    return str(app.admin.post("/v1/memories", sent)["id"])


def retell(app: App, item_id: str, text: str, valid_from: datetime | None = None) -> None:
    sent: dict[str, Any] = {"body": {"text": text}}
    if valid_from is not None:
        sent["valid_from"] = valid_from.isoformat()
    app.admin.post(f"/v1/memories/{item_id}/versions", sent)


def found(app: App, namespace: str, query: str, **when: Any) -> list[str]:
    question = {"namespace": namespace, "query": query, "k": 100, **when}
    return [hit["text"] for hit in app.admin.post("/v1/retrieve", question)["items"]]


def texts(hits: Sequence[str]) -> set[str]:
    return set(hits)


def test_a_past_version_is_found_by_words_that_the_present_one_no_longer_has(
    timed_app: App,
) -> None:
    item = tell(timed_app, "past/words", "the desk stands by the window", hour(0))
    retell(timed_app, item, "the bed stands in the hall", hour(2))
    for n in range(60):
        tell(timed_app, "past/words", f"the bed number {n} stands in the hall", hour(0))

    then = found(timed_app, "past/words", "desk window", as_of=hour(1).isoformat())

    assert then[0] == "the desk stands by the window"
    assert "the desk stands by the window" not in found(timed_app, "past/words", "desk window")


def test_versions_of_the_past_take_no_place_from_what_holds_now(timed_app: App) -> None:
    busy = tell(timed_app, "past/busy", "the counter of the lamp stands at 0")
    for n in range(1, 80):
        retell(timed_app, busy, f"the counter of the lamp stands at {n}")
    tell(timed_app, "past/busy", "a lamp stands on the desk")
    tell(timed_app, "past/busy", "another thing")

    assert texts(found(timed_app, "past/busy", "counter of the lamp")) == {
        "the counter of the lamp stands at 79",
        "a lamp stands on the desk",
        "another thing",
    }


def test_what_ended_without_another_value_is_asked_for_in_vain_until_it_is_told_again(
    timed_app: App,
) -> None:
    item = tell(timed_app, "past/ended", "the lamp is red", hour(0))
    retract(timed_app, item, hour(3))

    assert found(timed_app, "past/ended", "lamp") == []
    assert found(timed_app, "past/ended", "lamp", as_of=hour(2).isoformat()) == ["the lamp is red"]
    retell(timed_app, item, "the lamp is red again")
    assert found(timed_app, "past/ended", "lamp") == ["the lamp is red again"]


@pytest.mark.parametrize("status", [Status.DELETED, Status.QUARANTINED, Status.MERGED])
def test_what_is_out_of_use_does_not_come_back_by_a_question_about_the_past(
    timed_app: App, status: Status
) -> None:
    namespace = f"past/{status}"
    item = tell(timed_app, namespace, "the lamp is red", hour(0))
    retell(timed_app, item, "the lamp is blue", hour(2))
    scope, services = system_scope(timed_app), timed_app.server.services

    def take_out(tx: Any) -> None:
        out = replace(tx.item(scope, uuid.UUID(item)).item, status=status)
        why = Draft(
            tenant=scope.tenant, verb=Verb.FORGET, actor=scope.key, reason="out", puts=(out,)
        )
        tx.apply(why)

    services.store.write(take_out)
    assert services.indexer.catch_up()

    span = {"from": hour(0).isoformat(), "to": hour(5).isoformat()}
    assert found(timed_app, namespace, "lamp", between=span) == []
    assert found(timed_app, namespace, "lamp", as_of=hour(1).isoformat()) == []
    assert timed_app.audit()["missing"] == timed_app.audit()["orphans"] == 0


def test_an_undone_version_was_never_known(timed_app: App) -> None:
    item = tell(timed_app, "past/undone", "the lamp is red", hour(0))
    sent = {"body": {"text": "the lamp is blue"}, "valid_from": hour(2).isoformat()}
    change = timed_app.admin.post(f"/v1/memories/{item}/versions", sent)["change_id"]
    told = datetime.now(UTC).isoformat()
    timed_app.admin.post(f"/v1/changes/{change}/undo")

    now = found(timed_app, "past/undone", "lamp")
    then = found(timed_app, "past/undone", "lamp", as_of=hour(3).isoformat(), known_at=told)

    assert now == then == ["the lamp is red"]


def test_a_run_is_known_since_it_was_stored_whatever_time_it_was_given(timed_app: App) -> None:
    before = datetime.now(UTC).isoformat()
    run = {
        "namespace": "past/runs",
        "task": {"goal": "mend the lamp"},
        "created_at": hour(1).isoformat(),
    }
    timed_app.admin.post("/v1/trajectories", run)
    after = datetime.now(UTC).isoformat()

    def runs(**when: str) -> int:
        return len(found(timed_app, "past/runs", "mend lamp", kinds=["trajectory"], **when))

    assert runs(as_of=hour(2).isoformat()) == 1
    assert runs(as_of=hour(0).isoformat()) == 0
    assert runs(as_of=hour(2).isoformat(), known_at=before) == 0
    assert runs(as_of=hour(2).isoformat(), known_at=after) == 1


def test_known_at_alone_asks_what_would_have_been_answered_then(timed_app: App) -> None:
    item = tell(timed_app, "past/known", "the lamp is red")
    then = datetime.now(UTC).isoformat()
    retell(timed_app, item, "the lamp is blue")

    assert found(timed_app, "past/known", "lamp", known_at=then) == ["the lamp is red"]
    assert found(timed_app, "past/known", "lamp") == ["the lamp is blue"]


def test_an_answer_says_when_each_thing_held_and_since_when_it_is_recorded(timed_app: App) -> None:
    item = tell(timed_app, "past/said", "the lamp is red", hour(0))
    retell(timed_app, item, "the lamp is blue", hour(2))
    question = {"namespace": "past/said", "query": "lamp", "as_of": hour(1).isoformat()}

    (hit,) = timed_app.admin.post("/v1/retrieve", question)["items"]
    versions = timed_app.admin.get(f"/v1/memories/{item}/history")["versions"]

    assert datetime.fromisoformat(hit["valid_from"]) == hour(0)
    assert datetime.fromisoformat(hit["valid_to"]) == hour(2)
    assert hit["recorded_at"] == versions[-1]["recorded_at"]
    assert hit["version_id"] == versions[-1]["id"]


@pytest.mark.parametrize(
    "when",
    [
        {"as_of": "2020-01-01T00:00:00"},
        {"as_of": "2020-01-01T00:00:00Z", "between": {"from": "2020-01-01T00:00:00Z"}},
        {"between": {"from": "2020-01-02T00:00:00Z", "to": "2020-01-01T00:00:00Z"}},
        {
            "as_of": "2020-01-01T00:00:00Z",
            "between": {"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"},
        },
        {"known_at": "yesterday"},
    ],
)
def test_times_that_are_none_are_refused(timed_app: App, when: dict[str, Any]) -> None:
    sent = {"namespace": "past/none", "query": "lamp", **when}

    assert timed_app.admin("POST", "/v1/retrieve", json=sent).status_code == 422


def test_an_index_of_an_earlier_form_is_built_again_with_the_past_in_it(tmp_path: Path) -> None:
    """What a server of before finds after its upgrade: a folder without the times of points."""
    import qdrant_edge

    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data")
        item = tell(app, "past/form", "the lamp is red", hour(0))
        retell(app, item, "the lamp is blue", hour(2))
        key = app.admin.key
    shard = qdrant_edge.EdgeShard.load(str(tmp_path / "data" / "index"))
    shard.update(qdrant_edge.UpdateOperation.delete_field_index("from"))
    shard.close()
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", key=key)
        assert app.server.services.indexer.catch_up()
        then = found(app, "past/form", "lamp", as_of=hour(1).isoformat())

    assert then == ["the lamp is red"]
