"""Exports: whole lists of rows, read page by page, each page in a transaction of its own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar, cast
from uuid import UUID

from memserver.domain.decisions import Decision
from memserver.domain.errors import InvalidNamespace, Unauthenticated
from memserver.domain.evidence import total
from memserver.domain.items import Entry, Status
from memserver.domain.ports import Page, PageRequest, Reader, Store, TrajectoryFilter
from memserver.domain.ports.store import DecisionFilter, ItemFilter
from memserver.domain.scope import Namespace, Scope, is_path
from memserver.domain.trajectories import Trajectory
from memserver.services.access import Access
from memserver.services.exporting.decisions import decision_row
from memserver.services.exporting.items import item_row
from memserver.services.exporting.lines import Row
from memserver.services.exporting.rewards import groups_of, rewards_of
from memserver.services.exporting.runs import run_row
from memserver.services.exporting.splits import Split, group_of, split_of
from memserver.services.exporting.wording import REDACTED, Wording
from memserver.services.version_vectors import VersionVectors

R = TypeVar("R")
V = TypeVar("V")
Rows = Sequence[Row]

DECISIONS_TOGETHER = 50
"""A decision of fifty candidates is about 20 kB as a line."""
RUNS_TOGETHER = 10
"""One run may be as large as a request, 8 MB."""
ITEMS_TOGETHER = 100
VECTORS_TOGETHER = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """`since` leaves out what is older, `split` what is of other tasks."""

    since: datetime | None = None
    split: Split | None = None
    wording: Wording = REDACTED


class Exporting:
    """Every method checks the namespace at once and gives pages of rows, which may be empty. A
    page is read when it is asked for, by whatever thread asks; nothing is held in between.

    Raises `InvalidNamespace`, `NamespaceForbidden`, `NamespaceNotFound`, and between pages
    `Unauthenticated` once the key is revoked.
    """

    def __init__(
        self, store: Store, access: Access, vectors: VersionVectors, *, encoder: str
    ) -> None:
        self._store = store
        self._access = access
        self._vectors = vectors
        self._encoder = encoder

    def decisions(self, scope: Scope, path: str, wanted: Wanted) -> Iterator[Rows]:
        """Those that the namespace's policy made, oldest first, with what came of them; without
        those that read a namespace out of the scope's reach."""

        def rows(reader: Reader, page: Sequence[Decision]) -> Rows:
            came = rewards_of(reader, scope, page)
            # A TypedDict is a mapping whose type checkers do not see it as one of Any.
            made = (
                cast(Row, decision_row(decision, came[decision.id], wanted.wording))
                for decision in page
            )
            return [row for row in made if wanted.split in (None, row["split"])]

        return self._pages(scope, self._decisions(scope, path, wanted), rows, DECISIONS_TOGETHER)

    def vectors(self, scope: Scope, path: str, wanted: Wanted) -> Iterator[Rows]:
        """The vector of each version or run that those decisions considered, once; what is gone
        by now has none. Memory grows by the number of versions, not of decisions."""

        def named(reader: Reader, page: Sequence[Decision]) -> Sequence[UUID]:
            groups = groups_of(reader, scope, page)
            return [
                candidate.id
                for decision in page
                if wanted.split in (None, split_of(groups[decision.id]))
                for candidate in decision.candidates
            ]

        pages = self._pages(scope, self._decisions(scope, path, wanted), named, DECISIONS_TOGETHER)
        return self._each_once(scope, pages)

    def trajectories(self, scope: Scope, path: str, wanted: Wanted) -> Iterator[Rows]:
        """The runs of a namespace in the order in which they were stored."""
        where = TrajectoryFilter(namespaces=(self._one(scope, path).id,))

        def rows(_: Reader, page: Sequence[Trajectory]) -> Rows:
            return [
                run_row(run, wanted.wording)
                for run in page
                if (wanted.since is None or run.created_at >= wanted.since)
                and wanted.split in (None, split_of(group_of(run.task)))
            ]

        def read(reader: Reader, page: PageRequest) -> Page[Trajectory]:
            return reader.trajectories(scope, where, page)

        return self._pages(scope, read, rows, RUNS_TOGETHER)

    def items(self, scope: Scope, pattern: str, wording: Wording) -> Iterator[Rows]:
        """The active memories and skills of a namespace or subtree."""
        namespaces = self._access.readable(scope, [pattern])
        where = ItemFilter(tuple(each.id for each in namespaces), statuses=(Status.ACTIVE,))

        def rows(reader: Reader, page: Sequence[Entry]) -> Rows:
            beliefs = reader.beliefs(scope, [entry.version.id for entry in page])
            return [
                item_row(entry, total(entry.version.id, beliefs.get(entry.version.id, ())), wording)
                for entry in page
            ]

        def read(reader: Reader, page: PageRequest) -> Page[Entry]:
            return reader.items(scope, where, page)

        return self._pages(scope, read, rows, ITEMS_TOGETHER)

    def _decisions(
        self, scope: Scope, path: str, wanted: Wanted
    ) -> Callable[[Reader, PageRequest], Page[Decision]]:
        where = DecisionFilter(self._one(scope, path).id, since=wanted.since)
        return lambda reader, page: reader.decisions(scope, where, page)

    def _one(self, scope: Scope, path: str) -> Namespace:
        if not is_path(path):
            raise InvalidNamespace(path)
        [namespace] = self._access.readable(scope, [path])
        return namespace

    def _pages(
        self,
        scope: Scope,
        read: Callable[[Reader, PageRequest], Page[R]],
        rows: Callable[[Reader, Sequence[R]], Sequence[V]],
        together: int,
    ) -> Iterator[Sequence[V]]:
        request: PageRequest | None = PageRequest(together)
        while request is not None:
            self._check(scope)
            with self._store.reading() as reader:
                page = read(reader, request)
                made = rows(reader, page.rows)
            yield made
            cursor = page.next_cursor
            request = None if cursor is None else PageRequest(together, cursor)

    def _each_once(self, scope: Scope, pages: Iterator[Sequence[UUID]]) -> Iterator[Rows]:
        seen: set[UUID] = set()
        for page in pages:
            new = [version for version in dict.fromkeys(page) if version not in seen]
            seen.update(new)
            for start in range(0, len(new), VECTORS_TOGETHER):
                self._check(scope)
                some = new[start : start + VECTORS_TOGETHER]
                with self._store.reading() as reader:
                    found = self._vectors.of(reader, scope, some)
                yield [
                    {"id": str(version), "encoder": self._encoder, "vector": vector.tolist()}
                    for version, vector in found.items()
                ]

    def _check(self, scope: Scope) -> None:
        if not self._access.is_valid(scope):
            raise Unauthenticated
