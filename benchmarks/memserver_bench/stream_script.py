"""A stream of things said, and what is true after each: facts, restatements, changes, retractions
and talk, worded by the templates of a file. The truth is kept here and never sent."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import permutations
from pathlib import Path
from string import ascii_uppercase
from typing import Any

RESTATED, UPDATED, RETRACTED, TALK = 0.60, 0.05, 0.02, 0.05
"""Shares of the writes; all others state something new."""
BY_TEXT, BY_MESSAGES = 0.5, 0.3
"""Shares of the forms in which a statement is sent; the others are sent as facts. A retraction
and talk have no form of a fact and go as text or as messages."""
SPEAKERS = ("user", "colleague", "operator")


class Form(StrEnum):
    TEXT = "text"
    MESSAGES = "messages"
    FACTS = "facts"


class Act(StrEnum):
    NEW = "new"
    RESTATED = "restated"
    UPDATED = "updated"
    RETRACTED = "retracted"
    TALK = "talk"


@dataclass(frozen=True, slots=True)
class Attribute:
    """`asked` says whether questions are put about it at the end."""

    name: str
    values: tuple[str, ...]
    asked: bool


@dataclass(frozen=True, slots=True)
class Templates:
    """What a file of the format `stream_templates.json` holds."""

    entities: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    new: tuple[str, ...]
    update: tuple[str, ...]
    retract: tuple[str, ...]
    chat: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class About:
    entity: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Write:
    """One call: `said` is the sentence, `chatter` what else is said in the same messages; `value`
    is None in a retraction, and so is `about` in talk. Writes about one thing keep their order."""

    act: Act
    form: Form
    said: str
    about: About | None = None
    value: str | None = None
    chatter: str = ""
    speaker: str = SPEAKERS[0]


@dataclass(frozen=True, slots=True)
class Held:
    """A value that is true now, and the form in which it came."""

    value: str
    form: Form


@dataclass
class Truth:
    """What is true after the writes so far. `former` are the values that were, by fact."""

    now: dict[About, Held] = field(default_factory=dict)
    retracted: dict[About, Form] = field(default_factory=dict)
    former: dict[About, list[str]] = field(default_factory=dict)

    def take(self, write: Write) -> None:
        if write.about is None:
            return
        held = self.now.get(write.about)
        if write.value is None:
            if held is not None:
                self.former.setdefault(write.about, []).append(held.value)
                del self.now[write.about]
                self.retracted[write.about] = write.form
            return
        if held is not None and held.value == write.value:
            return
        if held is not None:
            self.former.setdefault(write.about, []).append(held.value)
        self.now[write.about] = Held(write.value, write.form)
        self.retracted.pop(write.about, None)


def read_templates(file: Path) -> Templates:
    """Raises ValueError where a part is missing or has nothing in it."""
    data: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for part in ("entities", "attributes", "new", "update", "retract", "chat"):
        if not data.get(part):
            raise ValueError(f"{file} has no {part}")
    return Templates(
        entities=tuple(data["entities"]),
        attributes=tuple(
            Attribute(name, tuple(given["values"]), bool(given.get("asked", True)))
            for name, given in data["attributes"].items()
        ),
        new=tuple(data["new"]),
        update=tuple(data["update"]),
        retract=tuple(data["retract"]),
        chat=tuple(data["chat"]),
    )


def entities(templates: Templates) -> Iterator[str]:
    """The file's names, then names made of two of them, then those with an initial between;
    no end, and no name twice."""
    names = templates.entities
    yield from dict.fromkeys(names)
    for middle in ("", *(f"{letter}. " for letter in ascii_uppercase)):
        for first, last in permutations(names, 2):
            yield f"{first} {middle}{last}"
    number = 2
    while True:
        for name in names:
            yield f"{name} {number}"
        number += 1


def script(templates: Templates, writes: int, rng: random.Random) -> Iterator[Write]:
    """So many writes. Each fact is new once, whatever became of it."""
    truth = Truth()
    fresh = _facts(templates, round(writes * (1 - RESTATED - UPDATED - RETRACTED - TALK)), rng)
    # Drawn from at random and without a search; one that is no longer true is drawn again.
    stated: list[About] = []
    for _ in range(writes):
        write = _write(templates, truth, stated, fresh, rng)
        truth.take(write)
        if write.act is Act.NEW and write.about is not None:
            stated.append(write.about)
        yield write


def _facts(templates: Templates, wanted: int, rng: random.Random) -> Iterator[About]:
    """Every attribute of as many entities as it takes, in an order that mixes them."""
    named = entities(templates)
    found: list[About] = []
    while len(found) < max(wanted, 1):
        entity = next(named)
        found.extend(About(entity, attribute.name) for attribute in templates.attributes)
    rng.shuffle(found)
    yield from found
    for entity in named:
        yield from (About(entity, attribute.name) for attribute in templates.attributes)


def _write(
    templates: Templates,
    truth: Truth,
    stated: list[About],
    fresh: Iterator[About],
    rng: random.Random,
) -> Write:
    draw = rng.random()
    if draw < TALK:
        return _said(Act.TALK, rng.choice(templates.chat), rng, talk=True)
    about = _true(stated, truth, rng)
    draw -= TALK
    if about is not None and draw < RESTATED:
        held = truth.now[about]
        said = rng.choice(templates.new)
        return _worded(Act.RESTATED, templates, said, about, held.value, rng)
    draw -= RESTATED
    if about is not None and draw < UPDATED:
        others = [v for v in _values(templates, about) if v != truth.now[about].value]
        if others:
            value, said = rng.choice(others), rng.choice(templates.update)
            return _worded(Act.UPDATED, templates, said, about, value, rng)
    draw -= UPDATED
    if about is not None and 0 <= draw < RETRACTED:
        said = _fill(rng.choice(templates.retract), about, truth.now[about].value)
        return _said(Act.RETRACTED, said, rng, about=about, talk=True)
    about = next(fresh)
    value, said = rng.choice(_values(templates, about)), rng.choice(templates.new)
    return _worded(Act.NEW, templates, said, about, value, rng)


def _true(stated: list[About], truth: Truth, rng: random.Random) -> About | None:
    for _ in range(20):
        if stated and (about := rng.choice(stated)) in truth.now:
            return about
    return None


def _values(templates: Templates, about: About) -> tuple[str, ...]:
    return next(one.values for one in templates.attributes if one.name == about.attribute)


def _worded(
    act: Act,
    templates: Templates,
    template: str,
    about: About,
    value: str,
    rng: random.Random,
) -> Write:
    chatter = rng.choice(templates.chat)
    said = _fill(template, about, value)
    return _said(act, said, rng, about=about, value=value, chatter=chatter)


def _said(
    act: Act,
    said: str,
    rng: random.Random,
    *,
    about: About | None = None,
    value: str | None = None,
    chatter: str = "",
    talk: bool = False,
) -> Write:
    draw = rng.random()
    form = Form.TEXT if draw < BY_TEXT else Form.MESSAGES
    if not talk and draw >= BY_TEXT + BY_MESSAGES:
        form = Form.FACTS
    return Write(act, form, said, about, value, chatter, rng.choice(SPEAKERS))


def _fill(template: str, about: About, value: str) -> str:
    """Not by `str.format`: a template may hold other braces."""
    filled = template.replace("{entity}", about.entity).replace("{attribute}", about.attribute)
    return filled.replace("{value}", value)
