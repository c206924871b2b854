"""The texts that a grep goes through, a few at a time, from where it left off."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memserver.domain.items import Entry, Kind, Status
from memserver.domain.ports import PageRequest, Store
from memserver.domain.ports.corpus import CorpusFilter, Place
from memserver.domain.scope import Namespace, Scope
from memserver.domain.sessions.events import Session, SessionEvent
from memserver.domain.trajectories import Trajectory
from memserver.services.grepping.asked import RUN, SESSION, Grep
from memserver.services.grepping.cursor import STAGES, Mark, Stage
from memserver.services.grepping.lines import Line, lines_of, lines_of_event, lines_of_run

PLACES = 200
TOGETHER = 20
EVENTS = 200


@dataclass(frozen=True, slots=True)
class Text:
    """Lines of which [first, last) are to be searched; the others are only there to be shown. `id`
    is an item's, a run's or a session's; `times` are those of a session's events."""

    id: UUID
    namespace: Namespace
    kind: str
    lines: Sequence[Line]
    at: datetime
    place: Mark
    first: int = 0
    last: int | None = None
    version: UUID | None = None
    times: Mapping[int, datetime] = field(default_factory=dict)

    def said_at(self, line: Line) -> datetime:
        return self.at if line.step is None else self.times.get(line.step, self.at)

    def mark(self, index: int) -> Mark:
        """That all up to this line is done."""
        if self.place.stage is not Stage.SESSIONS:
            return replace(self.place, line=index)
        line = self.lines[index]
        return replace(self.place, event=line.step or 0, line=line.number)


class Corpus:
    """What a caller may read of the namespaces that a grep names."""

    def __init__(
        self, store: Store, scope: Scope, namespaces: Sequence[Namespace], asked: Grep
    ) -> None:
        self._store = store
        self._scope = scope
        self._asked = asked
        self._where = CorpusFilter(
            namespaces=tuple(namespace.id for namespace in namespaces),
            kinds=tuple(Kind(kind) for kind in asked.kinds if kind not in (RUN, SESSION)),
            since=asked.since,
            until=asked.until,
        )

    def texts(self, mark: Mark) -> Iterator[Text | Mark]:
        """Texts, and in between up to where all is done."""
        ways = {Stage.ITEMS: self._items, Stage.RUNS: self._runs, Stage.SESSIONS: self._sessions}
        asked = {
            Stage.ITEMS: bool(self._where.kinds),
            Stage.RUNS: RUN in self._asked.kinds,
            Stage.SESSIONS: SESSION in self._asked.kinds,
        }
        for stage in STAGES[STAGES.index(mark.stage) :]:
            begun = mark if stage is mark.stage else Mark(stage)
            yield begun
            if asked[stage]:
                yield from ways[stage](begun)

    # --- items

    def _items(self, mark: Mark) -> Iterator[Text | Mark]:
        for places in self._pages(mark, Stage.ITEMS):
            for some in _few(places):
                with self._store.reading() as reader:
                    found = reader.items_by_id(self._scope, [place.id for place in some])
                for place in some:
                    entry = found.get(place.id)
                    if entry is not None and self._may_search(entry):
                        yield _of_item(entry, _first_at(mark, place), _mark(Stage.ITEMS, place))
            yield _mark(Stage.ITEMS, places[-1])

    def _may_search(self, entry: Entry) -> bool:
        """Again, since a cursor names the item that it left off at."""
        item = entry.item
        return (
            item.namespace.id in self._where.namespaces
            and item.kind in self._where.kinds
            and item.status is Status.ACTIVE
        )

    # --- runs

    def _runs(self, mark: Mark) -> Iterator[Text | Mark]:
        for places in self._pages(mark, Stage.RUNS):
            for some in _few(self._worth_reading(places)):
                with self._store.reading() as reader:
                    found = reader.trajectories_by_id(self._scope, [place.id for place in some])
                for place in some:
                    run = found.get(place.id)
                    if run is not None and run.namespace.id in self._where.namespaces:
                        yield _of_run(run, _first_at(mark, place), _mark(Stage.RUNS, place))
            yield _mark(Stage.RUNS, places[-1])

    def _worth_reading(self, places: Sequence[Place]) -> Sequence[Place]:
        pattern = self._asked.pattern
        if not pattern.literal or pattern.ignore_case:
            return places
        with self._store.reading() as reader:
            runs = [place.id for place in places]
            may_hold = reader.runs_that_may_hold(self._scope, runs, pattern.text)
        return [place for place in places if place.id in may_hold]

    def _pages(self, mark: Mark, stage: Stage) -> Iterator[Sequence[Place]]:
        after = mark.place
        if after is not None and mark.line is not None:
            yield [after]
        while True:
            with self._store.reading() as reader:
                read = reader.item_places if stage is Stage.ITEMS else reader.run_places
                places = read(self._scope, self._where, after, PLACES)
            if not places:
                return
            yield places
            after = places[-1]

    # --- sessions

    def _sessions(self, mark: Mark) -> Iterator[Text | Mark]:
        after = mark.began
        if after is not None and mark.line is not None:
            with self._store.reading() as reader:
                session = reader.session(self._scope, after[1])
            if session is not None and session.namespace.id in self._where.namespaces:
                yield from self._events(session, mark)
        while True:
            with self._store.reading() as reader:
                sessions = reader.sessions_after(self._scope, self._where, after, TOGETHER)
            if not sessions:
                return
            for session in sessions:
                yield from self._events(session, Mark(Stage.SESSIONS))
            after = (sessions[-1].created_at, sessions[-1].id)
            yield Mark(Stage.SESSIONS, after)

    def _events(self, session: Session, mark: Mark) -> Iterator[Text]:
        """A session's turns, a page at a time, each with the lines that stand around it."""
        before, after = self._asked.before, self._asked.after
        place = Mark(Stage.SESSIONS, (session.created_at, session.id))
        earlier: list[Line] = []
        for events, following in _with_next(self._event_pages(session)):
            lines = _lines(events)
            last = len(earlier) + len(lines)
            around = [*earlier, *lines, *_lines(following)[:after]]
            yield Text(
                id=session.id,
                namespace=session.namespace,
                kind=SESSION,
                lines=around,
                at=session.created_at,
                place=place,
                first=max(len(earlier), _first_after(around, mark)),
                last=last,
                times={event.seq: event.at for event in events},
            )
            earlier = around[max(0, last - before) : last]

    def _event_pages(self, session: Session) -> Iterator[Sequence[SessionEvent]]:
        request = PageRequest(EVENTS)
        while True:
            with self._store.reading() as reader:
                page = reader.session_events(self._scope, session.id, request)
            yield page.rows
            if page.next_cursor is None:
                return
            request = PageRequest(EVENTS, page.next_cursor)


def _of_item(entry: Entry, first: int, place: Mark) -> Text:
    return Text(
        id=entry.item.id,
        namespace=entry.item.namespace,
        kind=entry.item.kind,
        lines=lines_of(entry.version.text),
        at=entry.version.valid_from,
        place=place,
        first=first,
        version=entry.version.id,
    )


def _of_run(run: Trajectory, first: int, place: Mark) -> Text:
    return Text(
        id=run.id,
        namespace=run.namespace,
        kind=RUN,
        lines=lines_of_run(run),
        at=run.created_at,
        place=place,
        first=first,
    )


def _first_at(mark: Mark, place: Place) -> int:
    """The first line that is not done yet."""
    return mark.line + 1 if mark.line is not None and mark.place == place else 0


def _first_after(lines: Sequence[Line], mark: Mark) -> int:
    """The same in a session's lines."""
    done = (mark.event, mark.line or 0)
    to_do = (index for index, line in enumerate(lines) if (line.step or 0, line.number) > done)
    return next(to_do, len(lines))


def _mark(stage: Stage, place: Place) -> Mark:
    return Mark(stage, (place.position, place.id))


def _lines(events: Sequence[SessionEvent]) -> list[Line]:
    return [line for event in events for line in lines_of_event(event)]


def _few(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    return (places[start : start + TOGETHER] for start in range(0, len(places), TOGETHER))


def _with_next(
    pages: Iterator[Sequence[SessionEvent]],
) -> Iterator[tuple[Sequence[SessionEvent], Sequence[SessionEvent]]]:
    """Each page with the one that follows, which is empty after the last."""
    current = next(pages, ())
    for following in pages:
        yield current, following
        current = following
    yield current, ()
