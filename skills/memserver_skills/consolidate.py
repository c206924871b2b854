"""The plan that keeps a bank small: what stands for what, what to archive, and why.

One function a rule, over values; nothing is changed here. Every rule stays within one namespace
and one kind, none compares all pairs, and nothing that says something is taken away before the
verifier has found what it says in what is to stand for it."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from uuid import UUID

from memserver.domain.items import Kind, SkillBody, Status
from memserver_skills.abstracting import abstractions
from memserver_skills.drafts import Proposer
from memserver_skills.facts import is_fact, superseded_facts
from memserver_skills.groups import Group, Retired, as_read, block, must_match, standing
from memserver_skills.inspecting import BudgetSpent, Inspecting, Trace
from memserver_skills.near_duplicates import Filed, Shingles, bands, overlap, shingles
from memserver_skills.offering import offered
from memserver_skills.pieces import piece_of
from memserver_skills.plans import (
    Action,
    ActionKind,
    NearDuplicates,
    Plan,
    Rated,
    Refusal,
    Replacement,
    Rule,
    Settings,
)
from memserver_skills.regions import regions
from memserver_skills.replacing import replaced
from memserver_skills.verify import Stated, verify

# Kinds in which a text that says all of another makes the other needless. A longer skill, case or
# fact is another skill, case or fact.
CONTAINABLE = frozenset({Kind.PRINCIPLE, Kind.HINT, Kind.RULE, Kind.PREFERENCE, Kind.NOTE})


def plan(
    entries: Sequence[Rated],
    *,
    near: NearDuplicates,
    now: datetime,
    settings: Settings | None = None,
    trace: Trace = lambda _: None,
    proposer: Proposer | None = None,
) -> Plan:
    """What to do with the active items among `entries`.

    Items that say the same form a group, and each group is a region with a transition of its
    own: one that the verifier refuses leaves its items as they are and keeps no other from being
    done. `trace` finds the runs that items name as their sources. `proposer` words what the rules
    leave, within the same looks, and is held to the same verifier. Deterministic but for what that
    one says, independent of the order of `entries`. Turns of conversations are no part of it:
    each is said once, by somebody, in its place.
    """
    settings = settings or Settings()
    active = [
        rated
        for rated in sorted(entries, key=lambda rated: rated.item)
        if rated.entry.item.status is Status.ACTIVE and rated.entry.version.turn is None
    ]
    made = _Making(settings, Inspecting(active, trace=trace, budget=settings.inspections))
    made.facts([rated for rated in active if is_fact(rated)])
    others = [rated for rated in active if not is_fact(rated)]
    groups = read_the_same(exact_duplicates(others))
    groups = near_duplicates(groups, near=near, settings=settings)
    rules: tuple[Callable[[Sequence[Group]], list[Retired]], ...] = (
        lambda groups: never_useful(groups, settings=settings),
        contained,
    )
    for rule in rules:
        found = rule(groups)
        made.retire(found)
        gone = {entry.group.leader.item for entry in found}
        groups = [group for group in groups if group.leader.item not in gone]
    made.merge(groups, now=now)
    done = made.plan(active)
    if proposer is None:
        return done
    return offered(done, active, proposer, made.inspecting, near=near, settings=settings)


class _Making:
    """A plan as it grows."""

    def __init__(self, settings: Settings, inspecting: Inspecting) -> None:
        self._settings = settings
        self.inspecting = inspecting
        self._actions: list[Action] = []
        self._replacements: list[Replacement] = []
        self._refused: list[Refusal] = []
        self._left = 0

    def facts(self, facts: Sequence[Rated]) -> None:
        for one in superseded_facts(facts):
            rule = Rule.EXACT_DUPLICATE if "same" in one.reason else Rule.LATER_VALUE
            self._actions.append(
                Action(ActionKind.MERGE, one.fact.item, one.by.version, one.reason, rule)
            )

    def retire(self, retired: Sequence[Retired]) -> None:
        self._actions.extend(
            Action(ActionKind.ARCHIVE, item.item, None, gone.reason, gone.rule)
            for gone in retired
            for item in gone.group.members
        )

    def merge(self, groups: Sequence[Group], *, now: datetime) -> None:
        """Regions with most to gain first; what is past the budget waits for the next time."""
        waiting = regions(groups, now=now)
        self._left = max(0, len(waiting) - self._settings.regions)
        waiting = waiting[: self._settings.regions]
        alone = [group.leader for group in groups if not group.followers]
        try:
            while waiting:
                outcome = replaced(waiting[0], self.inspecting, settings=self._settings)
                del waiting[0]
                self._refused.extend(outcome.refused)
                if outcome.replacement is None:
                    into = outcome.group.leader.version
                    if not outcome.group.followers:
                        alone.append(outcome.group.leader)
                else:
                    into = outcome.replacement.version
                    self._replacements.append(outcome.replacement)
                    reason = "what it says is in the replacement"
                    self._merge(outcome.group.leader, into, reason, Rule.JOINED)
                for one, rule, reason in outcome.group.followers:
                    self._merge(one, into, reason, rule)
                # What its leader does not stand for may still say the same among itself.
                waiting[:0] = regions(regrouped(outcome.apart), now=now)
                if len(outcome.apart) == 1:
                    alone += outcome.apart
            self._abstract(alone)
        except BudgetSpent:
            self._left += len(waiting)

    def plan(self, active: Sequence[Rated]) -> Plan:
        gone = {action.item for action in self._actions}
        return Plan(
            actions=tuple(sorted(self._actions, key=lambda action: action.item)),
            kept=tuple(sorted(rated.item for rated in active if rated.item not in gone)),
            replacements=tuple(sorted(self._replacements, key=lambda made: made.item)),
            refused=tuple(sorted(self._refused, key=lambda one: (one.items, one.rule))),
            looks=self.inspecting.looks,
            left=self._left,
        )

    def _abstract(self, skills: Sequence[Rated]) -> None:
        found = abstractions(
            [one for one in skills if isinstance(one.entry.version.body, SkillBody)],
            self.inspecting,
        )
        self._refused.extend(found.refused)
        for made in found.made:
            self._replacements.append(made.replacement)
            for one in made.members:
                reason = f"one of {len(made.members)} that differ in slots only"
                self._merge(one, made.replacement.version, reason, Rule.ABSTRACTED)

    def _merge(self, one: Rated, into: UUID, reason: str, rule: Rule) -> None:
        self._actions.append(Action(ActionKind.MERGE, one.item, into, reason, rule))


def regrouped(apart: Sequence[Rated]) -> list[Group]:
    if len(apart) < 2:
        return []
    first, *others = apart
    group = Group(first, first.belief)
    for one in others:
        reason = f"near to what {first.item} is near to"
        group.absorb(Group(one, one.belief), Rule.NEAR_DUPLICATE, reason)
    return [group]


def exact_duplicates(items: Sequence[Rated]) -> list[Group]:
    """Groups of one kind and content; the best believed leads, then the oldest."""
    groups: dict[Hashable, Group] = {}
    for rated in sorted(items, key=standing):
        name = (block(rated), rated.entry.version.content_hash)
        group = groups.get(name)
        if group is None:
            groups[name] = Group(rated, rated.belief)
        else:
            same = Group(rated, rated.belief)
            group.absorb(same, Rule.EXACT_DUPLICATE, f"same content as {group.leader.item}")
    return list(groups.values())


def read_the_same(groups: Sequence[Group]) -> list[Group]:
    """Joins groups whose leaders are one text in other words, by rules rather than likeness."""
    joined: dict[Hashable, Group] = {}
    for group in sorted(groups, key=lambda group: standing(group.leader)):
        read = as_read(group.leader)
        name = (block(group.leader), read or group.leader.item)
        known = joined.setdefault(name, group)
        if known is not group:
            known.absorb(group, Rule.NEAR_DUPLICATE, f"reads the same as {known.leader.item}")
    return list(joined.values())


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
    for group in sorted(groups, key=lambda group: standing(group.leader)):
        text = shingles(group.leader.entry.version.text)
        within = (block(group.leader), must_match(group.leader))
        under = bands(text)
        best, place = max(
            (
                (wording, -place)
                for place in filed.meets(within, under)
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
            filed.add(len(leaders), within, under)
            leaders.append(group)
            texts.append(text)
    return leaders


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
    """Texts all of whose words and word pairs are in a longer one that is believed no less, and
    that says what they say.

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
            holders[block(groups[place].leader), shingle].append(place)
    retired = []
    for place, text in texts.items():
        group = groups[place]
        candidates = min(
            (holders[block(group.leader), shingle] for shingle in text), key=len, default=[]
        )
        longer = [
            other
            for other in candidates
            if text < texts[other] and groups[other].belief.mean >= group.belief.mean
        ]
        longest_first = sorted(
            longer, key=lambda other: (-len(texts[other]), groups[other].leader.item)
        )
        for other in longest_first:
            whole = groups[other].leader
            said = [piece_of(one.entry) for one in group.members]
            if verify(said, (), stays=Stated([piece_of(whole.entry)])).passes:
                reason = f"all of it is said by {whole.item}"
                retired.append(Retired(group, Rule.SUPERSEDED, reason))
                break
    return retired


def _alike(wording: float, cosine: float | None, settings: Settings) -> bool:
    if cosine is None:
        return wording >= settings.wording_alone
    return wording >= settings.wording and cosine >= settings.cosine
