"""Grep: lines of stored texts that match a pattern, with the lines around them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from memserver.domain.ports import Store
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.grepping.asked import Grep
from memserver.services.grepping.cursor import Mark, decode, encode
from memserver.services.grepping.lines import Line, Shown, matches, shown
from memserver.services.grepping.pattern import Found, Matcher
from memserver.services.grepping.texts import Corpus, Text

BUDGET_S = 5.0
"""How long one call goes on at most, but for the text of a few lines at its end."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches, and where it stands."""

    text: Text
    line: Line
    found: Found
    shown: Shown
    before: tuple[Shown, ...]
    after: tuple[Shown, ...]

    @property
    def at(self) -> datetime:
        return self.text.said_at(self.line)


@dataclass(frozen=True, slots=True)
class Grepped:
    """`truncated` says that time ran out before `limit` lines were found: `next_cursor` goes on."""

    hits: tuple[Hit, ...]
    next_cursor: str | None = None
    truncated: bool = False


@dataclass(slots=True)
class Grepping:
    """`clock` counts seconds, from wherever."""

    store: Store
    access: Access
    clock: Callable[[], float]
    budget_s: float = field(default=BUDGET_S)

    def __call__(self, scope: Scope, asked: Grep) -> Grepped:
        """In the order of storing: items, then runs, then sessions. Raises `InvalidPattern`,
        `InvalidCursor`, `NamespaceForbidden`, `NamespaceNotFound`."""
        deadline = self.clock() + self.budget_s
        matcher = Matcher(asked.pattern)
        mark = Mark() if asked.cursor is None else decode(asked.cursor)
        corpus = Corpus(self.store, scope, self.access.readable(scope, asked.namespaces), asked)
        hits: list[Hit] = []
        for text in corpus.texts(mark):
            if isinstance(text, Mark):
                if text != mark and self.clock() > deadline:
                    return Grepped(tuple(hits), encode(text), truncated=True)
                continue
            for index, found in matches(text.lines, matcher, first=text.first, last=text.last):
                if found is None:
                    if self.clock() > deadline:
                        return Grepped(tuple(hits), encode(text.mark(index)), truncated=True)
                elif _is_asked(text.said_at(text.lines[index]), asked):
                    hits.append(_hit(text, index, found, asked))
                    if len(hits) == asked.limit:
                        return Grepped(tuple(hits), encode(text.mark(index)))
        return Grepped(tuple(hits))


def _hit(text: Text, index: int, found: Found, asked: Grep) -> Hit:
    lines = text.lines
    return Hit(
        text=text,
        line=lines[index],
        found=found,
        shown=shown(lines[index].text, found),
        before=tuple(shown(one.text) for one in lines[max(0, index - asked.before) : index]),
        after=tuple(shown(one.text) for one in lines[index + 1 : index + 1 + asked.after]),
    )


def _is_asked(at: datetime, asked: Grep) -> bool:
    """Of a session's events each has a time of its own."""
    begun = asked.since is None or at >= asked.since
    return begun and (asked.until is None or at < asked.until)
