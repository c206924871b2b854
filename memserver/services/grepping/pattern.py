"""Patterns that take time in proportion to the text, whatever their author had in mind: RE2, which
never tries one text in two ways."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import re2

from memserver.domain.errors import InvalidPattern

PROGRAM_AT_MOST = 5_000
"""Instructions. What a character costs grows with them."""
WINDOW = 32_768
OVERLAP = 1_024
"""A longer line is searched window by window; a match is sure to be found whole where it is no
longer than this."""
SEARCHED = 4 * WINDOW
"""Characters of a line that are searched at all: more would take longer than one may wait."""

# Where a pattern says one of these, a line that matches may lie in a text that does not.
_SAYS_MORE_OF_LINES = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")


class Found(NamedTuple):
    """Where in a line a match lies, in characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as it was asked for. `literal` takes every character for itself."""

    text: str
    literal: bool = False
    ignore_case: bool = False


class Matcher:
    """Raises `InvalidPattern` for what RE2 does not read, or reads as too large a program."""

    def __init__(self, pattern: Pattern) -> None:
        self._line = _compiled(pattern)
        self._block: re2._Regexp | None = None
        if pattern.literal:
            self._block = self._line
        elif not _SAYS_MORE_OF_LINES.search(pattern.text):
            self._block = _compiled(pattern, around="(?m:{})")

    def find(self, line: str) -> Found | None:
        """The first match in a line."""
        if len(line) <= WINDOW:
            found = self._line.search(line)
            return None if found is None else Found(found.start(), found.end())
        step = WINDOW - OVERLAP
        for start in range(0, min(len(line), SEARCHED) - OVERLAP, step):
            found = self._line.search(line, start, start + WINDOW)
            if found is not None:
                return Found(found.start(), found.end())
        return None

    def may_occur(self, lines: str) -> bool:
        """False where no line of the text can match: cheaper than to try each by itself."""
        return self._block is None or self._block.search(lines) is not None


def _compiled(pattern: Pattern, *, around: str = "{}") -> "re2._Regexp":
    options = re2.Options()
    options.literal = pattern.literal
    options.case_sensitive = not pattern.ignore_case
    # What a group holds is not asked for, and would cost a slower engine.
    options.never_capture = True
    options.log_errors = False
    text = pattern.text if pattern.literal else around.format(pattern.text)
    try:
        made = re2.compile(text, options)
    except re2.error as error:
        raise InvalidPattern(_reason(error)) from None
    if max(made.programsize, made.reverseprogramsize) > PROGRAM_AT_MOST:
        raise InvalidPattern("it makes too large a program; repeat less, or less of \\p{…}")
    return made


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
