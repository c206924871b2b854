"""Skills that differ in a few words only become one skill, with slots where they differ."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memserver.domain.items import SkillBody, SkillStep, Slot
from memserver_skills.groups import block
from memserver_skills.inspecting import Inspecting
from memserver_skills.pieces import Piece, piece_of
from memserver_skills.plans import Rated, Refusal, Replacement, Rule
from memserver_skills.replacing import MOST_REASONS, Worded, replacement_of
from memserver_skills.verify import verify
from memserver_skills.words import SLOT, Word, forms, slot_type, template_words

FEWEST_STEPS = 2
MOST_SLOTS = 3
Values = Mapping[str, frozenset[str]]

ALIKE = 0.5
"""At least this share of the words of all steps must be the same."""
ROLES = {
    "to": "place",
    "in": "place",
    "on": "place",
    "into": "place",
    "onto": "place",
    "at": "place",
    "from": "source",
    "with": "tool",
    "using": "tool",
}


@dataclass(frozen=True, slots=True)
class Abstracted:
    replacement: Replacement
    members: tuple[Rated, ...]


@dataclass(frozen=True, slots=True)
class Abstractions:
    made: tuple[Abstracted, ...]
    refused: tuple[Refusal, ...]


def abstractions(skills: Sequence[Rated], inspecting: Inspecting) -> Abstractions:
    """Each skill is in at most one of them. Raises `BudgetSpent`."""
    by_shape: dict[Hashable, list[Rated]] = defaultdict(list)
    for rated in sorted(skills, key=lambda one: (one.entry.item.created_at, one.item)):
        body = rated.entry.version.body
        if isinstance(body, SkillBody) and len(body.steps) >= FEWEST_STEPS and body.goal:
            by_shape[_shape(rated, body)].append(rated)
    made: list[Abstracted] = []
    refused: list[Refusal] = []
    for members in by_shape.values():
        while len(members) > 1:
            first, *rest = members
            found = _grown(first, rest, inspecting)
            members = [one for one in members if one is not first]
            if found is None:
                continue
            gone, worded = found
            members = [one for one in members if one not in gone]
            piece = Piece("replacement", worded.title, worded.body, worded.values)
            verdict = verify([piece_of(one.entry) for one in gone], [piece])
            if verdict.passes:
                made.append(Abstracted(replacement_of(gone, worded), tuple(gone)))
            else:
                reasons = tuple(map(str, verdict.reasons))[:MOST_REASONS]
                refused.append(Refusal(tuple(one.item for one in gone), Rule.ABSTRACTED, reasons))
    return Abstractions(tuple(made), tuple(refused))


def _shape(rated: Rated, body: SkillBody) -> Hashable:
    """Skills of other shapes never differ in a word only: as many steps, each opened by the same
    word and of as many words, and goals of as many words."""
    steps = tuple(
        (said[0].form if said else "", len(said))
        for step in body.steps
        for said in [template_words(step.action)]
    )
    return (block(rated), steps, tuple(len(template_words(g)) for g in body.goal.splitlines()))


def _grown(
    first: Rated, rest: Sequence[Rated], inspecting: Inspecting
) -> tuple[list[Rated], Worded] | None:
    """The first skill with all that it can take in."""
    inspecting.inspect(first.item)
    body = first.entry.version.body
    assert isinstance(body, SkillBody)
    members = [first]
    general: SkillBody = body
    values: Values = _values(first)
    for other in rest:
        inspecting.inspect(other.item)
        theirs = other.entry.version.body
        assert isinstance(theirs, SkillBody)
        wider = _wider(general, values, theirs, _values(other))
        if wider is not None and _shown(other, wider, values, inspecting):
            general, values = wider
            members.append(other)
    if len(members) < 2:
        return None
    title = general.goal.splitlines()[0]
    kept = {name: tuple(sorted(held)) for name, held in values.items() if held}
    return members, Worded(title, general, Rule.ABSTRACTED, kept)


def _wider(
    general: SkillBody, values: Values, other: SkillBody, theirs: Values
) -> tuple[SkillBody, Values] | None:
    """The general skill with slots where the other one differs; None where they differ in more
    than a few words, or not in the same way throughout."""
    pairs = [
        (ours, said)
        for ours, said in zip(
            [*(step.action for step in general.steps), *general.goal.splitlines()],
            [*(step.action for step in other.steps), *other.goal.splitlines()],
            strict=True,
        )
    ]
    meaning: dict[str, str] = {}
    same = total = 0
    for ours, said in pairs:
        for one, two in zip(template_words(ours), template_words(said), strict=True):
            total += 1
            if one.form == two.form and one.slot is None:
                same += 1
                if one.form in meaning:
                    return None
            elif meaning.setdefault(one.form, two.form) != two.form:
                return None
    if same < ALIKE * total or len(set(meaning.values())) != len(meaning):
        return None
    literal = {form for form in meaning if not SLOT.fullmatch(form)}
    # A word that is kept in one place must not be taken for a slot in another one.
    kept = {
        word.form
        for ours, said in pairs
        for word, two in zip(template_words(ours), template_words(said), strict=True)
        if word.form == two.form and word.slot is None
    }
    named = _named(general, literal)
    if literal & kept or len(named) + len(general.slots) > MOST_SLOTS + len(general.slots):
        return None
    wider = _slotted(general, named)
    held: dict[str, frozenset[str]] = dict(values)
    for ours, said in meaning.items():
        found = SLOT.fullmatch(ours)
        name = found.group(1) if found else named[ours]
        slot = SLOT.fullmatch(said)
        more = theirs.get(slot.group(1), frozenset()) if slot else frozenset({said})
        held[name] = held.get(name, frozenset()) | more | (frozenset() if found else {ours})
    return wider, held


def _named(body: SkillBody, literal: set[str]) -> dict[str, str]:
    """A name for each word that becomes a slot, by what stands before it."""
    taken = {slot.name for slot in body.slots}
    names: dict[str, str] = {}
    for step in body.steps:
        # Determiners are no words here, so the preposition is next to what it is of.
        said = template_words(step.action)
        for before, word in pairwise(said):
            if word.form in literal and word.form not in names:
                names[word.form] = _free(ROLES.get(before.form, "object"), taken)
    for form in sorted(literal - set(names)):
        names[form] = _free("object", taken)
    return names


def _free(role: str, taken: set[str]) -> str:
    number = 1
    while (name := role if number == 1 else f"{role}_{number}") in taken:
        number += 1
    taken.add(name)
    return name


def _slotted(body: SkillBody, named: Mapping[str, str]) -> SkillBody:
    if not named:
        return body
    return replace(
        body,
        when=_put(body.when, named),
        steps=tuple(
            SkillStep(_put(step.action, named), _put(step.expect, named)) for step in body.steps
        ),
        slots=body.slots
        + tuple(
            Slot(name, slot_type(name), form)
            for form, name in sorted(named.items(), key=lambda pair: pair[1])
        ),
        goal="\n".join(_put(line, named) for line in body.goal.splitlines()),
    )


def _put(text: str, named: Mapping[str, str]) -> str:
    out, position = [], 0
    for word in template_words(text):
        if word.slot is None and word.form in named:
            out.append(text[position : word.start] + "{" + named[word.form] + "}")
            position = word.end
    return "".join(out) + text[position:]


def _values(rated: Rated) -> dict[str, frozenset[str]]:
    piece = piece_of(rated.entry)
    assert isinstance(piece.body, SkillBody)
    held = {slot.name: frozenset({slot.example.casefold()} - {""}) for slot in piece.body.slots}
    for name, values in piece.values.items():
        held[name] = held.get(name, frozenset()) | frozenset(values)
    return held


def _shown(
    other: Rated, wider: tuple[SkillBody, Values], before: Values, inspecting: Inspecting
) -> bool:
    """Whether the run that the skill names as its source did have the words that now become a
    slot's value. A run that is gone speaks neither way."""
    sources = other.entry.version.sources
    run = inspecting.trace(sources[0].trajectory_id) if sources else None
    if run is None:
        return True
    said = {form for step in run.steps for form in forms(step.action)} | set(forms(run.task.goal))
    new = {
        value for name, held in wider[1].items() for value in held - before.get(name, frozenset())
    }
    mine = {word for value in new for word in forms(value)} & _words(other)
    return mine <= said


def _words(rated: Rated) -> set[str]:
    body = rated.entry.version.body
    assert isinstance(body, SkillBody)
    found: set[str] = set()
    for text in (body.goal, *(step.action for step in body.steps)):
        said: Sequence[Word] = template_words(text)
        found |= {word.form for word in said if word.slot is None}
    return found
