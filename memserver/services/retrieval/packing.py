"""Packing: the longest prefix of the ranking that fits the token budget."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from memserver.services.retrieval.query import Candidate, Neighbour, Packed, passage

Count = Callable[[str], int]
SEPARATOR = "\n\n"


def pack(
    ranked: Sequence[tuple[Candidate, float]],
    *,
    k: int,
    budget_tokens: int | None,
    count: Count,
    length: Callable[[Candidate], int],
    around: Mapping[UUID, tuple[Neighbour, ...]],
) -> tuple[Packed, ...]:
    """The first of `ranked`, at most `k`, whose texts fit together. `length` is a candidate's
    own count, which may have been kept. `around` is what comes with some of them, and counts.

    The list is only ever cut off, never picked from, so that a rank's probability stays what
    the policy said. Where not even the first fits, it comes alone: its `brief` form where it has
    one, and what is still too long is cut at a line, then at a word.
    """
    packed: list[Packed] = []
    left = budget_tokens
    for candidate, score in ranked[:k]:
        beside = around.get(candidate.document, ())
        tokens = count(passage(candidate.text, beside)) if beside else length(candidate)
        if left is not None and tokens > left:
            if not packed and (text := _cut(candidate.brief or candidate.text, left, count)):
                packed.append(Packed(candidate, score, text, count(text), truncated=True))
            break
        packed.append(Packed(candidate, score, candidate.text, tokens, neighbours=beside))
        left = None if left is None else left - tokens
    # Texts put together may count for more than each by itself.
    while budget_tokens is not None and len(packed) > 1 and count(as_text(packed)) > budget_tokens:
        packed.pop()
    return tuple(packed)


def as_text(packed: Sequence[Packed]) -> str:
    """All that was packed as one block for a prompt."""
    return SEPARATOR.join(item.passage for item in packed)


def _cut(text: str, budget: int, count: Count) -> str:
    """The longest prefix that fits, in whole lines or, failing that, in whole words."""
    for separator in ("\n", " "):
        pieces = text.split(separator)
        low, high = 0, len(pieces)
        while low < high:
            middle = (low + high + 1) // 2
            if count(separator.join(pieces[:middle])) <= budget:
                low = middle
            else:
                high = middle - 1
        if low:
            return separator.join(pieces[:low])
    return ""
