"""Recalled text: what the server itself rendered, come back as if it were new.

Agents put what retrieve gave them into prompts, and send what they then said. Stored again, such
text would soon be most of what there is.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.items import Entry, FactBody, normal_name
from memserver.services.writing.likeness import normal_text

KEPT = 65_536
MOST_PARAGRAPHS = 64
"""Of a text with more of them only the whole is looked at."""
_PARAGRAPHS = re.compile(r"\n\s*\n")
_FACT_LINE = re.compile(r"^(?P<entity>.+?) · (?P<key>.+?)(?:: (?P<value>.*))?$")


class Handed:
    """The texts that were handed out lately, by the key that got them: nothing tells another key
    what there is to read. Bounded, in memory, and safe for use by many threads; what a restart
    forgets is known again by what the items say."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def note(self, key: UUID, texts: Sequence[str]) -> None:
        marks = [_mark(key, text) for text in texts if text]
        with self._lock:
            for mark in marks:
                self._seen[mark] = None
                self._seen.move_to_end(mark)
            while len(self._seen) > self._kept:
                self._seen.popitem(last=False)

    def knows(self, key: UUID, text: str) -> bool:
        mark = _mark(key, text)
        with self._lock:
            return mark in self._seen

    def forget(self) -> None:
        with self._lock:
            self._seen.clear()


@dataclass(frozen=True, slots=True)
class Sifted:
    """A text without what was recalled in it, and how many of its paragraphs that was."""

    rest: str
    recalled: int


def sift(text: str, is_recalled: Callable[[str], bool]) -> Sifted:
    """Drops the paragraphs that the server rendered. One that is the beginning of an item which
    itself has paragraphs is tried together with those after it, the longest run first."""
    if is_recalled(text):
        return Sifted("", 1)
    paragraphs = paragraphs_of(text)
    if len(paragraphs) < 2:
        return Sifted(text, 0)
    kept: list[str] = []
    at = 0
    while at < len(paragraphs):
        end = next(
            (
                end
                for end in range(min(len(paragraphs), at + 8), at, -1)
                if is_recalled("\n\n".join(paragraphs[at:end]))
            ),
            at,
        )
        if end == at:
            kept.append(paragraphs[at])
            end += 1
        at = end
    dropped = len(paragraphs) - len(kept)
    return Sifted("\n\n".join(kept), dropped) if dropped else Sifted(text, 0)


def paragraphs_of(text: str) -> list[str]:
    """None of them where there are too many to look at each."""
    found = [one.strip("\n") for one in _PARAGRAPHS.split(text) if one.strip()]
    return found if len(found) <= MOST_PARAGRAPHS else []


def rendered_facts(text: str) -> list[FactBody]:
    """The facts that a text would render if it were rendered of facts: nobody writes so."""
    found = []
    for line in text.splitlines():
        match = _FACT_LINE.match(line.strip())
        if match is not None and match["value"] is not None:
            found.append(FactBody(match["entity"], match["key"], match["value"]))
    return found


def renders(text: str, entry: Entry, *, part: bool) -> bool:
    """Whether this is an item's text. As a whole text only what the server alone words so counts:
    a note's is what somebody said, who may well say it again. As `part` of a longer text any does.
    """
    if normal_text(text) != normal_text(entry.version.text):
        return False
    return part or not _is_plain(entry)


def _is_plain(entry: Entry) -> bool:
    body = entry.version.body
    said = getattr(body, "text", None)
    return said is not None and normal_text(said) == normal_text(entry.version.text)


def renders_fact(text: str, told: FactBody, entry: Entry) -> bool:
    """As `renders` for one fact's own line, with or without its title above it."""
    body = entry.version.body
    return (
        isinstance(body, FactBody)
        and normal_name(body.entity) == normal_name(told.entity)
        and normal_name(body.key) == normal_name(told.key)
        and normal_text(text) in (normal_text(entry.version.text), normal_text(body.line))
    )


def _mark(key: UUID, text: str) -> bytes:
    return hashlib.sha256(key.bytes + normal_text(text).encode()).digest()[:16]
