"""Erasure of a person: what admins ask for, and the operation that does it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from memserver.domain.errors import InvalidNamespace, NamespaceForbidden
from memserver.domain.operations import Operation
from memserver.domain.ports import Page, PageRequest, Store, Writer
from memserver.domain.ports.privacy import Erasing as Request
from memserver.domain.ports.privacy import Erasure, VectorNames, subject_digest
from memserver.domain.scope import EVERYTHING, Namespace, Scope, contains, is_path, is_pattern
from memserver.services.access import Access
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService
from memserver.services.reindexing import SERVER_NAMESPACE

VERB = "erase"
ROWS, INDEX, FILES = "rows", "index", "files"


class Erasing:
    """A person is named only in the request: the operation, its report and the list of erasures
    know a digest of who it was."""

    def __init__(self, store: Store, access: Access, operations: OperationService) -> None:
        self._store = store
        self._access = access
        self._operations = operations

    def namespace(self, scope: Scope, pattern: str) -> Namespace:
        """Where the erasure is filed: at the root of what it reaches. Raises `RoleForbidden`,
        `InvalidNamespace`, and `NamespaceForbidden` where the grants do not reach all of it."""
        self._access.require_admin(scope, "erase people")
        if not is_pattern(pattern):
            raise InvalidNamespace(pattern)
        if not any(contains(grant, pattern) for grant in scope.grants):
            raise NamespaceForbidden(pattern, "erase in")
        root = SERVER_NAMESPACE if pattern == EVERYTHING else pattern.removesuffix("/**")
        assert is_path(root), "the root of a pattern is a path"
        return self._access.writable(scope, root)

    def request(
        self, tx: Writer, scope: Scope, namespace: Namespace, *, subject: str, pattern: str
    ) -> Operation:
        """Asks for the erasure. What is written later about the same person is new, and stays."""
        return self._operations.request(
            tx,
            scope,
            verb=VERB,
            namespace=namespace,
            params={"digest": subject_digest(scope.tenant, subject), "namespace": pattern},
        )

    def list(self, scope: Scope, page: PageRequest) -> Page[Erasure]:
        """Newest first; those within the scope's grants."""
        self._access.require_admin(scope, "list erasures")
        with self._store.reading() as reader:
            found = reader.erasures(scope.tenant, page)
        within = tuple(
            one for one in found.rows if any(contains(grant, one.pattern) for grant in scope.grants)
        )
        return Page(within, found.next_cursor)


class Emptied(Protocol):
    """What builds the index from what is in SQL."""

    def replace(self, swap: Callable[[], None]) -> Any: ...
    def catch_up(self, timeout: float = 30.0) -> bool: ...


class EraseRunner:
    """Three steps: the rows, in one transaction; the index; the files. `starts_over` says whether
    the index keeps deleted points in its files, so that it has to be built anew. `forget` drops
    what was kept in memory."""

    verb = VERB

    def __init__(
        self,
        store: Store,
        indexer: Emptied,
        *,
        vector_names: VectorNames,
        starts_over: bool,
        forget: Sequence[Callable[[], None]],
    ) -> None:
        self._store = store
        self._indexer = indexer
        self._vector_names = vector_names
        self._starts_over = starts_over
        self._forget = forget

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return (ROWS, INDEX, FILES)

    def prepare(self, operation: Operation, step: str) -> Effect:
        return {ROWS: self._rows, INDEX: self._index, FILES: self._files}[step](operation)

    def _rows(self, operation: Operation) -> Effect:
        request = Request(
            tenant=operation.tenant,
            digest=operation.params["digest"],
            pattern=operation.params["namespace"],
            actor=operation.requested_by,
            operation=operation.id,
        )

        def effect(tx: Writer) -> Outcome:
            erasure = tx.erase(request, self._vector_names)
            return Outcome(
                report={"erasure": str(erasure.id), "counts": dict(erasure.counts)},
                note="rows erased",
            )

        return effect

    def _index(self, operation: Operation) -> Effect:
        for forget in self._forget:
            forget()
        documents: int | None = None
        if self._starts_over:
            documents = self._indexer.replace(_nothing).result()
        else:
            self._indexer.catch_up()
        return lambda _: Outcome(report={"indexed": documents}, note="index rebuilt")

    def _files(self, operation: Operation) -> Effect:
        left = self._store.compact().left
        return lambda _: Outcome(report={"left": left}, note="space given back")


def _nothing() -> None:
    """What SQL holds stays: the index alone starts over."""
