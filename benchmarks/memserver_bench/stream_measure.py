"""What the end of a stream is measured by: which items state a fact, and which answers are true."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memserver_bench.stream_script import About, Form, Truth


@dataclass(frozen=True, slots=True)
class Live:
    """An item that holds now: a fact has `about` and `value`, anything else only its text."""

    text: str
    about: About | None = None
    value: str = ""

    def states(self, about: About, value: str, others: "Names") -> bool:
        """Whether it says that this fact has this value."""
        if self.about is not None:
            return same(self.about, about) and normal(self.value) == normal(value)
        return others.speaks_of(self.text, about) and holds(self.text, value)


class Names:
    """Tells a text about "Ana" from one about "Ana Chen"."""

    def __init__(self, entities: Iterable[str]) -> None:
        self._longer: dict[str, list[str]] = defaultdict(list)
        names = sorted({normal(entity) for entity in entities}, key=len)
        by_word: dict[str, list[str]] = defaultdict(list)
        for name in names:
            for word in name.split():
                by_word[word].append(name)
        for name in names:
            near = by_word[name.split()[0]]
            self._longer[name] = [one for one in near if one != name and holds(one, name)]

    def speaks_of(self, text: str, about: About) -> bool:
        if not holds(text, about.entity) or not holds(text, about.attribute):
            return False
        return not any(holds(text, name) for name in self._longer[normal(about.entity)])


@dataclass
class Answers:
    """How the questions went, by the form in which the value came."""

    asked: Counter[Form] = field(default_factory=Counter)
    right: Counter[Form] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def accuracy(self, form: Form | None = None) -> float | None:
        asked = self.asked.total() if form is None else self.asked[form]
        right = self.right.total() if form is None else self.right[form]
        return round(right / asked, 4) if asked else None


def live_item(kind: str, body: Mapping[str, Any], text: str) -> Live:
    if kind != "fact":
        return Live(text)
    return Live(text, About(body["entity"], body["key"]), body["value"])


def lost_facts(truth: Truth, live: Sequence[Live]) -> list[About]:
    """True facts that no live item states."""
    facts = {(_key(item.about), normal(item.value)) for item in live if item.about is not None}
    others = [item for item in live if item.about is None]
    names = Names(about.entity for about in truth.now)
    return sorted(
        about
        for about, held in truth.now.items()
        if (_key(about), normal(held.value)) not in facts
        and not any(item.states(about, held.value, names) for item in others)
    )


_FACT = re.compile(r"^(?P<entity>.+?) · (?P<key>.+?): (?P<value>.*)$", re.MULTILINE)


def hit_item(hit: Mapping[str, Any]) -> Live:
    """A fact's text as the server renders it says all; a reply holds no bodies."""
    found = _FACT.search(hit["text"]) if hit["kind"] == "fact" else None
    if found is None:
        return Live(hit["text"])
    return Live(hit["text"], About(found["entity"], found["key"]), found["value"])


def answered(
    about: About, value: str | None, items: Sequence[Live], truth: Truth, names: Names
) -> bool:
    """Whether the first thing said about the fact is its value; of one that was taken back,
    whether none of its former values is said."""
    former = truth.former.get(about, [])
    for item in items:
        if value is not None and item.states(about, value, names):
            return True
        if any(item.states(about, old, names) for old in former):
            return False
        if item.about is not None and same(item.about, about):
            return False
    return value is None


def normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def same(one: About, other: About) -> bool:
    return _key(one) == _key(other)


def _key(about: About) -> tuple[str, str]:
    return normal(about.entity), normal(about.attribute)


def holds(text: str, words: str) -> bool:
    """Whether the words stand in the text, not only inside other words."""
    text, words = normal(text), normal(words)
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(words, at + 1)
    return False
