"""Keeps the vector index in step with the change log.

One thread follows positions, and the mark in SQL moves only after a flush: what is lost between
the two is followed again. Exactly one process may run an indexer for one index.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.changes import RowRef
from memserver.domain.errors import EncoderChanged, MemserverError, Unavailable
from memserver.domain.ports import (
    Document,
    DocumentKey,
    Encoder,
    FeedEntry,
    SparseEncoder,
    Store,
    VectorIndex,
)
from memserver.domain.ports.store import PAST
from memserver.services.indexing_progress import Progress, stopped
from memserver.services.indexing_projection import Projection, key_of
from memserver.services.indexing_rebuild import (
    MARK,
    Drift,
    audit,
    live_page,
    reindex_offline,
    sweep,
)

__all__ = ["Drift", "Indexer", "audit", "check_encoder", "reindex_offline"]

log = logging.getLogger(__name__)

CHANGES_TOGETHER = 256
REFS_TOGETHER = 256


def check_encoder(store: Store, fingerprint: str) -> None:
    """Raises `EncoderChanged` where the index was built by another encoder. To be called before
    the index is opened, which might set aside one of another dimension."""
    with store.reading() as reader:
        mark = reader.mark(MARK)
    if mark is not None and mark[1] != fingerprint:
        raise EncoderChanged(mark[1], fingerprint)


def _no_progress(done: int) -> None:
    """Nobody asked."""


@dataclass(slots=True)
class Rebuild:
    """A run over all live documents beside the following of changes. `lost` where the index was
    empty at its start; `answer` is for who asked for it."""

    lost: bool
    progress: Callable[[int], None] = _no_progress
    answer: Future[int] | None = None
    last: Document | None = None
    done: int = 0


@dataclass(frozen=True, slots=True)
class Replacement:
    """A `swap` of everything in SQL, and who waits for what it left to be searchable."""

    swap: Callable[[], None]
    answer: Future[int]


class Indexer:
    """Starts from the mark, or from all live documents where the index is new or was lost.

    `flush_every_s` bounds how long an applied change goes without a flush, `poll_every_s` how
    late a change of another process is seen; `wake` tells of one's own. After a failure it
    waits `retry_s[0]`, doubling up to `retry_s[1]`, and tries for ever; `problem` says why.
    """

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        encoder: Encoder,
        sparse: SparseEncoder,
        *,
        flush_every_s: float = 5.0,
        poll_every_s: float = 0.5,
        retry_s: tuple[float, float] = (0.1, 5.0),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._index = index
        self._fingerprint = encoder.fingerprint
        self._projection = Projection(store, index, encoder, sparse)
        self._progress = Progress()
        self._flush_every_s = flush_every_s
        self._poll_every_s = poll_every_s
        self._retry_s = retry_s
        self._clock = clock
        self._problem: str | None = None
        self._resets_seen = 0
        self._rebuild: Rebuild | None = None
        self._asked: list[Rebuild] = []
        self._replacement: Replacement | None = None
        self._starting_over: Future[int] | None = None
        self._dirty_since: float | None = None
        self._level_at = clock()
        self._changed = threading.Condition()
        self._woken = False
        self._stopping = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)

    # for callers, on any thread

    def start(self) -> None:
        """Raises `EncoderChanged` where the index was built by another encoder."""
        check_encoder(self._store, self._fingerprint)
        with self._store.reading() as reader:
            mark = reader.mark(MARK)
        position = 0 if mark is None else mark[0]
        if position == 0 and self._index.count():
            # What it holds may be of a state that was replaced, or half of a rebuild.
            self._index.clear()
        if self._index.resets or position == 0 or self._index.count() == 0:
            self._lose("the index holds nothing yet")
        else:
            self._progress.follow(position)
        self._thread.start()

    def stop(self) -> None:
        """Finishes the step at hand, flushes, moves the mark. Waiters get `Unavailable`. May be
        called again, and without a start."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()
        self._progress.end()

    def wake(self) -> None:
        """Says that something was written."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def reached(self, position: int) -> Future[None]:
        """Done once the change at `position` is searchable. Documents in `skipped` are not."""
        return self._progress.reached(position)

    def catch_up(self, timeout: float = 30.0) -> bool:
        """Waits until all that is written now is searchable; whether it came to that."""
        with self._store.reading() as reader:
            position = reader.head_position()
        self.wake()
        try:
            self.reached(position).result(timeout)
        except (TimeoutError, Unavailable):
            return False
        return True

    def rebuild(self, progress: Callable[[int], None] = _no_progress) -> Future[int]:
        """Puts every live document into the index again and removes what is not live, while
        searches and writes go on. `progress` is told, on the indexer's thread, how many are
        done; what it raises ends the rebuild. The result is how many there were."""
        answer: Future[int] = Future()
        with self._changed:
            if self._stopping or self._ended:
                answer.set_exception(stopped())
            else:
                self._asked.append(Rebuild(lost=False, progress=progress, answer=answer))
        self.wake()
        return answer

    def replace(self, swap: Callable[[], None]) -> Future[int]:
        """Calls `swap`, which puts other content in place of all that SQL holds, while nothing is
        indexed; then empties the index and builds it from what is there. The result is how many
        documents that was, or what `swap` raised. One at a time."""
        answer: Future[int] = Future()
        with self._changed:
            if self._stopping or self._ended or self._replacement is not None:
                answer.set_exception(stopped())
            else:
                self._replacement = Replacement(swap, answer)
        self.wake()
        return answer

    @property
    def alive(self) -> bool:
        """Whether the thread runs; readiness depends on it."""
        return self._thread.is_alive()

    @property
    def applied(self) -> int:
        """The position up to which everything is searchable; 0 while lost content is rebuilt."""
        return self._progress.applied

    @property
    def lag(self) -> int:
        """How many positions the index is behind."""
        with self._store.reading() as reader:
            return max(0, reader.head_position() - self.applied)

    @property
    def level_ago_s(self) -> float:
        """Seconds since the moment as of which the index held every change: what it lacks now
        was written after that."""
        return max(0.0, self._clock() - self._level_at)

    @property
    def problem(self) -> str | None:
        """Why the index does not follow right now, or what is not in it yet."""
        if self._problem is None and self._progress.rebuilding:
            return "The index is being rebuilt from SQL."
        return self._problem

    @property
    def skipped(self) -> tuple[DocumentKey, ...]:
        """Documents that cannot be indexed."""
        return tuple(self._projection.skipped.copy())

    def left_out(self, position: int) -> bool:
        """Whether the change at `position`, which was reached, touched a document in `skipped` that
        is not past: one that could not be indexed hides nothing of what took its place."""
        skipped = self._projection.skipped.copy()
        with self._store.reading() as reader:
            return any(
                document.status != PAST and key_of(document) in skipped
                for entry in reader.feed(position - 1, 1)
                for document in reader.documents(entry.tenant, entry.refs)
            )

    # on the indexer's thread

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            self._end()

    def _end(self) -> None:
        """Whoever waits must not wait for ever, should this thread die of something."""
        with self._changed:
            self._ended = True
            left = [*([self._rebuild] if self._rebuild else []), *self._asked]
            answers = [rebuild.answer for rebuild in left] + [self._starting_over]
            if self._replacement is not None:
                answers.append(self._replacement.answer)
        self._progress.end()
        for answer in answers:
            if answer is not None and answer.set_running_or_notify_cancel():
                answer.set_exception(stopped())

    def _serve(self) -> None:
        delay = self._retry_s[0]
        while not self._stopping:
            try:
                worked = self._step()
                self._flush_if_due()
            except BaseException as error:  # a thread that ended would leave waiters hanging
                # Other errors may quote what was stored.
                said = str(error) if isinstance(error, MemserverError) else type(error).__name__
                self._problem = said
                log.warning("The index cannot follow now, trying again: %s", type(error).__name__)
                self._wait(delay, even_if_woken=True)
                delay = min(delay * 2, self._retry_s[1])
            else:
                self._problem = None
                delay = self._retry_s[0]
                if not worked:
                    self._wait(self._poll_every_s)
        self._finish()

    def _step(self) -> bool:
        """One batch of changes and one page of a rebuild; whether there was anything to do."""
        self._replace()
        if self._was_reset():
            self._lose(self._index.resets[-1])
        followed = self._follow()
        with self._changed:
            if self._rebuild is None and self._asked:
                self._rebuild = self._asked.pop(0)
                self._projection.forget()
        return self._go_on(self._rebuild) or followed if self._rebuild else followed

    def _replace(self) -> None:
        with self._changed:
            asked, self._replacement = self._replacement, None
        if asked is not None:
            try:
                asked.swap()
            except MemserverError as error:
                asked.answer.set_exception(error)
                return
            except BaseException as error:
                # Nobody knows what SQL holds now: whatever it is, the index is built from it.
                asked.answer.set_exception(error)
            self._starting_over = asked.answer
        if self._starting_over is not None:
            self._start_over(self._starting_over)

    def _start_over(self, answer: Future[int]) -> None:
        """May fail half-way, and is then called again."""
        self._index.clear()
        self._projection.forget()
        self._lose("everything was replaced")
        assert self._rebuild is not None, "it was just made"
        earlier = self._rebuild.answer
        if earlier is not None and earlier.set_running_or_notify_cancel():
            earlier.set_exception(Unavailable("Everything was replaced before it was rebuilt."))
        self._rebuild.answer = None if answer.done() else answer
        self._dirty_since = None
        self._starting_over = None

    def _was_reset(self) -> bool:
        return len(self._index.resets) > self._resets_seen

    def _lose(self, reason: str) -> None:
        """The index holds nothing: says so in SQL first, so that a crash while it is rebuilt
        does not leave a mark beyond what it holds."""
        log.info("Rebuilding the vector index from SQL: %s.", reason)
        resets = len(self._index.resets)
        with self._store.reading() as reader:
            position = reader.head_position()
        self._store.write(lambda tx: tx.set_mark(MARK, 0, self._fingerprint))
        # Whoever asked for a rebuild that was under way gets this one.
        asked = self._rebuild or Rebuild(lost=True)
        self._rebuild = Rebuild(lost=True, progress=asked.progress, answer=asked.answer)
        self._progress.begin_rebuild(position)
        self._resets_seen = resets

    def _follow(self) -> bool:
        asked_at = self._clock()
        with self._store.reading() as reader:
            entries = reader.feed(self._progress.followed, CHANGES_TOGETHER)
        if not entries:
            self._note_level(asked_at)
            return False
        for some in _slices(entries):
            position = some[-1].position
            for tenant, refs in _by_tenant(some):
                with self._store.reading() as reader:
                    documents = reader.documents(tenant, refs)
                self._put(documents, position)
                # What was put is gone again where the engine lost it meanwhile.
                if self._stopping or self._was_reset():
                    return True
            self._touch()
            self._progress.follow(position)
        if len(entries) < CHANGES_TOGETHER:
            self._note_level(asked_at)
        return True

    def _note_level(self, moment: float) -> None:
        if not self._progress.rebuilding:
            self._level_at = moment

    def _put(self, documents: Sequence[Document], position: int) -> None:
        self._touch()
        self._projection.put(documents, position=position)

    def _touch(self) -> None:
        if self._dirty_since is None:
            self._dirty_since = self._clock()

    def _go_on(self, rebuild: Rebuild) -> bool:
        page = live_page(self._store, rebuild.last)
        # Position 0: a document that made the engine lose everything is not tried again here.
        self._put(page, position=0)
        if self._was_reset():
            return True
        if page:
            rebuild.last = page[-1]
            rebuild.done += len(page)
            self._report(rebuild)
            return True
        if not rebuild.lost:
            sweep(self._store, self._index)
        self._flush(whole=True)
        self._rebuild = None
        self._progress.end_rebuild()
        if rebuild.answer is not None and rebuild.answer.set_running_or_notify_cancel():
            rebuild.answer.set_result(rebuild.done)
        return True

    def _report(self, rebuild: Rebuild) -> None:
        try:
            rebuild.progress(rebuild.done)
        except Exception as error:
            answer, rebuild.answer = rebuild.answer, None
            rebuild.progress = _no_progress
            if not rebuild.lost:
                self._rebuild = None
            if answer is not None and answer.set_running_or_notify_cancel():
                answer.set_exception(error)

    def _flush_if_due(self) -> None:
        if self._dirty_since is None:
            return
        if self._clock() - self._dirty_since >= self._flush_every_s:
            self._flush()

    def _flush(self, *, whole: bool = False) -> None:
        """Flushes and moves the mark, unless lost content is still being rebuilt."""
        position = self._progress.followed
        self._index.flush()
        sound = self._starting_over is None and not self._was_reset()
        if sound and (whole or not self._progress.rebuilding):
            self._store.write(lambda tx: tx.set_mark(MARK, position, self._fingerprint))
        self._dirty_since = None

    def _finish(self) -> None:
        try:
            if self._dirty_since is not None:
                self._flush()
        except Exception:
            log.exception("The index could not be flushed; the next start follows from the mark.")

    def _wait(self, seconds: float, *, even_if_woken: bool = False) -> None:
        with self._changed:
            if not self._stopping and (even_if_woken or not self._woken):
                self._changed.wait_for(
                    lambda: self._stopping or (self._woken and not even_if_woken), seconds
                )
            self._woken = False


def _slices(entries: Sequence[FeedEntry]) -> Iterator[list[FeedEntry]]:
    """Few enough rows at a time that whoever waits for an early change is not kept by a late
    one."""
    some: list[FeedEntry] = []
    rows = 0
    for entry in entries:
        if some and rows + len(entry.refs) > REFS_TOGETHER:
            yield some
            some, rows = [], 0
        some.append(entry)
        rows += len(entry.refs)
    if some:
        yield some


def _by_tenant(entries: Sequence[FeedEntry]) -> Iterator[tuple[UUID, list[RowRef]]]:
    """Each tenant with the rows that changed, each row once, a bounded number at a time."""
    touched: dict[UUID, dict[RowRef, None]] = {}
    for entry in entries:
        touched.setdefault(entry.tenant, {}).update(dict.fromkeys(entry.refs))
    for tenant, refs in touched.items():
        rows = list(refs)
        for start in range(0, len(rows), REFS_TOGETHER):
            yield tenant, rows[start : start + REFS_TOGETHER]
