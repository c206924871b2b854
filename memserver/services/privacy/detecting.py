"""Finds secrets and personal data in a text. In linear time, whoever wrote it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memserver.domain.ports.privacy import Looking
from memserver.services.privacy.patterns import PERSONAL, SECRETS, Family, Shape

PLACEHOLDER = re.compile(r"\[(?:SECRET|PERSONAL):[a-z_]{1,20}:[0-9a-f]{16}\]|\[redacted:[a-z_]+\]")
_SHAPES: dict[Looking, tuple[Shape, ...]] = {
    Looking(secrets=False, personal_data=False): (),
    Looking(secrets=True, personal_data=False): SECRETS,
    Looking(secrets=False, personal_data=True): PERSONAL,
    Looking(secrets=True, personal_data=True): (*SECRETS, *PERSONAL),
}
_WORDS: dict[Looking, tuple[str, ...]] = {
    looking: tuple({word: None for shape in shapes for word in shape.needs})
    for looking, shapes in _SHAPES.items()
}
_DIGITS = re.compile(r"\d\d")


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """Where something begins and ends in a text, and what it is."""

    start: int
    end: int
    tag: str
    family: Family


def find(text: str, looking: Looking) -> list[Found]:
    """In order, none within another. What stands for something that was taken out before is left
    alone."""
    shapes = _possible(text, looking)
    if not shapes:
        return []
    placeholders = _placeholders(text)
    found: list[Found] = []
    for shape in shapes:
        found = _merged(found, _of_shape(text, shape, _merged(placeholders, found)))
    return found


def _possible(text: str, looking: Looking) -> list[Shape]:
    """The shapes that the text may have: most have none, and that is to be known at once."""
    words = _WORDS[looking]
    if not words:
        return []
    lower = text.lower()
    there = {word for word in words if word in lower}
    digits = looking.personal_data and _DIGITS.search(text) is not None
    if not there and not digits:
        return []
    return [
        shape
        for shape in _SHAPES[looking]
        if (digits or not shape.digits) and (not shape.needs or not there.isdisjoint(shape.needs))
    ]


def _of_shape(text: str, shape: Shape, taken: Sequence[Found]) -> list[Found]:
    new: list[Found] = []
    at = passed = 0
    while match := shape.pattern.search(text, at):
        if shape.is_one is not None and not shape.is_one(match):
            # Not past the end of it: what begins further on may be one.
            at = match.start() + 1
            continue
        start, end = shape.span(match)
        while passed < len(taken) and taken[passed].end <= start:
            passed += 1
        if passed < len(taken) and taken[passed].start < end:
            at = max(match.start() + 1, min(taken[passed].end, match.end()))
            continue
        new.append(Found(start, end, shape.tag, shape.family))
        at = max(end, match.start() + 1)
    return new


def _placeholders(text: str) -> list[Found]:
    if "[SECRET:" not in text and "[PERSONAL:" not in text and "[redacted:" not in text:
        return []
    return [Found(*match.span(), "", Family.SECRET) for match in PLACEHOLDER.finditer(text)]


def _merged(left: list[Found], right: list[Found]) -> list[Found]:
    if not left or not right:
        return left or right
    return sorted([*left, *right])
