"""Whether another wording of a text still says what the text says, as far as that can be read off
it: what it names and counts, what it denies, and what things it is about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from memserver.domain.trajectories import Trajectory
from memserver_skills.same_saying import names_in
from memserver_skills.statements import ideas
from memserver_skills.wordings import NOT
from memserver_skills.words import stems

TITLE = "title"
ACTIONS = frozenset({"do", "avoid"})
"""Fields that are actions: what they say has to be all there."""
KEPT = 0.5
"""Of the words that carry meaning so many are kept, and of the new wording's at most so many are
its own."""
DENIES = frozenset({NOT, "instead"})

MOST_RUNS = 50
MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a wording is refused: in which field, and what is wrong with it."""

    field: str
    what: str

    def __str__(self) -> str:
        return f"{self.field}: {self.what}"


def things_of(runs: Iterable[Trajectory]) -> frozenset[str]:
    """What the actions of these runs are done to and with: all that they say after their first
    word, which is the verb."""
    found: set[str] = set()
    for run, _ in zip(runs, range(MOST_RUNS), strict=False):
        for step in run.steps[:MOST_STEPS]:
            found.update(ideas(step.action)[1:])
    return frozenset(found)


def faults(
    before: Mapping[str, str], after: Mapping[str, str], *, things: frozenset[str] = frozenset()
) -> list[Fault]:
    """What is wrong with `after` as another wording of `before`, both by field; empty where
    nothing is. A title may say less than it did, and no field anything that none said."""
    whole = "\n".join(before.values())
    return [
        Fault(name, what)
        for name, text in before.items()
        for what in _of_field(name, text, after[name], whole, things)
    ]


def _of_field(
    name: str, before: str, after: str, whole: str, things: frozenset[str]
) -> Iterable[str]:
    if bool(before.strip()) != bool(after.strip()):
        yield "it is empty" if before.strip() else "it was empty"
        return
    mine, others = set(ideas(before)), set(ideas(after))
    if name != TITLE:
        yield from _named("lost", names_in(before) - names_in(after))
        yield from _named("lost", (mine & things) - others)
        if name in ACTIONS:
            yield from _named("lost", mine - others)
        if len(stems(before) & stems(after)) < KEPT * len(stems(before)):
            yield "it says too little of what was said"
    yield from _named("made up", names_in(after) - names_in(whole))
    yield from _named("made up", (others & things) - set(ideas(whole)))
    if len(stems(after) - stems(whole)) > KEPT * len(stems(after)):
        yield "it says too much that was not said"
    if bool(mine & DENIES) != bool(others & DENIES) and (name != TITLE or others & DENIES):
        yield "it denies what was not denied, or the other way round"
    elif name != TITLE:
        yield from _named("no longer denied", _denied(before) - _denied(after))
        yield from _named("denied now", _denied(after) - _denied(before))


def _named(what: str, lost: Iterable[str]) -> Iterable[str]:
    if found := sorted(lost):
        yield f"{what}: {', '.join(found)}"


def _denied(text: str) -> set[str]:
    """What stands right after each "not"."""
    said = ideas(text)
    return {then for first, then in pairwise(said) if first == NOT}
