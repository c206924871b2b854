"""The shape of a task: the kinds of action in their order, by which a case of one domain is like
a case of another that shares no word with it.

After APEX-EM (2026), whose structural signatures are compared by their longest common
subsequence."""

from collections.abc import Sequence
from dataclasses import dataclass

from memserver_skills.sequences import agreement
from memserver_skills.words import forms

SEMANTIC_SHARE = 0.5
"""How much of a case's score is likeness of goals; the rest is likeness of shape."""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """Both parts in [0, 1], and what they make together."""

    semantic: float
    structural: float
    score: float


def operation(action: str) -> str:
    """The kind of an action: the word that opens it."""
    spoken = forms(action)
    return spoken[0] if spoken else ""


def operations(actions: Sequence[str]) -> tuple[str, ...]:
    """The kinds of the actions in order; what has no word is left out."""
    return tuple(kind for action in actions if (kind := operation(action)))


def same_shape(left: Sequence[str], right: Sequence[str]) -> float:
    """2·LCS / (lengths) of two orders of operations, case aside; 0 where either has none."""
    if not left or not right:
        return 0.0
    return agreement([one.casefold() for one in left], [one.casefold() for one in right])


def case_score(
    semantic: float, structural: float, *, semantic_share: float = SEMANTIC_SHARE
) -> CaseScore:
    """Likeness of goals (a cosine; below 0 counts as 0) and of shapes, weighed."""
    said = min(1.0, max(0.0, semantic))
    return CaseScore(said, structural, semantic_share * said + (1 - semantic_share) * structural)
