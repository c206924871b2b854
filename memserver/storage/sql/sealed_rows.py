"""What privacy keeps in the store, and the protection of what is read and written: a reader says
how a value would be stored, a writer stores nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid5

from sqlalchemy import and_, bindparam, insert, or_, select, update

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.privacy import Erasure, Known, Looking, Original
from memserver.domain.scope import Namespace, Scope
from memserver.storage.sql import cursors
from memserver.storage.sql.reach import visible
from memserver.storage.sql.tables import ERASURE, NAMESPACE, SEALED, SERVER_SECRET
from memserver.storage.sql.view import Cells, View, chunks

T = TypeVar("T")

_IDS = UUID("0d7c5f7e-5c0b-4a56-8d2f-6a8f0f1b2c3d")


class PrivacyReads(View):
    # --- what may be stored

    def protected(self, namespaces: Sequence[Namespace], value: T) -> T:
        if self._protector is None or not namespaces:
            return value
        looking = self._looking(namespaces)
        known = self._known(looking)
        found: T = self._protector.protect(value, namespaces[0].tenant, looking, known).value
        return found

    def _looking(self, namespaces: Sequence[Namespace]) -> Looking:
        """By the strictest of their settings."""
        looking = Looking(secrets=False, personal_data=False)
        for namespace in namespaces:
            wanted = self._wanted.get(namespace.id)
            if wanted is None:
                settings = self.namespace_settings(namespace)  # type: ignore[attr-defined]
                wanted = Looking(settings.secrets, settings.personal_data)
                self._wanted[namespace.id] = wanted
            looking |= wanted
        return looking

    def _known(self, looking: Looking) -> Known:
        return self._looked_at.setdefault(looking, {})

    # --- originals

    def originals(
        self, scope: Scope, namespaces: Sequence[str], digests: Sequence[str]
    ) -> dict[tuple[str, str], bytes]:
        found: dict[tuple[str, str], bytes] = {}
        for some in chunks(digests):
            query = (
                select(NAMESPACE.c.path, SEALED.c.digest, SEALED.c.data)
                .join_from(SEALED, NAMESPACE, NAMESPACE.c.id == SEALED.c.namespace_id)
                .where(
                    SEALED.c.digest.in_(some),
                    NAMESPACE.c.path.in_(namespaces),
                    visible(scope, SEALED.c.tenant_id, SEALED.c.namespace_id),
                )
            )
            found |= {(path, digest): bytes(data) for path, digest, data in self._all(query)}
        return found

    def server_secret(self, name: str) -> bytes | None:
        found = self._connection.scalar(
            select(SERVER_SECRET.c.data).where(SERVER_SECRET.c.name == name)
        )
        return None if found is None else bytes(found)

    def sealed_data(self, after: UUID | None, limit: int) -> Sequence[tuple[UUID, bytes]]:
        query = select(SEALED.c.id, SEALED.c.data).order_by(SEALED.c.id)
        if after is not None:
            query = query.where(SEALED.c.id > after)
        return [(row.id, bytes(row.data)) for row in self._all(query.limit(limit))]

    # --- erasures

    def erasures(self, tenant: UUID, page: PageRequest) -> Page[Erasure]:
        query = select(ERASURE).where(ERASURE.c.tenant_id == tenant)
        if page.cursor is not None:
            before, before_id = cursors.decode(page.cursor, "erasures", datetime, UUID)
            at = ERASURE.c.created_at
            query = query.where(or_(at < before, and_(at == before, ERASURE.c.id < before_id)))
        query = query.order_by(ERASURE.c.created_at.desc(), ERASURE.c.id.desc())
        found = [to_erasure(row) for row in self._all(query.limit(page.limit + 1))]
        return cursors.page(
            found, page, lambda last: cursors.encode("erasures", last.created_at, last.id)
        )


def seal(
    view: View, namespace: Namespace, originals: Iterable[Original], *, subject: str | None
) -> None:
    """Keeps originals, each once a namespace and subject: one that two people have must outlive
    the erasure of one of them. An id says all of that, so that what is there is the same."""
    rows = {
        sealed_id(namespace, one.digest, subject): {
            "tenant_id": namespace.tenant,
            "namespace_id": namespace.id,
            "type": one.type,
            "digest": one.digest,
            "data": one.data,
            "subject": subject,
            "created_at": view._now(),
        }
        for one in originals
    }
    for ids in chunks(rows):
        there = set(
            view._connection.scalars(
                select(SEALED.c.id).where(
                    SEALED.c.id.in_(ids), SEALED.c.tenant_id == namespace.tenant
                )
            )
        )
        new = [{"id": row_id, **rows[row_id]} for row_id in ids if row_id not in there]
        if new:
            view._connection.execute(insert(SEALED), new)


def sealed_id(namespace: Namespace, digest: str, subject: str | None) -> UUID:
    return uuid5(
        _IDS, "\x1f".join((str(namespace.tenant), str(namespace.id), digest, subject or ""))
    )


class PrivacyWrites(PrivacyReads):
    def put_server_secret(self, name: str, data: bytes) -> None:
        known = update(SERVER_SECRET).where(SERVER_SECRET.c.name == name).values(data=data)
        if not self._connection.execute(known).rowcount:
            self._connection.execute(insert(SERVER_SECRET).values(name=name, data=data))

    def put_sealed_data(self, data: Mapping[UUID, bytes]) -> None:
        rows = [{"of_id": row_id, "data": sealed} for row_id, sealed in data.items()]
        if rows:
            which = SEALED.c.id == bindparam("of_id")
            self._connection.execute(update(SEALED).where(which), rows)


def erasure_row(erasure: Erasure) -> dict[str, Any]:
    return {
        "id": erasure.id,
        "tenant_id": erasure.tenant,
        "digest": erasure.digest,
        "created_at": erasure.created_at,
        "report": {"namespace": erasure.pattern, "counts": dict(erasure.counts)},
    }


def to_erasure(row: Cells) -> Erasure:
    """From a row of the table."""
    row_id, tenant, digest, created_at, report = row
    return Erasure(row_id, tenant, digest, created_at, report["namespace"], report["counts"])
