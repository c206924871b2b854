"""What a consolidation would do, as values that can be read before anything is done."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.items import Entry

# The cosine of two versions' kept vectors, None where one has none.
NearDuplicates = Callable[[UUID, UUID], float | None]


class ActionKind(StrEnum):
    MERGE = "merge"
    ARCHIVE = "archive"


class Rule(StrEnum):
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    SUPERSEDED = "superseded"
    NEVER_USEFUL = "never_useful"


@dataclass(frozen=True, slots=True)
class Settings:
    """When two items are near-duplicates, and when one was never useful.

    `cosine` and `wording` must both be reached; where a vector is missing, `wording_alone` must.
    An item with `outcomes` or more outcomes is never useful when its mean is below `mean` and
    its lower bound below `lower_bound`.
    """

    cosine: float = 0.92
    wording: float = 0.6
    wording_alone: float = 0.8
    outcomes: int = 3
    mean: float = 0.35
    lower_bound: float = 0.2


@dataclass(frozen=True, slots=True)
class Rated:
    """An item with its head version, and what is believed of it over all contexts."""

    entry: Entry
    belief: Belief

    @property
    def item(self) -> UUID:
        return self.entry.item.id

    @property
    def version(self) -> UUID:
        return self.entry.version.id


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. `into` is the version that stands for a merged item."""

    kind: ActionKind
    item: UUID
    into: UUID | None
    reason: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, ordered by item, and which items stay. A merge's target always stays."""

    actions: tuple[Action, ...]
    kept: tuple[UUID, ...]

    @property
    def before(self) -> int:
        return len(self.kept) + len(self.actions)

    @property
    def after(self) -> int:
        return len(self.kept)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it back."""
        return {
            "before": self.before,
            "after": self.after,
            "actions": [
                {
                    **asdict(action),
                    "item": str(action.item),
                    "into": None if action.into is None else str(action.into),
                }
                for action in self.actions
            ],
            "kept": [str(item) for item in self.kept],
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Plan":
        return Plan(
            actions=tuple(
                Action(
                    kind=ActionKind(action["kind"]),
                    item=UUID(action["item"]),
                    into=None if action["into"] is None else UUID(action["into"]),
                    reason=action["reason"],
                    rule=Rule(action["rule"]),
                )
                for action in data["actions"]
            ),
            kept=tuple(UUID(item) for item in data["kept"]),
        )
