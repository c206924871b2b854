"""The memory of who proposes practice: plain rows, apart from all that agents retrieve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.practice import PracticeGoal, PracticeState
from memserver.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class PracticeFilter:
    """`namespaces` are exact ids that were resolved before; empty means none."""

    namespaces: tuple[int, ...]
    state: PracticeState | None = None


class PracticeReader(Protocol):
    """Goals outside the scope's reach are as if they were not there."""

    def practice_goal(self, scope: Scope, goal_id: UUID) -> PracticeGoal | None: ...
    def practice_goals(
        self, scope: Scope, where: PracticeFilter, page: PageRequest
    ) -> Page[PracticeGoal]:
        """In the order in which they were proposed."""


class PracticeWriter(Protocol):
    def add_practice_goals(self, goals: Sequence[PracticeGoal]) -> tuple[PracticeGoal, ...]:
        """Those that were not there, as they were stored; one that was stays as it is."""

    def put_practice_goal(self, goal: PracticeGoal) -> PracticeGoal:
        """Overwrites one that is there; as it was stored."""
