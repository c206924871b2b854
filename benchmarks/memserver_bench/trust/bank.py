"""The real bank that transitions are made of: rules, told mistakes, and, where the runs are at
hand, what they did as skills and what they found as facts."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memserver.domain.items import FactBody, RuleBody, SkillBody, SkillStep, TextBody
from memserver_skills.pieces import Piece

TAKEN = re.compile(r"take (?P<thing>\w+) from (?P<place>\w+)", re.IGNORECASE)
FEWEST_STEPS, MOST_SKILLS = 3, 60


def read_bank(skills: Path, runs: Path | None) -> list[Piece]:
    pieces = [*_rules(json.loads(skills.read_text()))]
    if runs is not None:
        pieces += _done(json.loads(runs.read_text()))
    return pieces


def _rules(bank: Any) -> Iterator[Piece]:
    groups = {"general": bank["general_skills"], **bank["task_specific_skills"]}
    for told in groups.values():
        for skill in told:
            body = RuleBody(text=skill["principle"], when=skill["when_to_apply"])
            yield Piece(skill["skill_id"], skill["title"], body)
    for mistake in bank["common_mistakes"]:
        text = " ".join(mistake[key] for key in ("description", "why_it_happens", "how_to_avoid"))
        yield Piece(mistake["mistake_id"], mistake["description"], TextBody(text))


def _done(runs: Sequence[Any]) -> list[Piece]:
    """Each different run that succeeded as a skill, and where each object was found as a fact."""
    skills: dict[tuple[str, ...], Piece] = {}
    facts: dict[str, Piece] = {}
    for run in runs:
        told = (run["content"]["refined_trajectory"] or {}).get("refined_trajectory") or []
        actions = tuple(step["action"].strip() for step in told if step["step_index"] >= 0)
        goal = run["content"]["task_meta"]["original_goal"].strip(" .")
        if len(actions) < FEWEST_STEPS:
            continue
        if actions not in skills and len(skills) < MOST_SKILLS:
            body = SkillBody(when="", steps=tuple(map(SkillStep, actions)), goal=goal)
            skills[actions] = Piece(run["memory_id"], goal, body)
        for action in actions:
            if found := TAKEN.fullmatch(action):
                fact = FactBody(found["thing"].lower(), "found at", found["place"].lower())
                facts.setdefault(fact.entity, Piece(f"fact_{fact.entity}", fact.entity, fact))
    return [*skills.values(), *facts.values()]
