"""What a consolidation would do, as values that can be read before anything is done."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.items import (
    BODY_OF,
    Body,
    Entry,
    Kind,
    body_of,
)

# The cosine of two versions' kept vectors, None where one has none.
NearDuplicates = Callable[[UUID, UUID], float | None]


class ActionKind(StrEnum):
    MERGE = "merge"
    ARCHIVE = "archive"


class Rule(StrEnum):
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    JOINED = "joined"
    ABSTRACTED = "abstracted"
    WORDED = "worded"
    LATER_VALUE = "later_value"
    SUPERSEDED = "superseded"
    NEVER_USEFUL = "never_useful"


@dataclass(frozen=True, slots=True)
class Settings:
    """When two items are near-duplicates, when one was never useful, and how much is done at once.

    `cosine` and `wording` must both be reached; where a vector is missing, `wording_alone` must.
    An item with `outcomes` or more outcomes is never useful when its mean is below `mean` and
    its lower bound below `lower_bound`. At most `regions` regions are worked on, with at most
    `inspections` looks at the bank, and no text is joined to more than `longest` characters.
    Where somebody words what rules leave, texts are offered from a cosine of `paraphrase` on, and
    at most `offered` regions.
    """

    cosine: float = 0.92
    wording: float = 0.6
    wording_alone: float = 0.8
    outcomes: int = 3
    mean: float = 0.35
    lower_bound: float = 0.2
    regions: int = 20_000
    inspections: int = 100_000
    longest: int = 4_000
    paraphrase: float = 0.8
    offered: int = 12


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
class Replacement:
    """A new item that stands for several. `values` says what the slots of an abstracted skill
    stood for; `valid_from` is when the oldest of what it replaces began to hold."""

    item: UUID
    version: UUID
    replaces: tuple[UUID, ...]
    kind: Kind
    title: str
    body: Body
    rule: Rule
    valid_from: datetime
    task_type: str | None = None
    subject: str | None = None
    expires_at: datetime | None = None
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A transition that the verifier did not let pass, and why; its items stay as they are."""

    items: tuple[UUID, ...]
    rule: Rule
    reasons: tuple[str, ...]


class By(StrEnum):
    """Who had the last word on a region."""

    MODEL = "model"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Offered:
    """A region that a model was asked to word, and why what it said was not taken."""

    items: tuple[UUID, ...]
    by: By
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Looks:
    """How often the bank was looked at for this plan, by what, and how often it might have been."""

    search: int = 0
    inspect: int = 0
    trace: int = 0
    budget: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, ordered by item, and which items stay. A merge's target always stays or is
    one of the replacements. `left` regions were put off until the next time."""

    actions: tuple[Action, ...]
    kept: tuple[UUID, ...]
    replacements: tuple[Replacement, ...] = ()
    refused: tuple[Refusal, ...] = ()
    looks: Looks = Looks()
    left: int = 0
    offered: tuple[Offered, ...] = ()

    @property
    def before(self) -> int:
        return len(self.kept) + len(self.actions)

    @property
    def after(self) -> int:
        return len(self.kept) + len(self.replacements)

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
            "replacements": [_replacement_json(made) for made in self.replacements],
            "refused": [
                {
                    "items": [str(item) for item in one.items],
                    "rule": one.rule,
                    "reasons": list(one.reasons),
                }
                for one in self.refused
            ],
            "inspections": asdict(self.looks),
            "left": self.left,
            "offered": [
                {
                    "items": [str(item) for item in one.items],
                    "by": one.by,
                    "reasons": list(one.reasons),
                }
                for one in self.offered
            ],
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Plan":
        """Plans that were made before there were replacements are read as well."""
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
            replacements=tuple(map(_replacement, data.get("replacements", ()))),
            refused=tuple(
                Refusal(
                    tuple(UUID(item) for item in one["items"]),
                    Rule(one["rule"]),
                    tuple(one["reasons"]),
                )
                for one in data.get("refused", ())
            ),
            looks=Looks(**data.get("inspections", {})),
            left=data.get("left", 0),
            offered=tuple(
                Offered(
                    tuple(UUID(item) for item in one["items"]),
                    By(one["by"]),
                    tuple(one["reasons"]),
                )
                for one in data.get("offered", ())
            ),
        )


def _replacement_json(made: Replacement) -> dict[str, Any]:
    return {
        **asdict(made),
        "item": str(made.item),
        "version": str(made.version),
        "replaces": [str(item) for item in made.replaces],
        "valid_from": made.valid_from.isoformat(),
        "expires_at": None if made.expires_at is None else made.expires_at.isoformat(),
        "values": {name: list(values) for name, values in made.values.items()},
    }


def _replacement(data: dict[str, Any]) -> Replacement:
    kind, ends = Kind(data["kind"]), data["expires_at"]
    return Replacement(
        item=UUID(data["item"]),
        version=UUID(data["version"]),
        replaces=tuple(UUID(item) for item in data["replaces"]),
        kind=kind,
        title=data["title"],
        body=body_of(BODY_OF[kind], data["body"]),
        rule=Rule(data["rule"]),
        valid_from=datetime.fromisoformat(data["valid_from"]),
        task_type=data["task_type"],
        subject=data["subject"],
        expires_at=None if ends is None else datetime.fromisoformat(ends),
        values={name: tuple(values) for name, values in data["values"].items()},
    )
