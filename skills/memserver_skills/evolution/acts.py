"""What an evolution would do to a library, as values that can be read before anything is done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.evidence import Belief
from memserver.domain.items import SkillBody, fields_of


class ActKind(StrEnum):
    """`admit` brings into use what waited, `refine` writes a better version, `split` makes two of
    one, `retire` takes out of use."""

    ADMIT = "admit"
    REFINE = "refine"
    SPLIT = "split"
    RETIRE = "retire"


class Why(StrEnum):
    """By which rule."""

    VERIFIED = "verified"
    HELD_OUT = "held_out"
    FIRST_USES = "first_uses"
    NEVER_HELPS = "never_helps"
    CAP = "cap"
    CONTEXTS_DIFFER = "contexts_differ"
    FAILED_STEP = "failed_step"


@dataclass(frozen=True, slots=True)
class Written:
    """New content of a skill; `belief` is what it starts from a part of."""

    title: str
    body: SkillBody
    task_type: str | None
    belief: Belief


@dataclass(frozen=True, slots=True)
class Act:
    """One thing to do to one item, which stood at `head`. `now` is what it is to say; `apart` what
    a second item is to say that takes a part of its cases; `runs` are those that show why."""

    kind: ActKind
    item: UUID
    head: UUID
    rule: Why
    reason: str
    now: Written | None = None
    apart: Written | None = None
    runs: tuple[UUID, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "act": self.kind.value,
            "item": str(self.item),
            "head": str(self.head),
            "rule": self.rule.value,
            "reason": self.reason,
            **({} if self.now is None else {"now": _json(self.now)}),
            **({} if self.apart is None else {"apart": _json(self.apart)}),
            "runs": [str(run) for run in self.runs],
        }


@dataclass(frozen=True, slots=True)
class Evolution:
    """The acts, in the order in which they are to be done. `on_trial` are items in use whose first
    uses have not spoken yet; `waiting` those that are not in use until they have proven
    themselves. An act that was found and may not be done this time is counted in `left`."""

    acts: tuple[Act, ...]
    on_trial: tuple[UUID, ...] = ()
    waiting: tuple[UUID, ...] = ()
    left: int = 0
    disagreements: Mapping[UUID, float] = field(default_factory=dict)
    indistinguishable: tuple[tuple[UUID, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "acts": [act.to_json() for act in self.acts],
            "on_trial": [str(item) for item in self.on_trial],
            "waiting": [str(item) for item in self.waiting],
            "left": self.left,
            "handbook": {
                "to_split": {str(item): value for item, value in self.disagreements.items()},
                "to_merge": [[str(item) for item in group] for group in self.indistinguishable],
            },
        }


def _json(written: Written) -> dict[str, Any]:
    return {
        "title": written.title,
        "body": fields_of(written.body),
        "task_type": written.task_type,
    }
