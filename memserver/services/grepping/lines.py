"""Stored texts as numbered lines, and what is shown of them."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memserver.domain.sessions.events import Message, SessionEvent, ToolCall, ToolResult
from memserver.domain.trajectories import Trajectory
from memserver.services.grepping.pattern import Found, Matcher

SHOWN = 1_000
"""Characters of a line that are shown, around the match where there is one."""
LEAD = 200
MARKS = 64
"""Characters of one piece at most: nothing that is read has more marks."""
BLOCK = 32_768
JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text, its `number` counted from 1 within its part. Of a run, `part` says what
    it belongs to (`goal`, `observation`, `action`) and `step` to which step, from 0; of a session,
    which kind of event, and its number."""

    text: str
    number: int
    part: str = "text"
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A line as it is handed out: `text` begins at the character `offset` of the line, and is
    `cut` where that is not all of it."""

    text: str
    offset: int = 0
    cut: bool = False


def lines_of(text: str, part: str = "text", step: int | None = None) -> list[Line]:
    texts = text.replace("\r\n", "\n").split("\n")
    return [Line(line, number, part, step) for number, line in enumerate(texts, 1)]


def lines_of_run(run: Trajectory) -> list[Line]:
    """Goal, then what was observed and done, step by step."""
    lines = lines_of(run.task.goal, "goal")
    for number, step in enumerate(run.steps):
        for part, text in (("observation", step.observation), ("action", step.action)):
            if text:
                lines += lines_of(text, part, number)
    return lines


def lines_of_event(event: SessionEvent) -> list[Line]:
    """What was said, called or answered; nothing of the other events."""
    match event.payload:
        case Message(text=text):
            return lines_of(text, "message", event.seq)
        case ToolResult(text=text):
            return lines_of(text, "result", event.seq)
        case ToolCall(name=name, arguments=arguments):
            said = json.dumps(dict(arguments), ensure_ascii=False)
            return lines_of(f"{name} {said}", "call", event.seq)
        case _:
            return []


def matches(
    lines: Sequence[Line], matcher: Matcher, *, first: int = 0, last: int | None = None
) -> Iterator[tuple[int, Found | None]]:
    """The index of each line of [first, last) that matches, with its first match; and after about
    every `BLOCK` characters that of the last line that is done, without one."""
    for start, end in _blocks(lines, first, len(lines) if last is None else last):
        if matcher.may_occur("\n".join(line.text for line in lines[start:end])):
            for index in range(start, end):
                found = matcher.find(lines[index].text)
                if found is not None:
                    yield index, found
        yield end - 1, None


def shown(line: str, found: Found | None = None) -> Shown:
    """A line short enough to hand out. It is never cut between a character and the marks that
    belong to it."""
    if len(line) <= SHOWN:
        return Shown(line)
    start = 0 if found is None else max(0, min(found.start - LEAD, len(line) - SHOWN))
    start = _whole(line, start)
    end = _whole(line, min(start + SHOWN, len(line)))
    return Shown(line[start:end], start, cut=True)


def _blocks(lines: Sequence[Line], first: int, last: int) -> Iterator[tuple[int, int]]:
    start, size = first, 0
    for index in range(first, last):
        size += len(lines[index].text) + 1
        if size >= BLOCK:
            yield start, index + 1
            start, size = index + 1, 0
    if start < last:
        yield start, last


def _whole(line: str, at: int) -> int:
    """The nearest place before or at `at` where a character begins that stands by itself."""
    for place in range(at, max(0, at - MARKS), -1):
        if place == len(line) or not (_belongs(line[place]) or line[place - 1] == JOINERS[0]):
            return place
    return max(0, at - MARKS)


def _belongs(character: str) -> bool:
    return unicodedata.combining(character) != 0 or character in JOINERS
