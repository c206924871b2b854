"""How well a text tells what a run did: F1 of its steps, and whether they come in order."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memserver_skills.sequences import common_length

_NUMBER = re.compile(r"^\s*(?:\d+[.):]|[-*•])\s+")
_RESULT = re.compile(r"\s+(?:→|->)\s.*$")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class StepsScore:
    """`f1` over steps as a multiset; `order` is the share of the matches that a longest common
    subsequence keeps (1 where nothing matches: nothing is out of order)."""

    precision: float
    recall: float
    f1: float
    order: float

    @property
    def score(self) -> float:
        return self.f1 * self.order


def normal_line(line: str) -> str:
    """A step as compared: without list number, expected result, case and closing punctuation."""
    line = _RESULT.sub("", _NUMBER.sub("", line))
    return _SPACE.sub(" ", line).strip().rstrip(".!?").casefold()


def step_lines(text: str) -> tuple[str, ...]:
    """The numbered or bulleted lines of a rendered item, as compared."""
    return normal_lines(line for line in text.splitlines() if _NUMBER.match(line))


def normal_lines(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(normal for line in lines if (normal := normal_line(line)))


def score_steps(offered: Sequence[str], done: Sequence[str]) -> StepsScore:
    """How well the offered step lines tell what was done."""
    left, right = normal_lines(offered), normal_lines(done)
    matches = (Counter(left) & Counter(right)).total()
    if not matches:
        return StepsScore(0.0, 0.0, 0.0, 1.0)
    return StepsScore(
        precision=matches / len(left),
        recall=matches / len(right),
        f1=2 * matches / (len(left) + len(right)),
        order=common_length(left, right) / matches,
    )
