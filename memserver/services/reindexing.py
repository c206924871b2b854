"""The index rebuilt while the server serves, as an operation."""

from memserver.domain.errors import RoleForbidden
from memserver.domain.operations import Operation
from memserver.domain.ports import Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.access import Access
from memserver.services.indexing import Indexer
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService

VERB = "reindex"
SERVER_NAMESPACE = "_server"
"""Where operations are filed that concern the whole server and no one namespace."""


class Reindexing:
    def __init__(self, operations: OperationService, access: Access) -> None:
        self._operations = operations
        self._access = access

    def namespace(self, scope: Scope) -> Namespace:
        """Where a rebuild is filed. All tenants share the index, so only the system key may ask
        for one."""
        if scope.role is not Role.SYSTEM:
            raise RoleForbidden(scope.role, "rebuild the index")
        return self._access.writable(scope, SERVER_NAMESPACE)

    def request(self, tx: Writer, scope: Scope, namespace: Namespace) -> Operation:
        """Asks for a rebuild of the whole index."""
        return self._operations.request(tx, scope, verb=VERB, namespace=namespace, params={})


class ReindexRunner:
    """One step. Searches and writes go on meanwhile; vectors come from SQL."""

    verb = VERB

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return ("rebuild",)

    def prepare(self, operation: Operation, step: str) -> Effect:
        documents = self._indexer.rebuild().result()
        return lambda _: Outcome(report={"documents": documents}, note="rebuilt")
