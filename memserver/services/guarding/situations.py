"""What an agent is about to do and why, and the guards that speak for or against it. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memserver.domain.items import normal_name
from memserver.services.guarding.bounds import lower_bound


class Label(StrEnum):
    """How something turned out."""

    HARMFUL = "harmful"
    FINE = "fine"


class Verdict(StrEnum):
    BLOCK = "block"
    ALLOW = "allow"


class Reach(StrEnum):
    """Where a guard holds: wherever its action and intent are met, or only under one condition."""

    BROAD = "broad"
    LOCAL = "local"


SPEAKS_FOR = {Label.HARMFUL: Verdict.BLOCK, Label.FINE: Verdict.ALLOW}


@dataclass(frozen=True, slots=True)
class Situation:
    """`action` is what is to be done, `intent` what for, `belief` what the agent takes to be so,
    and `text` all of it in words. `local_to` names a place (a customer, a repository) that is
    said to be a case of its own. Empty where nothing is said."""

    action: str
    text: str
    intent: str = ""
    belief: str = ""
    local_to: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a local guard holds under: a named place, or a belief."""

    named: bool
    words: str

    def met_by(self, situation: Situation) -> bool:
        """To the letter; what means the same in other words is for who has vectors."""
        said = situation.local_to if self.named else situation.belief
        return bool(said) and normal_name(said) == normal_name(self.words)


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule that matches a situation. `successes` and `failures` are the reports that agreed
    with its verdict and that did not; a broad one has no condition."""

    item: UUID
    version: UUID
    verdict: Verdict
    condition: Condition | None
    similarity: float
    successes: float
    failures: float

    @property
    def reach(self) -> Reach:
        return Reach.BROAD if self.condition is None else Reach.LOCAL

    @property
    def bound(self) -> float:
        return lower_bound(self.successes, self.failures)

    @property
    def specificity(self) -> int:
        """A named place is more special than a belief, and that than none."""
        return 0 if self.condition is None else 1 + self.condition.named


def condition_of(situation: Situation) -> Condition | None:
    """The most special one that a situation states."""
    if situation.local_to:
        return Condition(True, situation.local_to)
    if situation.belief:
        return Condition(False, situation.belief)
    return None
