"""Replacements that somebody else words, such as a chat model. Nothing in one is believed: what can
be worked out is not taken from it, and the verifier judges the rest as it judges the rules'."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from memserver.domain.items import Body, Kind, RuleBody, SkillBody, SkillStep, Slot, TextBody
from memserver_skills.abstracting import ALIKE
from memserver_skills.inspecting import Inspecting
from memserver_skills.pieces import Piece, piece_of
from memserver_skills.plans import Rated, Replacement, Rule
from memserver_skills.procedures import Binding, fits, steps_of
from memserver_skills.replacing import MOST_REASONS, Worded, replacement_of
from memserver_skills.verify import verify
from memserver_skills.words import SLOT, one_line, slot_type, template_words

LONGEST_TITLE = 200
MOST_SLOTS = 6
"""How the words of a step fall to its slots takes time that grows by a power with each slot."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Texts have `text` and, as rules, `when`; skills have `goal` (one a line) and `steps`, with
    a {slot} where what they stand for differs."""

    replaces: tuple[UUID, ...]
    kind: str
    title: str = ""
    text: str = ""
    when: str = ""
    goal: str = ""
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """The replacements that may be made of drafts, and what is wrong with the other drafts."""

    made: tuple[Replacement, ...] = ()
    reasons: tuple[str, ...] = ()


Judge = Callable[[Sequence[Draft]], Judged]


@dataclass(frozen=True, slots=True)
class Proposal:
    """`reason` says why there are no drafts; `ends` that there will be none for other regions."""

    drafts: tuple[Draft, ...] = ()
    reason: str | None = None
    ends: bool = False


class Proposer(Protocol):
    """Whoever words what is to stand for a region."""

    def wants(self, region: Sequence[Rated]) -> bool:
        """Whether it is worth being asked about this one."""

    def propose(self, region: Sequence[Rated], inspecting: Inspecting, *, judge: Judge) -> Proposal:
        """Drafts for the region, looked up through `inspecting` and no other way; `judge` says
        what would come of them. Raises `BudgetSpent`."""


class _Unfit(Exception):
    """A draft that no verifier needs to see, with the reason."""


def judged(
    drafts: Sequence[Draft],
    region: Sequence[Rated],
    *,
    merged: Mapping[UUID, Sequence[Rated]],
    longest: int,
) -> Judged:
    """`merged` has the items that a member of the region stands for already: a replacement must
    say what they say as well. Each member is replaced once, by the first draft that passes."""
    members = {one.item: one for one in region}
    made: list[Replacement] = []
    reasons: list[str] = []
    for draft in drafts:
        try:
            taken = _taken(draft, members)
            everyone = [one for own in taken for one in (own, *merged.get(own.item, ()))]
            worded = _worded(draft, everyone, longest=longest)
        except _Unfit as unfit:
            reasons.append(str(unfit))
            continue
        piece = Piece("replacement", worded.title, worded.body, worded.values)
        verdict = verify([piece_of(one.entry) for one in everyone], [piece])
        if verdict.passes:
            made.append(replacement_of(everyone, worded))
            for one in taken:
                del members[one.item]
        else:
            reasons += map(str, verdict.reasons[:MOST_REASONS])
    return Judged(tuple(made), tuple(reasons[:MOST_REASONS]))


def _taken(draft: Draft, members: Mapping[UUID, Rated]) -> list[Rated]:
    wanted = dict.fromkeys(draft.replaces)
    if any(item not in members for item in wanted):
        raise _Unfit("it replaces what is not in the region, or is replaced already")
    if len(wanted) < 2:
        raise _Unfit("it replaces fewer than two items")
    taken = [members[item] for item in wanted]
    kinds = {one.entry.item.kind for one in taken}
    if kinds != {draft.kind}:
        raise _Unfit(f"it is of another kind than what it replaces: {draft.kind[:40]}")
    return taken


def _worded(draft: Draft, members: Sequence[Rated], *, longest: int) -> Worded:
    first = members[0].entry
    if first.item.kind is Kind.SKILL:
        return _skill(draft, members, longest=longest)
    if len(draft.text) + len(draft.when) > longest:
        raise _Unfit(f"it has more than {longest} characters")
    body: Body
    match first.version.body:
        case RuleBody():
            body = RuleBody(draft.text.strip(), draft.when.strip())
        case TextBody():
            body = TextBody(draft.text.strip())
        case _:
            raise _Unfit("items of this kind are not worded anew")
    title = one_line(draft.title) or first.version.title
    return Worded(title[:LONGEST_TITLE], body, Rule.WORDED, {})


def _skill(draft: Draft, members: Sequence[Rated], *, longest: int) -> Worded:
    """Of a skill only goals and steps are somebody's words. What its slots stand for, what is
    expected of a step and when it is for are worked out from what it replaces."""
    goals = [one_line(line) for line in draft.goal.splitlines() if line.strip()]
    steps = [one_line(step) for step in draft.steps if step.strip()]
    if not goals or not steps:
        raise _Unfit("a skill has a goal and steps")
    if sum(map(len, (*goals, *steps))) > longest:
        raise _Unfit(f"it has more than {longest} characters")
    bodies = [_skill_body(one) for one in members]
    if any(len(body.steps) != len(steps) for body in bodies):
        raise _Unfit("it has not as many steps as each skill that it replaces")
    if len(set(SLOT.findall("\n".join((*goals, *steps))))) > MOST_SLOTS:
        raise _Unfit(f"it has more than {MOST_SLOTS} slots")
    if any(_literal(steps) < ALIKE * _literal(_actions(body)) for body in bodies):
        raise _Unfit("less than half of the words of its steps are no slots")
    expected = [_expected(bodies, place) for place in range(len(steps))]
    general = SkillBody(
        when=goals[0],
        steps=tuple(map(SkillStep, steps, expected)),
        goal="\n".join(goals),
        form=bodies[0].form,
    )
    values = _values(members, general)
    _check_goals(goals, values)
    slots = tuple(Slot(name, _type(name, bodies), _example(said)) for name, said in values.items())
    body = SkillBody(general.when, general.steps, slots, general.goal, general.form)
    kept = {name: tuple(sorted(said)) for name, said in values.items()}
    return Worded(goals[0][:LONGEST_TITLE], body, Rule.WORDED, kept)


def _skill_body(rated: Rated) -> SkillBody:
    body = rated.entry.version.body
    assert isinstance(body, SkillBody), "a skill has a skill's body"
    return body


def _expected(bodies: Sequence[SkillBody], place: int) -> str:
    said = {body.steps[place].expect for body in bodies}
    if len(said) > 1:
        raise _Unfit(f"omitted: what is expected of step {place + 1}, which differs")
    return said.pop()


def _values(members: Sequence[Rated], general: SkillBody) -> dict[str, list[str]]:
    """What each slot of the draft stands for in each of the members, in their own words. Slots
    that fit nowhere have none, and the verifier has its say about them."""
    names = dict.fromkeys(SLOT.findall("\n".join((general.goal, *_actions(general)))))
    values: dict[str, list[str]] = {name: [] for name in names}
    for one in members:
        known = piece_of(one.entry).values
        body = _skill_body(one)
        examples = {slot.name: (slot.example,) for slot in body.slots if slot.example}
        for slot, said in _binding(body, general).items():
            name = slot.strip("{}")
            text = " ".join(said)
            own = SLOT.fullmatch(text)
            more = (
                (text,)
                if own is None
                else (*known.get(own.group(1), ()), *examples.get(own.group(1), ()))
            )
            values[name] = list(dict.fromkeys([*values[name], *more]))
    return values


def _check_goals(goals: Sequence[str], values: Mapping[str, Sequence[str]]) -> None:
    """With one goal a slot that it does not name is open, as it is with the rules. With several,
    whoever has one of them would be shown what belongs to another."""
    if len(goals) < 2:
        return
    for goal in goals:
        named = SLOT.findall(goal)
        for slot, said in values.items():
            if len(said) > 1 and slot not in named:
                raise _Unfit(f"omitted: what {{{slot}}} stands for where the goal is: {goal[:120]}")


def _binding(body: SkillBody, general: SkillBody) -> Binding:
    """By the words as written where these fit, so that a value is shown as somebody wrote it."""
    as_written = fits(_written(body), _written(general))
    found = as_written or fits(steps_of(body), steps_of(general))
    return {} if found is None else found.binding


def _written(body: SkillBody) -> list[tuple[str, ...]]:
    return [tuple(word.form for word in template_words(action)) for action in _actions(body)]


def _actions(body: SkillBody) -> list[str]:
    return [step.action for step in body.steps]


def _type(name: str, bodies: Sequence[SkillBody]) -> str:
    known = (slot.type for body in bodies for slot in body.slots if slot.name == name)
    return next(known, slot_type(name))


def _literal(steps: Sequence[str]) -> int:
    return sum(word.slot is None for step in steps for word in template_words(step))


def _example(said: Sequence[str]) -> str:
    """The one of most words: a goal is read with room for as many."""
    return max(said, key=lambda value: len(value.split()), default="")
