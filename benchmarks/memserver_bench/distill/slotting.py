"""A goal's own things as typed slots, by the benchmark's own rule: no arm is compared by what
another one thinks a slot is."""

import re
from collections.abc import Iterable, Mapping, Sequence

from memserver_bench.distill.runs import Run
from memserver_skills.steps_score import normal_lines

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_NUMBERED = re.compile(r"(?<!\w)([^\W\d][\w'’-]*) \d+(?!\w)")
_PLACE = frozenset({"in", "into", "on", "onto", "at", "to", "under", "from"})
_GRAMMAR = frozenset(
    "a an and are at be by first for from in into is it its of on onto or some task that the then "
    "this to under using which with you your".split()
)


def things(run: Run, heads: frozenset[str]) -> dict[str, str]:
    """Slot by word, for those words of the goal that the run's own actions speak of: neither
    grammar nor verbs. A word after a preposition of place is a `place`, others are an `object`,
    numbered in the order of the goal."""
    spoken = {word for action in run.actions for word in _words(action)}
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    before = ""
    for word in _words(run.goal):
        if word in spoken and word not in found and not (word in heads or word in _GRAMMAR):
            role = "place" if before in _PLACE else "object"
            counts[role] = counts.get(role, 0) + 1
            found[word] = f"{{{role}{counts[role]}}}"
        before = before if word in ("a", "an", "the", "some") else word
    return found


def heads_of(runs: Iterable[Run]) -> frozenset[str]:
    """The words that open actions."""
    return frozenset(
        words[0] for run in runs for action in run.actions if (words := _words(action))
    )


def slotted(lines: Sequence[str], slots: Mapping[str, str]) -> tuple[str, ...]:
    """The lines as compared, with every thing of the goal as its slot; "mug 1" is a mug."""

    def slot(found: re.Match[str]) -> str:
        return slots.get(found.group().casefold(), found.group())

    return normal_lines(_WORD.sub(slot, _NUMBERED.sub(r"\1", line)) for line in lines)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
