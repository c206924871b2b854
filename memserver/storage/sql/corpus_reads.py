"""Stored texts one after another, within a caller's scope."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Select, Text, and_, cast, or_, select

from memserver.domain.items import Status
from memserver.domain.ports.corpus import CorpusFilter, Place
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import Session
from memserver.storage.sql.reach import visible
from memserver.storage.sql.session_rows import SESSION_COLUMNS, to_session
from memserver.storage.sql.tables import ITEM, SESSION, TRAJECTORY, VERSION
from memserver.storage.sql.view import View, chunks

# What JSON writes in another way than it was said.
_ESCAPED = frozenset('"\\') | {chr(code) for code in range(0x20)}


class CorpusReads(View):
    def item_places(
        self, scope: Scope, where: CorpusFilter, after: Place | None, limit: int
    ) -> tuple[Place, ...]:
        now = self._now()
        query = (
            select(ITEM.c.position, ITEM.c.id)
            .join_from(
                ITEM,
                VERSION,
                and_(VERSION.c.id == ITEM.c.head, VERSION.c.tenant_id == ITEM.c.tenant_id),
            )
            .where(
                visible(scope, ITEM.c.tenant_id, ITEM.c.namespace_id),
                ITEM.c.namespace_id.in_(where.namespaces),
                ITEM.c.kind.in_([kind.value for kind in where.kinds]),
                ITEM.c.status == Status.ACTIVE.value,
                or_(VERSION.c.valid_to.is_(None), VERSION.c.valid_to > now),
                or_(ITEM.c.expires_at.is_(None), ITEM.c.expires_at > now),
            )
        )
        return self._in_order(_said(query, VERSION.c.valid_from, where), ITEM, after, limit)

    def run_places(
        self, scope: Scope, where: CorpusFilter, after: Place | None, limit: int
    ) -> tuple[Place, ...]:
        query = select(TRAJECTORY.c.position, TRAJECTORY.c.id).where(
            visible(scope, TRAJECTORY.c.tenant_id, TRAJECTORY.c.namespace_id),
            TRAJECTORY.c.namespace_id.in_(where.namespaces),
        )
        return self._in_order(
            _said(query, TRAJECTORY.c.created_at, where), TRAJECTORY, after, limit
        )

    def runs_that_may_hold(self, scope: Scope, runs: Sequence[UUID], words: str) -> frozenset[UUID]:
        if not _ESCAPED.isdisjoint(words):
            return frozenset(runs)
        found: set[UUID] = set()
        for some in chunks(runs):
            query = select(TRAJECTORY.c.id).where(
                TRAJECTORY.c.id.in_(some),
                visible(scope, TRAJECTORY.c.tenant_id, TRAJECTORY.c.namespace_id),
                or_(
                    TRAJECTORY.c.goal.contains(words, autoescape=True),
                    cast(TRAJECTORY.c.steps, Text).contains(words, autoescape=True),
                ),
            )
            found |= {row.id for row in self._all(query)}
        return frozenset(found)

    def sessions_after(
        self, scope: Scope, where: CorpusFilter, after: tuple[datetime, UUID] | None, limit: int
    ) -> tuple[Session, ...]:
        begun, row_id = SESSION.c.created_at, SESSION.c.id
        query = select(*SESSION_COLUMNS).where(
            visible(scope, SESSION.c.tenant_id, SESSION.c.namespace_id),
            SESSION.c.namespace_id.in_(where.namespaces),
        )
        if after is not None:
            query = query.where(or_(begun > after[0], and_(begun == after[0], row_id > after[1])))
        rows = self._all(query.order_by(begun, row_id).limit(limit))
        names = self._names(row.namespace_id for row in rows)
        return tuple(to_session(row, names) for row in rows)

    def _in_order(
        self, query: Select[Any], table: Any, after: Place | None, limit: int
    ) -> tuple[Place, ...]:
        position, row_id = table.c.position, table.c.id
        if after is not None:
            query = query.where(
                or_(
                    position > after.position,
                    and_(position == after.position, row_id > after.id),
                )
            )
        rows = self._all(query.order_by(position, row_id).limit(limit))
        return tuple(Place(row.position, row.id) for row in rows)


def _said(query: Select[Any], at: Column[Any], where: CorpusFilter) -> Select[Any]:
    if where.since is not None:
        query = query.where(at >= where.since)
    if where.until is not None:
        query = query.where(at < where.until)
    return query
