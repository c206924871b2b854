"""What may stand for a region: its leader as it is, or the leader's text with what only the
others say, whichever the verifier lets pass."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid5

from memserver.domain.items import Body, Kind, RuleBody, TextBody
from memserver_skills.groups import Group
from memserver_skills.inspecting import Inspecting
from memserver_skills.pieces import Piece, piece_of
from memserver_skills.plans import Rated, Refusal, Replacement, Rule, Settings
from memserver_skills.regions import Region
from memserver_skills.statements import Claim, claims, units
from memserver_skills.verify import Stated, Verdict, verify
from memserver_skills.wordings import ELSE, THEN

JOINABLE = (RuleBody, TextBody)
MOST_REASONS = 5
MOST_TRIED = 5
RIVALS = 0.5
"""Statements with this share of their ideas in common speak of the same."""
_SENTENCE = re.compile(r"(?<=[.;!?])\s+")


@dataclass(frozen=True, slots=True)
class Replaced:
    """What came of a region: the group as it may be merged, what replaces all of it where its
    leader does not say enough, the members that stay by themselves, and why."""

    group: Group
    replacement: Replacement | None = None
    apart: tuple[Rated, ...] = ()
    refused: tuple[Refusal, ...] = ()


def replaced(region: Region, inspecting: Inspecting, *, settings: Settings) -> Replaced:
    """The smallest replacement of the region that says all of it. Raises `BudgetSpent`."""
    members = [one for rated in region.members if (one := inspecting.inspect(rated.item))]
    leader = _sayer_of_all(members) or members[0]
    says = Stated([piece_of(leader.entry)])
    told = {one.item: (rule, reason) for one, rule, reason in region.group.followers}
    group = Group(leader, region.group.belief)
    more: list[tuple[Rated, Rule, str]] = []
    reasons: list[tuple[str, ...]] = []
    for one in members:
        if one is leader:
            continue
        rule, reason = told.get(
            one.item, (Rule.NEAR_DUPLICATE, f"all of it is said by {leader.item}")
        )
        verdict = _without(one, says)
        if verdict.passes:
            group.followers.append((one, rule, reason))
        else:
            reasons.append(tuple(map(str, verdict.reasons)))
            more.append((one, rule, reason))
    if not more:
        return Replaced(group)
    joined = _joined(leader, [one for one, _, _ in more], says, settings)
    if joined is not None:
        everyone = [leader, *(one for one, _, _ in (*group.followers, *more))]
        piece = Piece("replacement", joined.title, joined.body)
        if verify([piece_of(one.entry) for one in everyone], [piece]).passes:
            group.followers.extend((one, Rule.JOINED, reason) for one, _, reason in more)
            return Replaced(group, replacement_of(everyone, joined))
    return Replaced(
        group,
        apart=tuple(one for one, _, _ in more),
        refused=tuple(
            Refusal((one.item, leader.item), rule, reasons[n][:MOST_REASONS])
            # Those after the first are looked at again, beside it.
            for n, (one, rule, _) in enumerate(more[:1])
        ),
    )


def _sayer_of_all(members: Sequence[Rated]) -> Rated | None:
    """The best believed member that says all that the others say."""
    for one in members[:MOST_TRIED]:
        says = Stated([piece_of(one.entry)])
        if all(other is one or _without(other, says).passes for other in members):
            return one
    return None


def _without(one: Rated, says: Stated) -> Verdict:
    """Of the transition that takes one item away, with what is said elsewhere."""
    return verify([piece_of(one.entry)], (), stays=says)


@dataclass(frozen=True, slots=True)
class Worded:
    """A replacement's content, before it has an id."""

    title: str
    body: Body
    rule: Rule
    values: dict[str, tuple[str, ...]]


def replacement_of(members: Sequence[Rated], worded: Worded) -> Replacement:
    """A new item of the members' kind. Its ids follow from what it replaces, so that a plan made
    twice is the same plan."""
    first = members[0].entry
    named = "\x1f".join(sorted(str(one.version) for one in members))
    item = uuid5(first.item.namespace.tenant, f"consolidate\x1f{named}")
    types = {one.entry.version.task_type for one in members}
    return Replacement(
        item=item,
        version=uuid5(item, "1"),
        replaces=tuple(one.item for one in members),
        kind=first.item.kind,
        title=worded.title,
        body=worded.body,
        rule=worded.rule,
        valid_from=min(one.entry.version.valid_from for one in members),
        task_type=types.pop() if len(types) == 1 else None,
        subject=first.item.subject,
        expires_at=first.item.expires_at,
        values=worded.values,
    )


def _joined(
    leader: Rated, others: Sequence[Rated], says: Stated, settings: Settings
) -> Worded | None:
    """The leader's text with the sentences that only others say, each under its own condition."""
    body = leader.entry.version.body
    if not isinstance(body, JOINABLE) or leader.entry.item.kind is Kind.SKILL:
        return None
    lines = [body.text]
    for other in others:
        said = other.entry.version.body
        if not isinstance(said, JOINABLE):
            return None
        further = _only_there(said, says, under=body)
        if further is None:
            return None
        lines += further
    text = "\n".join(dict.fromkeys(lines))
    if len(text) > settings.longest:
        return None
    new: Body = RuleBody(text, body.when) if isinstance(body, RuleBody) else TextBody(text)
    return Worded(leader.entry.version.title, new, Rule.JOINED, {})


def _only_there(said: Body, says: Stated, *, under: Body) -> list[str] | None:
    """None where one says almost the same and yet something else: two statements of which one
    may be wrong belong in two items, so that outcomes can tell them apart."""
    when = said.when if isinstance(said, RuleBody) else ""
    common = under.when if isinstance(under, RuleBody) else ""
    ours = [claim for unit in units(_text(under), common) for claim in unit.claims]
    found = []
    for line in _text(said).splitlines():
        for sentence in _sentences(line):
            theirs = [claim for unit in units(sentence, when) for claim in unit.claims]
            if all(says.says(claim) for claim in theirs):
                continue
            if any(_rivals(one, other) for one in ours for other in theirs):
                return None
            label = "" if when == common else f"When: {when.rstrip('.:')}: "
            found.append(f"{label}{sentence}")
    return found


def _rivals(one: Claim, other: Claim) -> bool:
    left, right = set(one.ideas), set(other.ideas)
    return len(left & right) >= RIVALS * len(left | right)


def _sentences(line: str) -> list[str]:
    """As written, save that what follows "then" or "otherwise" stays with what is before."""
    parts: list[str] = []
    for part in _SENTENCE.split(line.strip()):
        read = claims(part)
        if parts and read and read[0].clauses[0].markers & {THEN, ELSE}:
            parts[-1] = f"{parts[-1]} {part}"
        elif part:
            parts.append(part)
    return parts


def _text(body: Body) -> str:
    assert isinstance(body, RuleBody | TextBody)
    return body.text
