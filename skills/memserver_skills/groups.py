"""Items that say the same, and what tells two items apart whatever they say."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime

from memserver.domain.evidence import Belief
from memserver.domain.items import FactBody, HintBody, Kind, RuleBody, SkillBody, TextBody
from memserver_skills.plans import Rated, Rule
from memserver_skills.procedures import steps_of
from memserver_skills.statements import ideas
from memserver_skills.words import SLOT, one_line


@dataclass(slots=True)
class Group:
    """Items that say the same. The leader stands for all, with the belief of all together."""

    leader: Rated
    belief: Belief
    followers: list[tuple[Rated, Rule, str]] = field(default_factory=list)

    def absorb(self, other: "Group", rule: Rule, reason: str) -> None:
        self.followers.append((other.leader, rule, reason))
        self.followers.extend((item, rule, reason) for item, _, _ in other.followers)
        self.belief = self.belief.plus(other.belief)

    @property
    def members(self) -> tuple[Rated, ...]:
        return (self.leader, *(item for item, _, _ in self.followers))


@dataclass(frozen=True, slots=True)
class Retired:
    """A group that a rule archives, and why."""

    group: Group
    rule: Rule
    reason: str


def standing(rated: Rated) -> tuple[float, float, datetime, int]:
    """Sorts the best believed first, then the oldest."""
    belief = rated.belief
    return (-belief.lower_bound, -belief.mean, rated.entry.item.created_at, rated.item.int)


def block(rated: Rated) -> tuple[object, int, Kind, str | None, datetime | None]:
    """Only items of one block are ever merged: one erased with its subject, or gone at its time,
    must not take another one along or live on in it."""
    item = rated.entry.item
    return (item.namespace.tenant, item.namespace.id, item.kind, item.subject, item.expires_at)


def must_match(rated: Rated) -> Hashable:
    """What two items must have equal, whatever their wording. Skills: the steps as read, slots
    renamed by order of appearance. Facts: entity, key and value."""
    body = rated.entry.version.body
    if isinstance(body, SkillBody):
        return _renamed("\n".join(" ".join(step) for step in steps_of(body)))
    if isinstance(body, FactBody):
        return (body.entity, body.key, one_line(body.value).casefold())
    return None


def as_read(rated: Rated) -> Hashable:
    """What two items have equal that say the same in other words, None where that is not told
    from one key."""
    match rated.entry.version.body:
        case SkillBody() as body:
            steps = "\n".join(" ".join(step) for step in steps_of(body))
            goals = "\n".join(" ".join(ideas(goal)) for goal in body.goal.splitlines())
            when = "" if body.goal else " ".join(ideas(body.when))
            return _renamed(f"{steps}\n\n{goals}\n\n{when}")
        case RuleBody(text=text, when=when):
            return (ideas(when), ideas(text))
        case HintBody(when=when, do=do, avoid=avoid):
            return (ideas(when), ideas(do), ideas(avoid))
        case TextBody(text=text):
            return ideas(text)
        case _:
            return None


def _renamed(steps: str) -> str:
    order: dict[str, str] = {}
    for name in SLOT.findall(steps):
        order.setdefault(name, f"{{{len(order) + 1}}}")
    return SLOT.sub(lambda found: order[found.group(1)], steps)
