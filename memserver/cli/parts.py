"""Cuts a file of runs into parts that fit a request."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

PART_BYTES = 4_000_000
PART_RUNS = 500
WHOLE_BYTES = 7_500_000


@dataclass(frozen=True, slots=True)
class Part:
    """`first_line` is the file's line that the part begins with; `end` is how many bytes of the
    file are read by then."""

    content: bytes
    first_line: int
    end: int


class NotAnArray(ValueError):
    """The file should be one JSON array, and is not."""


def line_parts(
    file: BinaryIO, *, most_bytes: int = PART_BYTES, most_lines: int = PART_RUNS
) -> Iterator[Part]:
    """Whole lines, blank ones included, so that a line's number in its part tells its number in
    the file. A longer line goes alone; parts of nothing but blank lines are left out."""
    lines: list[bytes] = []
    size = end = 0
    first = 1
    for number, line in enumerate(file, 1):
        if lines and (len(lines) == most_lines or size + len(line) > most_bytes):
            yield from _part(lines, first, end)
            lines, size, first = [], 0, number
        lines.append(line)
        size += len(line)
        end += len(line)
    yield from _part(lines, first, end)


def array_parts(
    content: bytes, *, whole: int = WHOLE_BYTES, most_bytes: int = PART_BYTES
) -> Iterator[Part]:
    """The file as it is where that fits a request, else arrays of some of its elements, one a
    line; `first_line` then counts elements. Raises `NotAnArray`."""
    if len(content) <= whole:
        yield Part(content, 1, len(content))
        return
    try:
        rows = json.loads(content)
    except ValueError as error:
        raise NotAnArray(str(error)) from error
    if not isinstance(rows, list):
        raise NotAnArray("it is no JSON array")
    waiting: list[bytes] = []
    size = sent = 0
    for row in rows:
        line = json.dumps(row, ensure_ascii=False).encode()
        if waiting and size + len(line) > most_bytes:
            yield _array(waiting, sent + 1, len(content) * (sent + len(waiting)) // len(rows))
            sent += len(waiting)
            waiting, size = [], 0
        waiting.append(line)
        size += len(line) + 2
    if waiting:
        yield _array(waiting, sent + 1, len(content))


def _part(lines: list[bytes], first: int, end: int) -> Iterator[Part]:
    if any(line.strip() for line in lines):
        yield Part(b"".join(lines), first, end)


def _array(rows: list[bytes], first: int, end: int) -> Part:
    return Part(b"[" + b",\n".join(rows) + b"]", first, end)
