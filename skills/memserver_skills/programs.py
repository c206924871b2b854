"""Lines with slots written as a Python program, and a test that replays a run with it. Nothing
that a run said is ever code: each piece of text stands in the program as its `repr`."""

import keyword
from collections.abc import Mapping, Sequence

from memserver.domain.items import Slot
from memserver_skills.words import SLOT

PROGRAM = "skill.py"
"""The name under which tests import the program."""
FUNCTION = "actions"
REPLAY = "tests/test_replay.py"


def program_of(lines: Sequence[str], slots: Sequence[Slot], *, goal: str) -> str:
    """A generator function that yields the actions. What the goal names must be given; what it
    does not has its usual value as default."""
    named = set(SLOT.findall(goal))
    used = {name for line in lines for name in SLOT.findall(line)}
    needed = [
        _identifier(slot.name)
        if slot.name in named
        else f"{_identifier(slot.name)}={slot.example!r}"
        for slot in slots
        if slot.name in named | used
    ]
    head = f"def {FUNCTION}({'*, ' if needed else ''}{', '.join(needed)}):"
    body = [f"    yield {_expression(line)}" for line in lines]
    return "\n".join([repr(f"Actions for: {goal}"), "", "", head, *body, ""])


def replay_test(values: Mapping[str, str], actions: Sequence[str], *, run: str) -> str:
    """A test that the program, given the values of a run, yields the actions of that run. `run`
    is its id."""
    given = {_identifier(name): value for name, value in sorted(values.items())}
    name = "".join(letter for letter in run if letter.isalnum())
    return "\n".join(
        [
            f"from skill import {FUNCTION}",
            "",
            "",
            f"def test_replays_run_{name}():",
            f"    taken = {list(actions)!r}",
            f"    assert list({FUNCTION}(**{given!r})) == taken",
            "",
        ]
    )


def _identifier(name: str) -> str:
    """A slot's name as a parameter: it is lower-case letters, digits and underscores already."""
    return f"{name}_" if keyword.iskeyword(name) or name == FUNCTION else name


def _expression(line: str) -> str:
    """The line with its text quoted and its slots as parameters."""
    parts: list[str] = []
    position = 0
    for found in SLOT.finditer(line):
        if text := line[position : found.start()]:
            parts.append(repr(text))
        parts.append(_identifier(found.group(1)))
        position = found.end()
    if rest := line[position:]:
        parts.append(repr(rest))
    return " + ".join(parts) if parts else repr("")
