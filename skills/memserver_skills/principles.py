"""Distils principles: short statements with triples that say why a kind of task succeeds, or fails.

After EvolveR (Wu et al. 2025, "EvolveR: Self-Evolving LLM Agents through an Experience-Driven
Lifecycle"): guiding principles of successes and cautionary ones of failures; what says the same is
merged into one, what is new is created."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from memserver.domain.items import Kind, RuleBody, Source, Status, TextBody
from memserver_skills.experience import Alike, Experience
from memserver_skills.mistakes import told_mistakes
from memserver_skills.plans import Rated
from memserver_skills.principle_scores import is_pruned
from memserver_skills.proposals import Proposal, signature
from memserver_skills.same_saying import says_the_same
from memserver_skills.sources import doing, joined
from memserver_skills.task_kinds import TaskKind, kinds_of_task
from memserver_skills.words import shorten

METHOD = "distill/principles"
NAMES = "names"
"""Under this key a version's metadata keeps the signatures that the principle is known by, those
of what was merged into it among them."""

DECISIVE = 4
ORDERS = 8
WARNINGS = 8
"""Of one kind of task at most."""
TITLE = 100
WHEN = 160
_LED = re.compile(r"^when(?:ever)?\s+", re.IGNORECASE)

Triple = tuple[str, str, str]


class Stance(StrEnum):
    GUIDING = "guiding"
    CAUTIONARY = "cautionary"


@dataclass(frozen=True, slots=True)
class Principle:
    """`names` are the signatures it is known by, its own first; `runs` how many speak for it."""

    title: str
    description: str
    triples: tuple[Triple, ...]
    stance: Stance
    names: tuple[str, ...]
    sources: tuple[Source, ...]
    task_type: str | None

    @property
    def runs(self) -> int:
        return len(self.sources)

    def with_twin(self, other: "Principle") -> "Principle":
        """This one standing for both: it keeps its words."""
        return replace(
            self,
            triples=tuple(dict.fromkeys(self.triples + other.triples)),
            names=tuple(dict.fromkeys(self.names + other.names)),
            sources=joined(self.sources, other.sources),
            task_type=self.task_type if self.task_type == other.task_type else None,
        )

    def proposal(self) -> Proposal:
        metadata: dict[str, Any] = {
            "stance": self.stance.value,
            "triples": [list(triple) for triple in self.triples],
            "runs": self.runs,
            NAMES: list(self.names),
        }
        return Proposal(
            signature=self.names[0],
            aliases=self.names[1:],
            kind=Kind.PRINCIPLE,
            title=self.title,
            body=TextBody(self.description),
            method=METHOD,
            sources=self.sources,
            task_type=self.task_type,
            metadata=metadata,
        )


def distil_principles(experience: Experience) -> list[Proposal]:
    """Principles, those that most runs speak for first. What the bank says already in other words
    is merged into what it has; what was pruned, or is about to be, is not proposed again."""
    found = [one for kind in kinds_of_task(experience.runs) for one in _of_kind(kind)]
    found += _told(experience)
    made = _into_bank(_merged(found, experience.alike), experience.bank, experience.alike)
    return [one.proposal() for one in sorted(made, key=lambda one: (-one.runs, one.names[0]))]


def _of_kind(kind: TaskKind) -> list[Principle]:
    about = shorten(kind.template, WHEN)
    decisive = [
        _principle(
            kind,
            Stance.GUIDING,
            (line, "decides", about),
            title=line,
            says=f"{line}. Runs that succeeded did so, runs that failed did not.",
            sources=doing([line], kind.good),
        )
        for line in kind.decisive[:DECISIVE]
    ]
    orders = [
        _principle(
            kind,
            Stance.GUIDING,
            (order.first, "comes before", order.then),
            title=f"{order.first} before {order.then}",
            says=f"{order.first} before {order.then}.",
            sources=doing([order.first, order.then], kind.good),
        )
        for order in kind.orders[:ORDERS]
    ]
    warnings = [
        _principle(
            kind,
            Stance.CAUTIONARY,
            (line, "fails", about),
            title=f"Do not {line}",
            says=f"do not {line}. Runs that failed did so, no run that succeeded did.",
            sources=doing([line], runs),
        )
        for line, runs in list(kind.often_wrong().items())[:WARNINGS]
    ]
    return decisive + orders + warnings


def _principle(
    kind: TaskKind,
    stance: Stance,
    triple: Triple,
    *,
    title: str,
    says: str,
    sources: tuple[Source, ...],
) -> Principle:
    return Principle(
        title=shorten(title, TITLE),
        description=f"To {shorten(kind.template, WHEN)}: {says}",
        triples=(triple,),
        stance=stance,
        # Not by the template, which is the commonest wording so far.
        names=(signature(METHOD, stance, kind.name, triple[0], triple[1], _other(triple, kind)),),
        sources=sources,
        task_type=kind.task_type,
    )


def _other(triple: Triple, kind: TaskKind) -> str:
    return "" if triple[2] == shorten(kind.template, WHEN) else triple[2]


def _told(experience: Experience) -> Iterable[Principle]:
    """The mistakes that runs were told to have made, as principles."""
    for told in told_mistakes(experience.runs):
        assert isinstance(told.body, RuleBody)
        when, text = _LED.sub("", told.body.when), told.body.text
        yield Principle(
            title=told.title,
            description=f"When: {when}\n{text}" if when else text,
            triples=((when or "a run", "fails by", text.removeprefix("Avoid: ")),),
            stance=Stance.CAUTIONARY,
            names=(signature(METHOD, "told", told.signature),),
            sources=told.sources,
            task_type=told.task_type,
        )


def _merged(found: Sequence[Principle], alike: Alike) -> list[Principle]:
    """One principle for those that say the same, in the words of the one that most runs speak
    for."""
    kept: list[Principle] = []
    for one in sorted(found, key=lambda one: (-one.runs, one.names)):
        place = next(
            (at for at, other in enumerate(kept) if _same(one, other, alike)),
            None,
        )
        if place is None:
            kept.append(one)
        else:
            kept[place] = kept[place].with_twin(one)
    return kept


def _same(one: Principle, other: Principle, alike: Alike) -> bool:
    return one.stance is other.stance and says_the_same(one.description, other.description, alike)


def _into_bank(
    found: Sequence[Principle], bank: Sequence[Rated], alike: Alike
) -> Iterable[Principle]:
    """What of them is to be written: under the names by which the bank knows them."""
    held = [one for one in bank if one.entry.item.kind is Kind.PRINCIPLE]
    by_name = {name: one for one in held for name in _names(one)}
    for principle in found:
        known = next((by_name[name] for name in principle.names if name in by_name), None)
        twin = known or next((one for one in held if _says(one, principle, alike)), None)
        if twin is None:
            yield principle
        elif _in_use(twin) and _names(twin):
            names = tuple(dict.fromkeys(principle.names + _names(twin)))
            yield replace(principle, names=names)


def _says(one: Rated, principle: Principle, alike: Alike) -> bool:
    version = one.entry.version
    stance = version.metadata.get("stance", principle.stance)
    return (
        stance == principle.stance
        and isinstance(version.body, TextBody)
        and says_the_same(version.body.text, principle.description, alike)
    )


def _names(one: Rated) -> tuple[str, ...]:
    """Empty for principles that others wrote: these stand as they are."""
    version = one.entry.version
    held = version.metadata.get(NAMES)
    if version.method != METHOD or not isinstance(held, list):
        return ()
    return tuple(name for name in held if isinstance(name, str))


def _in_use(one: Rated) -> bool:
    return one.entry.item.status is Status.ACTIVE and not is_pruned(one)
