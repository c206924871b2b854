"""The verifier of transitions: whether what is to replace a region of the bank says all that the
region said, makes nothing up, and leaves the rest as it was.

After TrustMem: coverage, preservation, faithfulness. It goes by rules: a statement is the same
where `statements` reads it the same, and what the rules cannot read as the same is refused, so
that a doubt keeps the old bank."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memserver.domain.items import (
    CaseBody,
    FactBody,
    HintBody,
    RuleBody,
    SkillBody,
    SkillStep,
    TextBody,
    normal_name,
)
from memserver_skills.pieces import Piece
from memserver_skills.procedures import Fitted, Step, fits, steps_of
from memserver_skills.statements import Claim, Clause, Unit, ideas, units, within
from memserver_skills.wordings import LIMITING
from memserver_skills.words import SLOT, shorten

QUOTED = 120
STANDS_ALONE = 6
"""A text of so many ideas needs no title to be understood."""


class Fault(StrEnum):
    OMITTED = "omitted"
    INVENTED = "invented"
    TOUCHED = "touched"


@dataclass(frozen=True, slots=True)
class Reason:
    """What is wrong: `item` names the piece (of the region where something is omitted, of the
    replacement where it is invented), `what` the words."""

    fault: Fault
    item: str
    what: str

    def __str__(self) -> str:
        return f"{self.fault}: {self.item}: {self.what}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Each share is over what was looked at, 1 where nothing is amiss."""

    coverage: float
    preservation: float
    faithfulness: float
    reasons: tuple[Reason, ...] = ()

    @property
    def passes(self) -> bool:
        return not self.reasons

    @property
    def score(self) -> float:
        return self.coverage * self.preservation * self.faithfulness


def verify(
    region: Sequence[Piece],
    replacement: Sequence[Piece],
    *,
    stays: "Stated | None" = None,
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
) -> Verdict:
    """Judges one transition. `stays` is what the rest of the bank says; `before` and `after` are
    hashes by name of what lies outside of the region."""
    old, new = Stated(region), Stated(replacement)
    covered = _looked_up(old, (new, *filter(None, [stays])), Fault.OMITTED)
    faithful = _looked_up(new, (old,), Fault.INVENTED)
    preserved = _preserved(before or {}, after or {})
    return Verdict(
        coverage=covered.share,
        preservation=preserved.share,
        faithfulness=faithful.share,
        reasons=(*covered.reasons, *faithful.reasons, *preserved.reasons),
    )


@dataclass(slots=True)
class _Found:
    looked_at: int = 0
    reasons: list[Reason] = field(default_factory=list)

    def add(self, there: bool, reason: Reason) -> None:
        self.looked_at += 1
        if not there:
            self.reasons.append(reason)

    @property
    def share(self) -> float:
        return 1 - len(self.reasons) / self.looked_at if self.looked_at else 1.0


@dataclass(frozen=True, slots=True)
class _Skill:
    piece: Piece
    body: SkillBody
    steps: tuple[Step, ...]


class Stated:
    """What pieces say, filed so that one statement is found among many. Read once, when first
    asked."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = tuple(pieces)
        self._units: list[tuple[Piece, Unit]] | None = None
        self._by_idea: dict[str, list[int]] = defaultdict(list)
        self._facts: set[tuple[str, str, str]] = set()
        self._skills: list[_Skill] = []
        self._names: set[str] = set()

    @property
    def units(self) -> list[tuple[Piece, Unit]]:
        if self._units is None:
            self._units = []
            for piece in self.pieces:
                self._file(piece)
        return self._units

    def says_fact(self, body: FactBody) -> bool:
        _ = self.units
        return _fact(body) in self._facts

    @property
    def skills(self) -> list[_Skill]:
        _ = self.units
        return self._skills

    @property
    def names(self) -> set[str]:
        """Ideas of all titles, texts, goals and steps."""
        _ = self.units
        return self._names

    def says(self, claim: Claim) -> bool:
        """Whether one unit says the claim. Whichever does holds the claim's rarest idea."""
        read = self.units
        wanted = (*claim.clauses, *claim.conditions)
        held = [self._by_idea.get(idea, ()) for clause in wanted for idea in clause.ideas]
        places = min(held, key=len, default=())
        return any(_unit_says(read[place][1], claim) for place in places)

    def _file(self, piece: Piece) -> None:
        assert self._units is not None
        self._names.update(ideas(piece.title))
        match piece.body:
            case FactBody() as body:
                self._facts.add(_fact(body))
                self._names.update(ideas(f"{body.entity} {body.key} {body.value}"))
            case SkillBody() as body:
                self._skills.append(_Skill(piece, body, steps_of(body)))
                for text in (body.goal, *(step.action for step in body.steps)):
                    self._names.update(ideas(text))
            case CaseBody() as body:
                as_skill = _case(body)
                self._skills.append(_Skill(piece, as_skill, steps_of(as_skill)))
        for unit in _units(piece):
            place = len(self._units)
            self._units.append((piece, unit))
            for claim in unit.claims:
                for clause in (*claim.clauses, *claim.conditions):
                    for idea in clause.ideas:
                        self._names.add(idea)
                        if place not in self._by_idea[idea][-1:]:
                            self._by_idea[idea].append(place)


def _looked_up(asked: Stated, among: Sequence[Stated], fault: Fault) -> _Found:
    found = _Found()
    for piece, unit in asked.units:
        for claim in unit.claims:
            there = any(stated.says(claim) for stated in among)
            found.add(there, Reason(fault, piece.name, shorten(_quoted(claim), QUOTED)))
    for piece in asked.pieces:
        if isinstance(piece.body, FactBody):
            body = piece.body
            there = any(stated.says_fact(body) for stated in among)
            found.add(there, Reason(fault, piece.name, shorten(body.line, QUOTED)))
    for skill in asked.skills:
        if fault is Fault.OMITTED:
            there = any(_says_skill(skill, other) for stated in among for other in stated.skills)
        else:
            there = any(_says_skill(other, skill, parts=True) for other in among[0].skills)
        what = _missing_steps(skill, among)
        found.add(there, Reason(fault, skill.piece.name, shorten(what, QUOTED)))
        if fault is Fault.INVENTED:
            for goal in _made_up_goals(skill, among[0].skills):
                found.add(False, Reason(fault, skill.piece.name, shorten(f"goal: {goal}", QUOTED)))
    _titles(asked, among, fault, found)
    return found


def _titles(asked: Stated, among: Sequence[Stated], fault: Fault, found: _Found) -> None:
    """No title may name what no source names; and a title may be lost only where the text says
    enough without it."""
    for piece in asked.pieces:
        said = ideas(piece.title)
        if fault is Fault.OMITTED and _size(piece) >= STANDS_ALONE:
            continue
        lost = [
            idea
            for idea in said
            if not SLOT.fullmatch(idea) and not any(idea in stated.names for stated in among)
        ]
        if said:
            what = f"the title's {', '.join(lost)}"
            found.add(not lost, Reason(fault, piece.name, shorten(what, QUOTED)))


def _size(piece: Piece) -> int:
    if isinstance(piece.body, FactBody | SkillBody | CaseBody):
        return STANDS_ALONE
    return sum(len(claim.ideas) for unit in _units(piece) for claim in unit.claims)


def _units(piece: Piece) -> tuple[Unit, ...]:
    match piece.body:
        case TextBody(text=text):
            return units(text)
        case RuleBody(text=text, when=when):
            return units(text, when)
        case HintBody(when=when, do=do, avoid=avoid):
            return (*units(do, when), *(units(f"Avoid: {avoid}", when) if avoid else ()))
        case SkillBody(when=when, goal=goal) if not goal:
            return units("", when)
        case _:
            return ()


def _unit_says(unit: Unit, claim: Claim) -> bool:
    if any(_claim_says(other, claim) for other in unit.claims):
        return True
    if claim.bound:
        return False
    # What is not bound may be said in parts, in any of the unit's statements with no condition.
    clauses = tuple(c for other in unit.claims if not other.bound for c in other.clauses)
    return bool(clauses) and _in_order(claim.clauses, clauses)


def _claim_says(other: Claim, claim: Claim) -> bool:
    """Whether `other` says the claim and puts it under no other condition."""
    ours, theirs = (*claim.clauses, *claim.conditions), (*other.clauses, *other.conditions)
    if _in_order(ours, theirs) and _same_conditions(claim, other):
        return True
    # Texts that differ in their punctuation only.
    return (
        bool(claim.ideas)
        and ideas(other.said) == ideas(claim.said)
        and len(claim.conditions) == len(other.conditions)
        and _in_order(claim.conditions, other.conditions)
    )


def _in_order(wanted: Sequence[Clause], clauses: Sequence[Clause]) -> bool:
    """Whether all wanted clauses are among the others, each once, the main ones in order."""
    free = set(range(len(clauses)))
    last = -1
    for clause in wanted:
        fitting = [
            place
            for place in sorted(free)
            if (place > last or not clause.is_main)
            and clause.markers & clauses[place].markers
            and within(clause.ideas, clauses[place].ideas)
        ]
        if not fitting:
            return False
        best = min(fitting, key=lambda place: (len(clauses[place].ideas), place))
        free.remove(best)
        if clause.is_main:
            last = best
    return True


def _same_conditions(claim: Claim, other: Claim) -> bool:
    """A condition more, on the other side, makes another statement of it."""
    extra = [clause for clause in (*other.clauses, *other.conditions) if clause.markers <= LIMITING]
    mine = [clause for clause in (*claim.clauses, *claim.conditions) if not clause.is_main]
    return all(
        any(c.markers & clause.markers and set(c.ideas) & set(clause.ideas) for c in mine)
        for clause in extra
    )


def _says_skill(skill: _Skill, other: _Skill, *, parts: bool = False) -> bool:
    """Whether `other` says all of `skill`. With `parts`, whether `other` is all said by `skill`
    (its slots standing for words of it)."""
    if parts:
        found = _general(other.steps, skill.steps)
    else:
        found = fits(skill.steps, other.steps)
    return found is not None and _values_kept(skill, other, found) and _goals(skill, other, found)


def _general(general: Sequence[Step], steps: Sequence[Step]) -> Fitted | None:
    """How each step of the general procedure is one of `steps`, in order."""
    if len(general) == len(steps):
        return fits(steps, general)
    if len(general) < len(steps):
        # All of the general one must be there: drop what it does not say.
        kept: list[Step] = []
        place = 0
        for step in steps:
            if place < len(general) and fits([step], [general[place]]) is not None:
                kept.append(step)
                place += 1
        return fits(kept, general) if place == len(general) else None
    return None


def _values_kept(skill: _Skill, other: _Skill, found: Fitted) -> bool:
    """What a slot stands for is among its values, and none of these was made up for it."""
    held = _values(other)
    mine = _values(skill)
    for slot, value in found.binding.items():
        name = slot.strip("{}")
        text = " ".join(value)
        if SLOT.fullmatch(text):
            continue
        if text not in held.get(name, set()) and text not in mine.get(name, set()):
            return False
    return True


def _values(skill: _Skill) -> dict[str, set[str]]:
    held: dict[str, set[str]] = defaultdict(set)
    for slot in skill.body.slots:
        if slot.example:
            held[slot.name].add(" ".join(ideas(slot.example)))
    for name, values in skill.piece.values.items():
        held[name].update(" ".join(ideas(value)) for value in values)
    return held


def _goals(skill: _Skill, other: _Skill, found: Fitted) -> bool:
    """Each goal of the one is a goal of the other, with its slots filled alike."""
    wanted = [ideas(line) for line in skill.body.goal.splitlines() if line.strip()]
    offered = [ideas(line) for line in other.body.goal.splitlines() if line.strip()]
    if not wanted:
        return True
    filled = [
        tuple(part for idea in goal for part in found.binding.get(idea, (idea,)))
        for goal in offered
    ]
    return all(any(goal == said for said in (*filled, *offered)) for goal in wanted)


def _made_up_goals(skill: _Skill, sources: Sequence[_Skill]) -> list[str]:
    """Goals that no source with these steps has. Those that some source has are no reason to
    believe the others."""
    had: set[tuple[str, ...]] = set()
    for other in sources:
        found = _general(skill.steps, other.steps)
        if found is None:
            continue
        theirs = {ideas(line) for line in other.body.goal.splitlines()}
        for line in skill.body.goal.splitlines():
            goal = ideas(line)
            filled = tuple(part for idea in goal for part in found.binding.get(idea, (idea,)))
            if goal in theirs or filled in theirs:
                had.add(goal)
    lines = [line for line in skill.body.goal.splitlines() if line.strip()]
    return [line for line in lines if ideas(line) not in had]


def _missing_steps(skill: _Skill, among: Sequence[Stated]) -> str:
    said = {step for stated in among[:1] for other in stated.skills for step in other.steps}
    odd = [
        step.action
        for step, read in zip(skill.body.steps, skill.steps, strict=True)
        if read not in said
    ]
    return "; ".join(odd) or "its steps in this order, for this goal"


def _case(body: CaseBody) -> SkillBody:
    return SkillBody(when="", steps=tuple(map(SkillStep, body.steps)), goal=body.goal)


def _fact(body: FactBody) -> tuple[str, str, str]:
    entity, key, value = (normal_name(text) for text in (body.entity, body.key, body.value))
    return entity, key, value


def _quoted(claim: Claim) -> str:
    conditions = ", ".join(" ".join(clause.ideas) for clause in claim.conditions)
    return f"{claim.said} (when: {conditions})" if conditions else claim.said


def _preserved(before: Mapping[str, str], after: Mapping[str, str]) -> _Found:
    found = _Found()
    for name in sorted({*before, *after}):
        same = before.get(name) == after.get(name)
        found.add(same, Reason(Fault.TOUCHED, name, "it lies outside of the region"))
    return found
