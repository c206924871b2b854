"""Reading tenants, keys and namespaces."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, exists, or_, select

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.scope import Key, Namespace, Role, Scope, Tenant, contains
from memserver.storage.sql import cursors
from memserver.storage.sql.reach import granted, path_matches
from memserver.storage.sql.tables import API_KEY, NAMESPACE, TENANT
from memserver.storage.sql.view import Cells, View

_KEY = (
    API_KEY.c.id,
    API_KEY.c.tenant_id,
    API_KEY.c.digest,
    API_KEY.c.role,
    API_KEY.c.grants,
    API_KEY.c.label,
    API_KEY.c.created_at,
    API_KEY.c.revoked_at,
    API_KEY.c.unseals,
)
_NAMESPACE = (NAMESPACE.c.id, NAMESPACE.c.tenant_id, NAMESPACE.c.path)


class AccessReads(View):
    def key_by_digest(self, digest: str) -> Key | None:
        row = self._first(select(*_KEY).where(API_KEY.c.digest == digest))
        return None if row is None else _to_key(row)

    def has_keys(self) -> bool:
        return bool(self._connection.scalar(select(exists(select(API_KEY.c.id)))))

    def tenant(self, name: str) -> Tenant | None:
        row = self._first(select(TENANT.c.id, TENANT.c.name).where(TENANT.c.name == name))
        return None if row is None else Tenant(*row)

    def tenant_by_id(self, tenant_id: UUID) -> Tenant:
        row = self._first(select(TENANT.c.id, TENANT.c.name).where(TENANT.c.id == tenant_id))
        if row is None:
            raise KeyError(tenant_id)
        return Tenant(*row)

    def keys(self, scope: Scope, page: PageRequest) -> Page[Key]:
        """Oldest first; only keys that reach no further than the scope itself."""
        query = (
            select(*_KEY)
            .where(API_KEY.c.tenant_id == scope.tenant)
            .order_by(API_KEY.c.created_at, API_KEY.c.id)
        )
        found: list[Key] = []
        after = page.cursor
        while len(found) <= page.limit:
            batch = [_to_key(row) for row in self._all(_keys_after(query, after, page.limit + 1))]
            found += [key for key in batch if _within(key.grants, scope)]
            if len(batch) <= page.limit:
                break
            after = _key_cursor(batch[-1])
        return cursors.page(found, page, _key_cursor)

    def key(self, scope: Scope, key_id: UUID) -> Key | None:
        row = self._first(
            select(*_KEY).where(API_KEY.c.id == key_id, API_KEY.c.tenant_id == scope.tenant)
        )
        key = None if row is None else _to_key(row)
        return key if key is not None and _within(key.grants, scope) else None

    def namespace(self, scope: Scope, path: str) -> Namespace | None:
        row = self._first(
            select(*_NAMESPACE).where(
                NAMESPACE.c.tenant_id == scope.tenant, NAMESPACE.c.path == path, granted(scope)
            )
        )
        return None if row is None else Namespace(*row)

    def namespaces_under(self, scope: Scope, pattern: str) -> tuple[Namespace, ...]:
        query = (
            select(*_NAMESPACE)
            .where(NAMESPACE.c.tenant_id == scope.tenant, path_matches(pattern), granted(scope))
            .order_by(NAMESPACE.c.path)
        )
        return tuple(Namespace(*row) for row in self._all(query))

    def namespaces(self, scope: Scope, page: PageRequest) -> Page[Namespace]:
        query = (
            select(*_NAMESPACE)
            .where(NAMESPACE.c.tenant_id == scope.tenant, granted(scope))
            .order_by(NAMESPACE.c.path)
            .limit(page.limit + 1)
        )
        if page.cursor is not None:
            (path,) = cursors.decode(page.cursor, "namespaces", str)
            query = query.where(NAMESPACE.c.path > path)
        found = [Namespace(*row) for row in self._all(query)]
        return cursors.page(found, page, lambda last: cursors.encode("namespaces", last.path))


def _keys_after(query: Select[Any], cursor: str | None, limit: int) -> Select[Any]:
    if cursor is not None:
        created_at, key_id = cursors.decode(cursor, "keys", datetime, UUID)
        query = query.where(
            or_(
                API_KEY.c.created_at > created_at,
                (API_KEY.c.created_at == created_at) & (API_KEY.c.id > key_id),
            )
        )
    return query.limit(limit)


def _key_cursor(key: Key) -> str:
    return cursors.encode("keys", key.created_at, key.id)


def _within(grants: tuple[str, ...], scope: Scope) -> bool:
    """Whether all that the grants reach, the scope reaches as well. A key that reaches further
    is none of the scope's business: it could be revoked, or its label read."""
    return all(any(contains(own, grant) for own in scope.grants) for grant in grants)


def _to_key(row: Cells) -> Key:
    key_id, tenant, digest, role, grants, label, created_at, revoked_at, unseals = row
    return Key(
        key_id, tenant, digest, Role(role), tuple(grants), label, created_at, revoked_at, unseals
    )
