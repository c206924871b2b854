"""Skill banks in the published file format of SkillRL (Xia et al. 2026): general skills, skills by
type of task, and common mistakes, in one JSON object. Read and written without loss."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from memserver.domain.items import (
    Body,
    Form,
    Kind,
    RuleBody,
    SkillBody,
    first_line,
    render,
)
from memserver_skills.agent_skills.faults import bad
from memserver_skills.incoming import Incoming
from memserver_skills.skillbank import SECTION, SKILL_ID, Section

KEPT = "skillrl"
"""Under this key an item's metadata keeps its entry as it came, and what the bank says beside its
entries."""
GENERAL, SPECIFIC, MISTAKES = "general_skills", "task_specific_skills", "common_mistakes"
LISTS = (GENERAL, SPECIFIC, MISTAKES)
LONGEST_NAME = 500
"""Of a title, or of a type of task, as everywhere."""
_PREFIX = {Section.GENERAL: "gen", Section.MISTAKE: "err"}


def read_bank(value: object) -> tuple[Incoming, ...]:
    """The bank's entries in order. Raises `BadSkill` where it is no bank."""
    if not isinstance(value, dict) or not set(LISTS) & value.keys():
        said = f"a JSON object with {GENERAL}, {SPECIFIC} or {MISTAKES} is expected"
        raise bad("bank_shape", said)
    specific = value.get(SPECIFIC, {})
    if not isinstance(specific, dict):
        raise bad("bank_shape", f"{SPECIFIC} is not a mapping of types of task to skills")
    placed = [
        *_entries(value, GENERAL, Section.GENERAL),
        *(
            entry
            for task_type in specific
            for entry in _entries(specific, task_type, Section.TASK_SPECIFIC)
        ),
        *_entries(value, MISTAKES, Section.MISTAKE),
    ]
    bank = {key: held for key, held in value.items() if key not in LISTS}
    # What a list without entries says nobody else could keep.
    empty = [task_type for task_type, held in specific.items() if not held]
    about: dict[str, Any] = {"bank": bank} | ({"empty": empty} if empty else {})
    # The first entry keeps it: as many copies as there are entries would be the larger bank.
    return tuple(
        _incoming(number, *one, about={} if number else about) for number, one in enumerate(placed)
    )


def write_bank(shelf: Iterable[Incoming]) -> dict[str, Any]:
    """What is kept as a bank, in the order in which it is given; what came from a bank goes first,
    in its order there, and is written as it came where it was not changed since."""
    general: list[Any] = []
    specific: dict[str, list[Any]] = {}
    mistakes: list[Any] = []
    bank: dict[str, Any] = {}
    taken: set[str] = set()
    for one in sorted(shelf, key=_place):
        kept = _kept(one)
        # Anybody may write metadata; a bank's own lists are made of its entries alone.
        if isinstance(held := kept.get("bank"), dict):
            bank |= {key: told for key, told in held.items() if key not in LISTS}
        if isinstance(empty := kept.get("empty"), list):
            for name in empty:
                specific.setdefault(str(name), [])
        section = _section(one)
        entry = _entry(section, one, taken)
        match section:
            case Section.GENERAL:
                general.append(entry)
            case Section.TASK_SPECIFIC:
                specific.setdefault(one.task_type or "", []).append(entry)
            case Section.MISTAKE:
                mistakes.append(entry)
    return {GENERAL: general, SPECIFIC: specific, MISTAKES: mistakes, **bank}


def _entries(
    held: Mapping[str, Any], name: str, section: Section
) -> Iterator[tuple[Section, str, dict[str, Any]]]:
    entries = held.get(name, [])
    if not isinstance(entries, list):
        raise bad("bank_shape", f"{name[:80]} is not a list")
    for number, entry in enumerate(entries):
        where = f"{name[:80]}[{number}]"
        if not isinstance(entry, dict):
            raise bad("bank_entry", f"{where} is not a JSON object", where)
        wanted = ("description",) if section is Section.MISTAKE else ("title", "principle")
        for key in wanted:
            if not isinstance(entry.get(key), str) or not entry[key].strip():
                raise bad("bank_entry", f"{where} has no {key}", where)
        for key in ("when_to_apply", "why_it_happens", "how_to_avoid", "skill_id", "mistake_id"):
            if not isinstance(entry.get(key, ""), str):
                raise bad("bank_entry", f"{key} of {where} is not a text", where)
        for named in (name, entry.get("title")):
            if isinstance(named, str) and len(named) > LONGEST_NAME:
                said = f"a title or type of task in {where} is over {LONGEST_NAME} characters"
                raise bad("bank_entry", said, where)
        yield section, name, entry


def _incoming(
    number: int, section: Section, name: str, entry: dict[str, Any], *, about: dict[str, Any]
) -> Incoming:
    title, body = _said(section, entry)
    mistake = section is Section.MISTAKE
    skill_id = entry.get("mistake_id" if mistake else "skill_id", "")
    return Incoming(
        where=str(skill_id or f"{name}[{number}]"),
        kind=Kind.RULE if mistake else Kind.SKILL,
        title=title,
        body=body,
        task_type=name if section is Section.TASK_SPECIFIC else None,
        metadata={
            SECTION: section.value,
            SKILL_ID: skill_id,
            KEPT: {"entry": entry, "place": number, **about},
        },
    )


def _said(section: Section, entry: Mapping[str, Any]) -> tuple[str, Body]:
    """An entry's title and body."""
    if section is Section.MISTAKE:
        parts = (entry.get(key, "") for key in ("description", "why_it_happens", "how_to_avoid"))
        text = "\n".join(part for part in parts if part)
        return first_line(entry["description"]), RuleBody(text=text)
    when = entry.get("when_to_apply", "")
    body = SkillBody(when=when, text=entry["principle"], form=Form.DOCUMENT.value)
    return entry["title"], body


def _section(one: Incoming) -> Section:
    if one.kind is Kind.RULE:
        return Section.MISTAKE
    return Section.GENERAL if one.task_type is None else Section.TASK_SPECIFIC


def _kept(one: Incoming) -> Mapping[str, Any]:
    kept = one.metadata.get(KEPT)
    return kept if isinstance(kept, dict) else {}


def _place(one: Incoming) -> float:
    number = _kept(one).get("place")
    return number if isinstance(number, int) else math.inf


def _entry(section: Section, one: Incoming, taken: set[str]) -> dict[str, Any]:
    came = _kept(one).get("entry")
    if isinstance(came, dict) and _still_says(section, came, one):
        taken.add(str(came.get("mistake_id", came.get("skill_id"))))
        return came
    named = one.metadata.get(SKILL_ID)
    skill_id = _free(named if isinstance(named, str) else "", section, taken)
    body = one.body
    if isinstance(body, RuleBody):
        return {"mistake_id": skill_id, "description": one.title, "how_to_avoid": body.text}
    return {
        "skill_id": skill_id,
        "title": one.title,
        "principle": _principle(body),
        "when_to_apply": body.when if isinstance(body, SkillBody) else "",
    }


def _still_says(section: Section, came: Mapping[str, Any], one: Incoming) -> bool:
    try:
        return _said(section, came) == (one.title, one.body)
    except (KeyError, TypeError, AttributeError):  # its metadata were written anew, by somebody
        return False


def _principle(body: Body) -> str:
    """The body in words, without what the entry says elsewhere."""
    if isinstance(body, SkillBody) and body.text and not body.steps:
        return body.text
    lines = render("", body).split("\n")
    return "\n".join(line for line in lines if not line.startswith("When: "))


def _free(wanted: str, section: Section, taken: set[str]) -> str:
    """The id itself where it is free, else the next of its section."""
    if wanted and wanted not in taken:
        taken.add(wanted)
        return wanted
    prefix = _PREFIX.get(section, "task")
    number = next(n for n in count(len(taken) + 1) if f"{prefix}_{n:03}" not in taken)
    taken.add(f"{prefix}_{number:03}")
    return f"{prefix}_{number:03}"


def bank_text(bank: Any) -> str:
    return json.dumps(bank, ensure_ascii=False, indent=2) + "\n"
