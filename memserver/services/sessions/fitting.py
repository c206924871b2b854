"""Fits parts of a text into a token budget, the most important first, and says what did not fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

Count = Callable[[str], int]

FEWEST_WORDS = 6
"""A unit that is cut to fewer words says nothing."""
ROOM_FOR_NOTE = 4
"""The note on what was left out takes at most one in so many tokens."""


@dataclass(frozen=True, slots=True)
class Part:
    """Units that belong together, in the order in which they are read. Where not all fit, the
    first stay or, with `last_first`, the last. `cuts` lets the one that no longer fits be cut."""

    name: str
    heading: str
    units: tuple[str, ...]
    last_first: bool = False
    cuts: bool = False


@dataclass(frozen=True, slots=True)
class Fitted:
    """`left_out` counts the units of each part that are not in the text, `cut` names the parts
    of which one is there in part only."""

    text: str
    tokens: int
    left_out: dict[str, int]
    cut: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What of a part is in the text: so many whole units, and one more that was cut."""

    part: Part
    whole: int = 0
    piece: str = ""

    @property
    def text(self) -> str:
        units, piece = self.part.units, [self.piece] if self.piece else []
        if self.part.last_first:
            shown = [*piece, *units[len(units) - self.whole :]]
        else:
            shown = [*units[: self.whole], *piece]
        return "\n".join([self.part.heading, *shown]) if shown else ""

    @property
    def missing(self) -> int:
        return len(self.part.units) - self.whole - bool(self.piece)


def fit(parts: Sequence[Part], *, budget: int, count: Count) -> Fitted:
    """The text of as much as fits, whose count is at most the budget whatever `count` counts.
    Where something is left out and there is room to say so, the text says what."""
    # Most is looked at twice, and to count is what takes the time.
    count = cache(count)
    kept = _chosen(parts, budget=budget, count=count)
    note = _note(kept)
    if note:
        room = count("\n\n" + note)
        if room * ROOM_FOR_NOTE <= budget:
            kept = _chosen(parts, budget=budget - room, count=count)
            note = _note(kept)
        else:
            note = ""
    text = _together(kept, note)
    if note and count(text) > budget:
        note, text = "", _together(kept, "")
    while text and count(text) > budget:
        kept = _fewer(kept)
        text = _together(kept, "")
    return Fitted(
        text=text,
        tokens=count(text) if text else 0,
        left_out={k.part.name: k.missing for k in kept if k.missing},
        cut=tuple(k.part.name for k in kept if k.piece),
    )


def _chosen(parts: Sequence[Part], *, budget: int, count: Count) -> list[_Kept]:
    """Part by part what fits, by the counts of each unit for itself."""
    kept = []
    left = budget
    for part in parts:
        units = reversed(part.units) if part.last_first else iter(part.units)
        spent = count(part.heading + "\n\n")
        whole, piece = 0, ""
        for unit in units:
            tokens = count(unit + "\n")
            if spent + tokens > left:
                piece = _cut(unit, left - spent, count) if part.cuts else ""
                break
            spent += tokens
            whole += 1
        if piece:
            spent += count(piece + "\n")
        if whole or piece:
            left -= spent
        kept.append(_Kept(part, whole, piece))
    return kept


def _cut(text: str, room: int, count: Count) -> str:
    """As many words from the beginning as fit, or nothing."""
    words = text.split(" ")
    fits, too_many = 0, len(words)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if count(" ".join(words[:middle]) + " …\n") <= room:
            fits = middle
        else:
            too_many = middle
    return " ".join(words[:fits]) + " …" if fits >= FEWEST_WORDS else ""


def _fewer(kept: list[_Kept]) -> list[_Kept]:
    """Half of what is there of the least important part that has anything. Texts put together
    may count for more than each by itself."""
    place = max(n for n, k in enumerate(kept) if k.whole or k.piece)
    last = kept[place]
    smaller = replace(last, whole=last.whole if last.piece else last.whole // 2, piece="")
    return [*kept[:place], smaller, *kept[place + 1 :]]


def _together(kept: Sequence[_Kept], note: str) -> str:
    return "\n\n".join(part for part in [*(k.text for k in kept), note] if part)


def _note(kept: Sequence[_Kept]) -> str:
    missing = [f"{k.part.name} {k.missing}" for k in kept if k.missing]
    return f"Left out for want of room: {', '.join(missing)}." if missing else ""
