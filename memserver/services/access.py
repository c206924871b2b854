"""Keys, tenants and namespaces: who may reach what."""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.errors import (
    InvalidNamespace,
    KeyNotFound,
    NamespaceForbidden,
    NamespaceNotFound,
    RoleForbidden,
    Unauthenticated,
)
from memserver.domain.ports import Clock, Page, PageRequest, Store, Writer
from memserver.domain.scope import (
    EVERYTHING,
    Key,
    Namespace,
    Role,
    Scope,
    Tenant,
    contains,
    covers,
    is_path,
    is_pattern,
)

DEFAULT_TENANT = "default"
SECRET_PREFIX = "ms_"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its secret, which exists nowhere else."""

    key: Key
    tenant: str
    secret: str


def digest(secret: str) -> str:
    """SHA-256 hex of a key's secret. Secrets carry 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Access:
    """Authentication, grants and the namespaces that they open."""

    def __init__(self, store: Store, *, clock: Clock, new_id: Callable[[], UUID]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._known: dict[tuple[UUID, str], Namespace] = {}

    def forget(self) -> None:
        """Forgets the namespaces that it knows: a restore may have given their ids to others."""
        self._known = {}

    def authenticate(self, secret: str | None) -> Scope:
        """The scope of a key's secret. Raises `Unauthenticated`."""
        if not secret:
            raise Unauthenticated
        with self._store.reading() as reader:
            key = reader.key_by_digest(digest(secret))
        if key is None or key.revoked_at is not None:
            raise Unauthenticated
        return Scope(key.tenant, key.id, key.role, key.grants, key.unseals)

    def is_valid(self, scope: Scope) -> bool:
        """Whether the scope's key has not been revoked since it was authenticated."""
        with self._store.reading() as reader:
            key = reader.key(scope, scope.key)
        return key is not None and key.revoked_at is None

    def first_key(self) -> IssuedKey | None:
        """The system key at the very first start, None at every later one."""

        def create(tx: Writer) -> IssuedKey | None:
            if tx.has_keys():
                return None
            tenant = Tenant(self._new_id(), DEFAULT_TENANT)
            tx.add_tenant(tenant)
            return self._issue(tx, tenant, Role.SYSTEM, (EVERYTHING,), "first key")

        return self._store.write(create)

    def create_key(
        self,
        tx: Writer,
        scope: Scope,
        *,
        role: Role,
        grants: Sequence[str],
        tenant: str | None,
        label: str,
        unseals: bool = False,
    ) -> IssuedKey:
        """A new key. An admin gives within their own tenant and grants; the system key may
        name another tenant, which comes into being. One that `unseals` may see what privacy took
        out of texts."""
        self.require_admin(scope, "create keys")
        if unseals and not (scope.unseals or scope.role is Role.SYSTEM):
            raise RoleForbidden(scope.role, "create keys that unseal")
        for grant in grants:
            if not is_pattern(grant):
                raise InvalidNamespace(grant)
        home = tx.tenant_by_id(scope.tenant)
        if tenant is None or tenant == home.name:
            for grant in grants:
                if not any(contains(own, grant) for own in scope.grants):
                    raise NamespaceForbidden(grant, "grant access to")
            return self._issue(tx, home, role, tuple(grants), label, unseals=unseals)
        if scope.role is not Role.SYSTEM:
            raise RoleForbidden(scope.role, "create keys for another tenant")
        there = tx.tenant(tenant)
        if there is None:
            there = Tenant(self._new_id(), tenant)
            tx.add_tenant(there)
        return self._issue(tx, there, role, tuple(grants), label, unseals=unseals)

    def keys(self, scope: Scope, page: PageRequest) -> Page[Key]:
        self.require_admin(scope, "list keys")
        with self._store.reading() as reader:
            return reader.keys(scope, page)

    def revoke_key(self, tx: Writer, scope: Scope, key_id: UUID) -> Key:
        """The key, which opens nothing from now on. Revoking twice is harmless. Only the system
        key revokes itself: no later start prints another."""
        self.require_admin(scope, "revoke keys")
        key = tx.key(scope, key_id)
        if key is None:
            raise KeyNotFound(key_id)
        if key.role is Role.SYSTEM and scope.role is not Role.SYSTEM:
            raise RoleForbidden(scope.role, "revoke the system key")
        tx.revoke_key(key_id, scope.tenant)
        revoked = tx.key(scope, key_id)
        if revoked is None:
            raise KeyNotFound(key_id)
        return revoked

    def writable(self, scope: Scope, path: str) -> Namespace:
        """The namespace to write into, which comes into being here if it has to."""
        if not is_path(path):
            raise InvalidNamespace(path)
        if not scope.may_write(path):
            raise NamespaceForbidden(path, "write to")
        return self._find(scope, path) or self._create(scope, path)

    @staticmethod
    def require_writable(scope: Scope, namespace: Namespace) -> None:
        """Raises `NamespaceForbidden` where the key may only read what it has found."""
        if not scope.may_write(namespace.path):
            raise NamespaceForbidden(namespace.path, "write to")

    @staticmethod
    def first_writable(scope: Scope, namespaces: Sequence[Namespace]) -> Namespace:
        """The first that the key may write; `NamespaceForbidden` where there is none."""
        for namespace in namespaces:
            if scope.may_write(namespace.path):
                return namespace
        raise NamespaceForbidden(namespaces[0].path, "write to")

    def readable(self, scope: Scope, patterns: Sequence[str]) -> tuple[Namespace, ...]:
        """The namespaces that the patterns name, each once.

        A path that the key may write comes into being; one that it may only read must exist
        (`NamespaceNotFound`). A subtree gives what exists of it within the grants.
        """
        found: dict[int, Namespace] = {}
        for pattern in patterns:
            for namespace in self._named(scope, pattern):
                found[namespace.id] = namespace
        return tuple(found.values())

    def readable_one(self, scope: Scope, path: str) -> Namespace:
        """As `readable`, where one namespace must be named and no subtree (`InvalidNamespace`)."""
        if not is_path(path):
            raise InvalidNamespace(path)
        return self.readable(scope, [path])[0]

    def namespaces(self, scope: Scope, page: PageRequest) -> Page[Namespace]:
        with self._store.reading() as reader:
            return reader.namespaces(scope, page)

    def _named(self, scope: Scope, pattern: str) -> tuple[Namespace, ...]:
        if not is_pattern(pattern):
            raise InvalidNamespace(pattern)
        if not is_path(pattern):
            if not any(_overlap(pattern, grant) for grant in scope.grants):
                raise NamespaceForbidden(pattern, "read")
            with self._store.reading() as reader:
                return reader.namespaces_under(scope, pattern)
        if not scope.may_read(pattern):
            raise NamespaceForbidden(pattern, "read")
        found = self._find(scope, pattern)
        if found is None and not scope.may_write(pattern):
            raise NamespaceNotFound(pattern)
        return (found or self._create(scope, pattern),)

    def _find(self, scope: Scope, path: str) -> Namespace | None:
        known = self._known.get((scope.tenant, path))
        if known is None:
            with self._store.reading() as reader:
                known = reader.namespace(scope, path)
            if known is not None:
                self._known[(scope.tenant, path)] = known
        return known

    def _create(self, scope: Scope, path: str) -> Namespace:
        return self._store.write(lambda tx: tx.ensure_namespace(scope.tenant, path))

    def _issue(
        self,
        tx: Writer,
        tenant: Tenant,
        role: Role,
        grants: tuple[str, ...],
        label: str,
        *,
        unseals: bool = False,
    ) -> IssuedKey:
        secret = SECRET_PREFIX + secrets.token_urlsafe(32)
        key = Key(
            id=self._new_id(),
            tenant=tenant.id,
            digest=digest(secret),
            role=role,
            grants=grants,
            label=label,
            created_at=self._clock(),
            unseals=unseals,
        )
        tx.add_key(key)
        return IssuedKey(key, tenant.name, secret)

    @staticmethod
    def require_admin(scope: Scope, wanted: str) -> None:
        """Raises `RoleForbidden` for writers and readers."""
        if not scope.may_administer:
            raise RoleForbidden(scope.role, wanted)

    @staticmethod
    def require_system(scope: Scope, wanted: str) -> None:
        """Raises `RoleForbidden` for every key but the system's: for what spans tenants."""
        if scope.role is not Role.SYSTEM:
            raise RoleForbidden(scope.role, wanted)


def _overlap(pattern: str, grant: str) -> bool:
    """Whether some path could be reached by both."""
    if EVERYTHING in (pattern, grant):
        return True
    return covers(pattern, grant.removesuffix("/**")) or covers(grant, pattern.removesuffix("/**"))
