"""The rules of writing: what becomes of a candidate where no policy and no model is asked, and what
these may not do.

They bind wherever another answer would lose something or store it twice: what was said again is
never an UPDATE or a DELETE; only a retraction ends a fact, and it ends no more than it names; a
fact has one item; recalled text and small talk are not kept; turns are all kept.
"""

from collections.abc import Callable, Sequence

from memserver.domain.items import FactBody
from memserver.domain.policy.write_features import Operation
from memserver.services.writing.candidates import (
    Candidate,
    Neighbour,
    Option,
    Ruling,
    Sort,
    about_of,
    same_value,
)
from memserver.services.writing.likeness import differences, says_no_more
from memserver_skills.near_duplicates import overlap

NEAR_COSINE = 0.9
NEAR_OVERLAP = 0.5
RELATED_COSINE = 0.5
"""From here on a text may be taken for a newer form of another one, by a policy or a model."""

ADD, DROP = Option(Operation.ADD), Option(Operation.NOOP)


def rule(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Ruling:
    """`neighbours` are of the candidate's namespace, the likeliest first."""
    if candidate.refused is not None:
        return Ruling(DROP, candidate.refused)
    return _RULES[candidate.sort](candidate, neighbours)


def is_near_duplicate(candidate: Candidate, neighbour: Neighbour) -> bool:
    """By the vectors and by the words, and saying nothing that the neighbour does not."""
    return (
        neighbour.cosine >= NEAR_COSINE
        and overlap(candidate.words.shingles, neighbour.words.shingles) >= NEAR_OVERLAP
        and says_no_more(candidate.words, neighbour.words)
    )


def _fact(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Ruling:
    told = candidate.fact
    assert told is not None, "a fact has a fact's body"
    own = _own(told, neighbours)
    if own is None or not own.active:
        twins = [
            Option(Operation.NOOP, one)
            for one in neighbours
            if one.live and one is not own and one.fact and same_value(one.fact.value, told.value)
        ]
        return Ruling(ADD, "new", (DROP, *twins))
    known = own.fact
    assert known is not None, "the item of a fact holds a fact"
    update = Option(Operation.UPDATE, own)
    if not own.live:
        return Ruling(update, "holds again", (DROP,))
    held_then_too = own.had is not None and not same_value(own.had, told.value)
    if same_value(known.value, told.value) and not held_then_too:
        return Ruling(Option(Operation.NOOP, own), "restated")
    if candidate.at < own.entry.version.valid_from:
        return Ruling(update, "earlier value", (DROP,))
    return Ruling(update, "corrected" if candidate.correction else "new value", (DROP,))


def _retraction(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Ruling:
    ended = candidate.fact
    assert ended is not None, "a retraction names a fact"
    own = _own(ended, neighbours)
    if own is None or not own.live or own.fact is None:
        return Ruling(DROP, "nothing to retract")
    if ended.value and not same_value(own.fact.value, ended.value):
        return Ruling(DROP, "another value holds")
    if candidate.at < own.entry.version.valid_from:
        return Ruling(DROP, "said anew since")
    return Ruling(Option(Operation.DELETE, own), "retracted")


def _text(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Ruling:
    alike = [one for one in neighbours if one.live and one.entry.item.kind is candidate.kind]
    for one in alike:
        if one.words.normal == candidate.words.normal:
            return Ruling(Option(Operation.NOOP, one), "restated")
    related = [
        option
        for one in alike
        if one.cosine >= RELATED_COSINE and not differences(candidate.words, one.words).any
        for option in _on(one)
    ]
    for one in alike:
        if is_near_duplicate(candidate, one):
            again = Option(Operation.NOOP, one)
            return Ruling(again, "near duplicate", (ADD, *(o for o in related if o != again)))
    return Ruling(ADD, "new", (DROP, *related))


def _on(neighbour: Neighbour) -> tuple[Option, ...]:
    """What a text may do to one that it is like. A turn stays as it was said."""
    again = Option(Operation.NOOP, neighbour)
    if neighbour.entry.version.turn is not None:
        return (again,)
    return (Option(Operation.UPDATE, neighbour), again)


def _turn(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Ruling:
    return Ruling(ADD, "turn")


_RULES: dict[Sort, Callable[[Candidate, Sequence[Neighbour]], Ruling]] = {
    Sort.FACT: _fact,
    Sort.RETRACTION: _retraction,
    Sort.TEXT: _text,
    Sort.TURN: _turn,
}


def _own(told: FactBody, neighbours: Sequence[Neighbour]) -> Neighbour | None:
    """The item of this entity and key, however they were spelt."""
    about = about_of(told)
    return next((one for one in neighbours if one.fact and about_of(one.fact) == about), None)
