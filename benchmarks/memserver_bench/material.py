"""Texts to remember and questions to ask: drawn from real agent runs where the data lies beside
the checkout, made up where it does not. No text and no question occurs twice."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memserver_bench.provenance import sha256_of

DATA = Path(__file__).parents[2].parent / "shared" / "data"
"""Where the data lies by default: in a folder `shared` beside the checkout."""
RUNS = "alfworld_trajectories.json"
SKILLS = "alfworld_skills.json"
PLANS = "memento_pairs_dev.jsonl"

ASKED = frozenset({"query", "case", "original_goal"})
"""Keys of the data under which questions and goals stand."""
SHORTEST, LONGEST = 25, 400
VERBS = "find clean heat cool examine open move slice count mark store compare".split()
THINGS = "mug plate lamp sponge ledger report kettle shelf drawer basket filter cable".split()
PLACES = "kitchen office garage archive laboratory garden workshop hall cellar".split()


@dataclass(frozen=True)
class Material:
    """`lines` are sentences to remember, `asked` are questions and goals. `data_sha256` is None
    where both are made up."""

    lines: tuple[str, ...]
    asked: tuple[str, ...]
    data_sha256: str | None


def material(folder: Path = DATA) -> Material:
    """What the files in the folder hold; made up where none of them is there."""
    files = [file for name in (RUNS, SKILLS, PLANS) if (file := folder / name).exists()]
    if not files:
        return Material(_made_up("{verb} the {thing} in the {place}; then {verb2} it"), (), None)
    lines: dict[str, None] = {}
    asked: dict[str, None] = {}
    for file in files:
        for key, said in _strings(_read(file)):
            if key in ASKED:
                asked[said] = None
            elif SHORTEST <= len(said) <= LONGEST and not said.startswith("{"):
                lines[said] = None
    return Material(tuple(lines), tuple(asked), sha256_of(files))


def memories(of: Material, count: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """`count` different notes and rules, as bodies of POST /v1/memories without a namespace."""
    seen: set[tuple[str, str]] = set()
    while len(seen) < count:
        about, more = rng.choice(of.lines), rng.choice(of.lines)
        if about == more or (about, more) in seen:
            continue
        seen.add((about, more))
        title = " ".join(about.split()[:8])
        yield {
            "kind": "note" if len(seen) % 2 else "rule",
            "title": title,
            "body": {"text": f"{about}\n{more}"},
        }


def questions(of: Material, rng: random.Random) -> Iterator[str]:
    """Without an end, and never the same one again: first all that was really asked, then
    questions about two lines."""
    asked = list(of.asked)
    rng.shuffle(asked)
    yield from asked
    seen: set[str] = set(asked)
    while True:
        first, second = _part(rng, of.lines), _part(rng, of.lines)
        question = f"{first} and {second}"
        if question not in seen:
            seen.add(question)
            yield question


def _part(rng: random.Random, lines: Sequence[str]) -> str:
    words = rng.choice(lines).split()
    start = rng.randrange(max(1, len(words) - 5))
    return " ".join(words[start : start + 5])


def _read(file: Path) -> Any:
    text = file.read_text()
    if file.suffix == ".jsonl":
        return [json.loads(row) for row in text.splitlines()]
    return json.loads(text)


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string in JSON, with the key that it stands under."""
    if isinstance(value, str):
        yield key, value.strip()
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)


def _made_up(pattern: str) -> tuple[str, ...]:
    return tuple(
        pattern.format(verb=verb, verb2=verb2, thing=thing, place=place)
        for verb in VERBS
        for verb2 in VERBS
        for thing in THINGS
        for place in PLACES
        if verb != verb2
    )
