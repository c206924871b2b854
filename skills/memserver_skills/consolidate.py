"""The plan that keeps a bank small: which items to merge, which to archive, and why.

One function a rule, over values; nothing is changed here. Every rule stays within one namespace
and one kind, and none compares all pairs."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memserver.domain.evidence import Belief
from memserver.domain.items import FactBody, Kind, SkillBody, Status
from memserver_skills.near_duplicates import Filed, Shingles, bands, overlap, shingles
from memserver_skills.plans import (
    Action,
    ActionKind,
    NearDuplicates,
    Plan,
    Rated,
    Rule,
    Settings,
)
from memserver_skills.words import SLOT, one_line

# Kinds in which a text that says all of another makes the other needless. A longer skill, case or
# fact is another skill, case or fact.
CONTAINABLE = frozenset({Kind.PRINCIPLE, Kind.HINT, Kind.RULE, Kind.PREFERENCE, Kind.NOTE})


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


@dataclass(frozen=True, slots=True)
class Retired:
    """A group that a rule archives, and why."""

    group: Group
    rule: Rule
    reason: str


def plan(
    entries: Sequence[Rated],
    *,
    near: NearDuplicates,
    now: datetime,
    settings: Settings | None = None,
) -> Plan:
    """What to do with the active items among `entries`.

    Items that say the same form a group, and a group stays or goes as a whole; so planning again
    after the plan was applied gives an empty plan. Deterministic, independent of the order of
    `entries`.
    """
    settings = settings or Settings()
    active = [rated for rated in entries if rated.entry.item.status is Status.ACTIVE]
    groups = near_duplicates(exact_duplicates(active), near=near, settings=settings)
    rules: tuple[Callable[[Sequence[Group]], list[Retired]], ...] = (
        lambda groups: outdated_facts(groups, now=now),
        lambda groups: never_useful(groups, settings=settings),
        contained,
    )
    retired: list[Retired] = []
    for rule in rules:
        found = rule(groups)
        retired.extend(found)
        gone = {entry.group.leader.item for entry in found}
        groups = [group for group in groups if group.leader.item not in gone]
    return _write(groups, retired)


def exact_duplicates(items: Sequence[Rated]) -> list[Group]:
    """Groups of one kind and content; the best believed leads, then the oldest."""
    groups: dict[Hashable, Group] = {}
    for rated in sorted(items, key=_standing):
        name = (_block(rated), rated.entry.version.content_hash)
        group = groups.get(name)
        if group is None:
            groups[name] = Group(rated, rated.belief)
        else:
            same = Group(rated, rated.belief)
            group.absorb(same, Rule.EXACT_DUPLICATE, f"same content as {group.leader.item}")
    return list(groups.values())


def near_duplicates(
    groups: Sequence[Group], *, near: NearDuplicates, settings: Settings
) -> list[Group]:
    """Joins groups whose leaders say the same in almost the same words.

    Taken best believed first, each joins the leader that it overlaps with most, or leads. Only
    texts that meet in a band of their MinHash signatures are compared.
    """
    leaders: list[Group] = []
    texts: list[Shingles] = []
    filed = Filed()
    for group in sorted(groups, key=lambda group: _standing(group.leader)):
        text = shingles(group.leader.entry.version.text)
        block = (_block(group.leader), _must_match(group.leader))
        under = bands(text)
        best, place = max(
            (
                (wording, -place)
                for place in filed.meets(block, under)
                if _alike(
                    wording := overlap(text, texts[place]),
                    near(group.leader.version, leaders[place].leader.version)
                    if wording >= settings.wording
                    else None,
                    settings,
                )
            ),
            default=(0.0, 1),
        )
        if place <= 0:
            kept = leaders[-place]
            reason = f"{best:.0%} of the wording in common with {kept.leader.item}"
            kept.absorb(group, Rule.NEAR_DUPLICATE, reason)
        else:
            filed.add(len(leaders), block, under)
            leaders.append(group)
            texts.append(text)
    return leaders


def outdated_facts(groups: Sequence[Group], *, now: datetime) -> list[Retired]:
    """Facts for whose entity and key a later value is known, or whose validity has ended."""
    newest: dict[Hashable, Rated] = {}
    facts = [group for group in groups if isinstance(group.leader.entry.version.body, FactBody)]
    for group in facts:
        name = _about(group.leader)
        rival = newest.get(name)
        if rival is None or _from(group.leader) > _from(rival):
            newest[name] = group.leader
    retired = []
    for group in facts:
        ended = group.leader.entry.version.valid_to
        latest = newest[_about(group.leader)]
        if _from(latest) > _from(group.leader):
            reason = f"a later value is known: {latest.item}"
        elif ended is not None and ended <= now:
            reason = f"valid until {ended.isoformat()}"
        else:
            continue
        retired.append(Retired(group, Rule.SUPERSEDED, reason))
    return retired


def never_useful(groups: Sequence[Group], *, settings: Settings) -> list[Retired]:
    """What was tried often enough and did not help."""
    return [
        Retired(
            group,
            Rule.NEVER_USEFUL,
            f"{belief.outcomes} outcomes with a mean of {belief.mean:.2f}",
        )
        for group in groups
        if (belief := group.belief).outcomes >= settings.outcomes
        and belief.mean < settings.mean
        and belief.lower_bound < settings.lower_bound
    ]


def contained(groups: Sequence[Group]) -> list[Retired]:
    """Texts all of whose words and word pairs are in a longer one that is believed no less.

    The longer text holds the shorter one's rarest shingle, so only the texts that hold it are
    looked at.
    """
    texts = {
        place: shingles(group.leader.entry.version.text)
        for place, group in enumerate(groups)
        if group.leader.entry.item.kind in CONTAINABLE
    }
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for place, text in texts.items():
        for shingle in text:
            holders[_block(groups[place].leader), shingle].append(place)
    retired = []
    for place, text in texts.items():
        group = groups[place]
        block = _block(group.leader)
        candidates = min((holders[block, shingle] for shingle in text), key=len, default=[])
        longer = [
            other
            for other in candidates
            if text < texts[other] and groups[other].belief.mean >= group.belief.mean
        ]
        if longer:
            whole = min(longer, key=lambda other: (-len(texts[other]), groups[other].leader.item))
            reason = f"all of it is said by {groups[whole].leader.item}"
            retired.append(Retired(group, Rule.SUPERSEDED, reason))
    return retired


def _write(kept: Sequence[Group], retired: Sequence[Retired]) -> Plan:
    actions = [
        Action(ActionKind.MERGE, item.item, group.leader.version, reason, rule)
        for group in kept
        for item, rule, reason in group.followers
    ]
    actions.extend(
        Action(ActionKind.ARCHIVE, item.item, None, gone.reason, gone.rule)
        for gone in retired
        for item in (gone.group.leader, *(follower for follower, _, _ in gone.group.followers))
    )
    return Plan(
        actions=tuple(sorted(actions, key=lambda action: action.item)),
        kept=tuple(sorted(group.leader.item for group in kept)),
    )


def _standing(rated: Rated) -> tuple[float, float, datetime, int]:
    """Sorts the best believed first, then the oldest."""
    belief = rated.belief
    return (-belief.lower_bound, -belief.mean, rated.entry.item.created_at, rated.item.int)


def _block(rated: Rated) -> tuple[object, int, Kind]:
    namespace = rated.entry.item.namespace
    return (namespace.tenant, namespace.id, rated.entry.item.kind)


def _must_match(rated: Rated) -> Hashable:
    """What two items must have equal, whatever their wording. Skills: the steps, slots renamed
    by order of appearance. Facts: entity, key and value."""
    body = rated.entry.version.body
    if isinstance(body, SkillBody):
        return _renamed("\n".join(step.action for step in body.steps))
    if isinstance(body, FactBody):
        return (*_about(rated), one_line(body.value).casefold())
    return None


def _renamed(steps: str) -> str:
    order: dict[str, str] = {}
    for name in SLOT.findall(steps):
        order.setdefault(name, f"{{{len(order) + 1}}}")
    return SLOT.sub(lambda found: order[found.group(1)], steps)


def _about(rated: Rated) -> tuple[Hashable, ...]:
    body = rated.entry.version.body
    assert isinstance(body, FactBody)
    return (_block(rated), one_line(body.entity).casefold(), one_line(body.key).casefold())


def _from(rated: Rated) -> datetime:
    return rated.entry.version.valid_from


def _alike(wording: float, cosine: float | None, settings: Settings) -> bool:
    if cosine is None:
        return wording >= settings.wording_alone
    return wording >= settings.wording and cosine >= settings.cosine
