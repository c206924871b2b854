"""Namespaces by their surrogate id. They are never renamed or removed, so they may be kept."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from memserver.domain.scope import Namespace
from memserver.storage.sql.tables import NAMESPACE

_MOST = 100_000


class NamespaceCache:
    """What has been looked up. A writing transaction works on a `fork`, since a namespace that
    it made may be rolled back and its id given to another."""

    def __init__(self, parent: "NamespaceCache | None" = None) -> None:
        self._parent = parent
        self._known: dict[int, Namespace] = {}

    def fork(self) -> "NamespaceCache":
        return NamespaceCache(self)

    def resolve(self, connection: Connection, ids: Iterable[int]) -> dict[int, Namespace]:
        """The namespaces with these ids; ids that do not exist are left out."""
        found: dict[int, Namespace] = {}
        missing: list[int] = []
        for namespace_id in set(ids):
            namespace = self._get(namespace_id)
            if namespace is None:
                missing.append(namespace_id)
            else:
                found[namespace_id] = namespace
        if missing:
            query = select(NAMESPACE.c.id, NAMESPACE.c.tenant_id, NAMESPACE.c.path)
            for row in connection.execute(query.where(NAMESPACE.c.id.in_(missing))):
                namespace = Namespace(*row)
                found[namespace.id] = namespace
                self._keep(namespace)
        return found

    def _get(self, namespace_id: int) -> Namespace | None:
        known = self._known.get(namespace_id)
        if known is None and self._parent is not None:
            return self._parent._get(namespace_id)
        return known

    def _keep(self, namespace: Namespace) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[namespace.id] = namespace
