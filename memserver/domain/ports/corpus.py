"""Stored texts one after another, as an exact search goes through them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from memserver.domain.items import Kind
from memserver.domain.scope import Scope
from memserver.domain.sessions.events import Session


@dataclass(frozen=True, slots=True)
class CorpusFilter:
    """`namespaces` are exact ids, none for nothing; what is searched was said in [since, until)."""

    namespaces: tuple[int, ...]
    kinds: tuple[Kind, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A row's place in the order in which rows were stored."""

    position: int
    id: UUID


class CorpusReader(Protocol):
    """Places come in order, those that follow `after`, at most `limit`; rows are read by id."""

    def item_places(
        self, scope: Scope, where: CorpusFilter, after: Place | None, limit: int
    ) -> tuple[Place, ...]:
        """Items that hold now, of the kinds asked for."""

    def run_places(
        self, scope: Scope, where: CorpusFilter, after: Place | None, limit: int
    ) -> tuple[Place, ...]: ...

    def runs_that_may_hold(self, scope: Scope, runs: Sequence[UUID], words: str) -> frozenset[UUID]:
        """All of the runs with these words in the goal, an observation or an action, and perhaps
        others."""

    def sessions_after(
        self, scope: Scope, where: CorpusFilter, after: tuple[datetime, UUID] | None, limit: int
    ) -> tuple[Session, ...]:
        """By when they began; what was said in them says itself when that was."""
