"""The `Writer` port: one transaction's writes, on top of all that a reader sees."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Table, bindparam, delete, func, insert, select, update

from memserver.domain.changes import Change, Draft
from memserver.domain.decisions import Decision
from memserver.domain.errors import IdConflict, IdempotencyConflict, InvalidNamespace
from memserver.domain.operations import Operation
from memserver.domain.ports.store import Once, StoredReply
from memserver.domain.scope import Key, Namespace, Scope, Tenant, is_path
from memserver.storage.sql.changes import Changes
from memserver.storage.sql.erasing import ErasingWrites
from memserver.storage.sql.freezing import Freezing
from memserver.storage.sql.model_use_rows import ModelUseWrites
from memserver.storage.sql.practice_writes import PracticeWrites
from memserver.storage.sql.reach import Condition
from memserver.storage.sql.reading import SqlReader
from memserver.storage.sql.records import decision_row, operation_row
from memserver.storage.sql.sealed_rows import PrivacyWrites
from memserver.storage.sql.session_writes import SessionWrites
from memserver.storage.sql.tables import (
    API_KEY,
    DECISION,
    IDEMPOTENCY,
    MARK,
    NAMESPACE,
    OPERATION,
    POLICY_WEIGHTS,
    TENANT,
    VECTOR,
)
from memserver.storage.sql.undo import Undo

REPLIES_KEPT = timedelta(hours=24)


class SqlWriter(
    ModelUseWrites,
    PracticeWrites,
    SessionWrites,
    PrivacyWrites,
    ErasingWrites,
    Freezing,
    SqlReader,
):
    """Only one exists at a time, over all processes: what it has read stays true until its end."""

    # --- content

    def apply(self, draft: Draft) -> Change:
        self.refuse_frozen(draft)
        changes = Changes(self._connection, namespaces=self._namespaces, now=self._now())
        return changes.apply(draft)

    def undo(self, scope: Scope, change_id: UUID, reason: str) -> Change:
        self.refuse_frozen_undo(scope.tenant, change_id)
        undo = Undo(self._connection, namespaces=self._namespaces, now=self._now())
        return undo.undo(scope, change_id, reason)

    # --- idempotency

    def replay(self, once: Once) -> StoredReply | None:
        query = select(IDEMPOTENCY.c.body_hash, IDEMPOTENCY.c.status, IDEMPOTENCY.c.body).where(
            _reply_to(once), IDEMPOTENCY.c.created_at > self._now() - REPLIES_KEPT
        )
        row = self._first(query)
        if row is None:
            return None
        if row.body_hash != once.body_hash:
            raise IdempotencyConflict(once.key)
        return StoredReply(row.status, row.body)

    def store_reply(self, once: Once, reply: StoredReply) -> None:
        now = self._now()
        self._run(delete(IDEMPOTENCY).where(IDEMPOTENCY.c.created_at <= now - REPLIES_KEPT))
        self._upsert(
            IDEMPOTENCY,
            {"tenant_id": once.tenant, "route": once.route, "key": once.key},
            {
                "body_hash": once.body_hash,
                "status": reply.status,
                "body": reply.body,
                "created_at": now,
            },
        )

    # --- access

    def add_tenant(self, tenant: Tenant) -> None:
        self._run(insert(TENANT).values(id=tenant.id, name=tenant.name))

    def add_key(self, key: Key) -> None:
        self._run(
            insert(API_KEY).values(
                id=key.id,
                tenant_id=key.tenant,
                digest=key.digest,
                role=key.role.value,
                grants=list(key.grants),
                label=key.label,
                created_at=key.created_at,
                revoked_at=key.revoked_at,
                unseals=key.unseals,
            )
        )

    def revoke_key(self, key_id: UUID, tenant: UUID) -> None:
        """A key that was revoked before keeps its first time."""
        self._run(
            update(API_KEY)
            .where(
                API_KEY.c.id == key_id,
                API_KEY.c.tenant_id == tenant,
                API_KEY.c.revoked_at.is_(None),
            )
            .values(revoked_at=self._now())
        )

    def ensure_namespace(self, tenant: UUID, path: str) -> Namespace:
        """The tenant's namespace of this path, made where it is missing; `InvalidNamespace`."""
        if not is_path(path):
            raise InvalidNamespace(path)
        which = (NAMESPACE.c.tenant_id == tenant) & (NAMESPACE.c.path == path)
        found = self._connection.scalar(select(NAMESPACE.c.id).where(which))
        if found is None:
            self._run(insert(NAMESPACE).values(tenant_id=tenant, path=path))
            found = self._connection.scalar(select(NAMESPACE.c.id).where(which))
            assert found is not None, "a row that was just inserted"
        return Namespace(found, tenant, path)

    # --- records

    def add_decision(self, decision: Decision) -> None:
        self._run(insert(DECISION).values(decision_row(decision)))

    def add_decisions(self, decisions: Sequence[Decision]) -> None:
        if decisions:
            rows = [decision_row(decision) for decision in decisions]
            self._connection.execute(insert(DECISION), rows)

    def prune_decisions(self, *, before: datetime, most: int, limit: int) -> int:
        gone = self._forget_decisions(DECISION.c.created_at < before, limit)
        by_tenant = select(DECISION.c.tenant_id, func.count()).group_by(DECISION.c.tenant_id)
        for tenant, count in self._all(by_tenant):
            if count > most and gone < limit:
                of_tenant = DECISION.c.tenant_id == tenant
                gone += self._forget_decisions(of_tenant, min(limit - gone, count - most))
        return gone

    def _forget_decisions(self, which: Condition, limit: int) -> int:
        """The oldest of those, at most `limit`."""
        oldest = (
            select(DECISION.c.id, DECISION.c.tenant_id)
            .where(which)
            .order_by(DECISION.c.created_at, DECISION.c.tenant_id, DECISION.c.id)
            .limit(limit)
        )
        gone = [{"of_id": row.id, "of_tenant": row.tenant_id} for row in self._all(oldest)]
        if gone:
            one = (DECISION.c.id == bindparam("of_id")) & (
                DECISION.c.tenant_id == bindparam("of_tenant")
            )
            self._connection.execute(delete(DECISION).where(one), gone)
        return len(gone)

    def put_policy_weights(self, weights_hash: str, data: bytes) -> None:
        if self.policy_weights(weights_hash) is None:
            self._run(insert(POLICY_WEIGHTS).values(hash=weights_hash, data=data))

    def put_operation(self, operation: Operation) -> None:
        """`IdConflict` where another tenant holds the id."""
        tenant = self._connection.scalar(
            select(OPERATION.c.tenant_id).where(OPERATION.c.id == operation.id)
        )
        if tenant not in (None, operation.tenant):
            raise IdConflict("operation", operation.id)
        row = operation_row(operation)
        self._upsert(OPERATION, {"id": row.pop("id")}, row)

    def lock_operation(self, operation_id: UUID) -> Operation | None:
        """Every writer is alone, so that reading is locking."""
        return self.any_operation(operation_id)

    # --- the projection

    def put_vectors(self, fingerprint: str, vectors: dict[str, bytes]) -> None:
        known = self.vectors(list(vectors), fingerprint)
        new = [
            {"hash": text_hash, "fingerprint": fingerprint, "data": data}
            for text_hash, data in vectors.items()
            if text_hash not in known
        ]
        if new:
            self._connection.execute(insert(VECTOR), new)

    def set_mark(self, name: str, position: int, fingerprint: str) -> None:
        self._upsert(MARK, {"name": name}, {"position": position, "fingerprint": fingerprint})

    # ---

    def _run(self, statement: Any) -> int:
        return int(self._connection.execute(statement).rowcount)

    def _upsert(self, table: Table, key: dict[str, Any], cells: dict[str, Any]) -> None:
        which = [table.c[name] == value for name, value in key.items()]
        if not self._run(update(table).where(*which).values(cells)):
            self._run(insert(table).values(key | cells))


def _reply_to(once: Once) -> Condition:
    return (
        (IDEMPOTENCY.c.tenant_id == once.tenant)
        & (IDEMPOTENCY.c.route == once.route)
        & (IDEMPOTENCY.c.key == once.key)
    )
