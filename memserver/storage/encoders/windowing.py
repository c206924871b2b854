"""Cuts a text that is longer than a model's limit into overlapping windows, at tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

OVERLAP_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Token:
    """Where a token lies in the text, and which word it belongs to (None where unknown)."""

    start: int
    end: int
    word: int | None


def cut(
    text: str, tokens: Sequence[Token], *, limit: int, count: Callable[[str], int]
) -> tuple[str, ...]:
    """`text` in pieces of at most `limit` tokens by `count`, each repeating the last tokens of
    the one before; together they cover every token. One piece where it fits.

    A piece ends where a word ends, unless one word alone is over the limit.
    """
    if len(tokens) <= limit:
        return (text,)
    overlap = min(OVERLAP_TOKENS, limit // 4)
    pieces: list[str] = []
    start = 0
    while True:
        stop = _end_of_word(tokens, start, min(start + limit, len(tokens)))
        piece = text[tokens[start].start : tokens[stop - 1].end]
        # A piece may tokenise to more than it did within its text, where a word was cut.
        while stop - start > 1 and count(piece) > limit:
            stop -= max(1, (stop - start) // 16)
            piece = text[tokens[start].start : tokens[stop - 1].end]
        pieces.append(piece)
        if stop >= len(tokens):
            return tuple(pieces)
        start = max(start + 1, _start_of_word(tokens, stop - overlap, stop))


def _end_of_word(tokens: Sequence[Token], start: int, stop: int) -> int:
    """The last boundary between words at or before `stop`, or `stop` if there is none."""
    if stop == len(tokens):
        return stop
    for boundary in range(stop, start, -1):
        if _differ(tokens[boundary - 1], tokens[boundary]):
            return boundary
    return stop


def _start_of_word(tokens: Sequence[Token], start: int, stop: int) -> int:
    """The first boundary between words from `start` on, or `start` if there is none."""
    for boundary in range(start, stop):
        if boundary == 0 or _differ(tokens[boundary - 1], tokens[boundary]):
            return boundary
    return start


def _differ(left: Token, right: Token) -> bool:
    return left.word is None or left.word != right.word
