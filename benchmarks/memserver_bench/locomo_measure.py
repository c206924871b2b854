"""How well the turns that were handed out answer LoCoMo's questions: recall of the evidence, and
nDCG."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memserver_bench.locomo_data import Question


@dataclass(frozen=True, slots=True)
class Answered:
    """A question of a conversation with the turns it was given, best first: of ten asked for, and
    of twenty."""

    conversation: str
    question: Question
    ten: Sequence[str]
    twenty: Sequence[str]


def recall(question: Question, given: Sequence[str], at: int) -> float:
    """The share of its evidence among the first `at`."""
    return len(question.evidence & set(given[:at])) / len(question.evidence)


def ndcg(question: Question, given: Sequence[str], at: int) -> float:
    """Each piece of evidence gains 1, less the further down it stands."""
    gained = sum(
        1 / math.log2(place + 1)
        for place, turn in enumerate(given[:at], 1)
        if turn in question.evidence
    )
    best = sum(1 / math.log2(n + 1) for n in range(1, min(len(question.evidence), at) + 1))
    return gained / best


def figures(answered: Sequence[Answered]) -> dict[str, Any]:
    """Means over questions; by category and by conversation, recall@10 and how many there are."""
    return {
        "recall@5": _mean(answered, lambda one: recall(one.question, one.ten, 5)),
        "recall@10": _mean(answered, _recall_10),
        "recall@20": _mean(answered, lambda one: recall(one.question, one.twenty, 20)),
        "ndcg@10": _mean(answered, lambda one: ndcg(one.question, one.ten, 10)),
        "by_category": _by(answered, lambda one: str(one.question.category)),
        "by_conversation": _by(answered, lambda one: one.conversation),
        "questions": len(answered),
    }


def _recall_10(one: Answered) -> float:
    return recall(one.question, one.ten, 10)


def _by(answered: Sequence[Answered], key: Callable[[Answered], str]) -> dict[str, Any]:
    groups: dict[str, list[Answered]] = defaultdict(list)
    for one in answered:
        groups[key(one)].append(one)
    return {
        name: {"recall@10": _mean(group, _recall_10), "questions": len(group)}
        for name, group in sorted(groups.items())
    }


def _mean(answered: Sequence[Answered], of: Callable[[Answered], float]) -> float:
    return round(statistics.fmean(map(of, answered)), 4)
