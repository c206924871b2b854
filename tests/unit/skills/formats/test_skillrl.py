"""SkillRL banks in and out without loss."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memserver.domain.items import Kind, RuleBody, SkillBody, SkillStep
from memserver_skills.agent_skills import BadSkill
from memserver_skills.incoming import Incoming
from memserver_skills.skillrl import read_bank, write_bank

PUBLISHED = Path(__file__).resolve().parents[5] / "shared" / "data" / "alfworld_skills.json"


def skill(number: int, **more: Any) -> dict[str, Any]:
    return {
        "skill_id": f"gen_{number:03}",
        "title": f"Look {number}",
        "principle": f"Look at place {number} once.",
        "when_to_apply": "at first",
        **more,
    }


BANK: dict[str, Any] = {
    "general_skills": [skill(2), skill(1, tags=["x"])],
    "task_specific_skills": {"heat": [skill(1, skill_id="hea_001")], "cool": []},
    "common_mistakes": [
        {
            "mistake_id": "err_001",
            "description": "It goes in circles.",
            "why_it_happens": "It keeps no map.",
            "how_to_avoid": "Keep one.",
        }
    ],
    "metadata": {"total_memories_analyzed": 3},
}


def test_a_bank_comes_out_as_it_went_in() -> None:
    assert write_bank(read_bank(BANK)) == BANK


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published bank is not on this machine")
def test_the_published_bank_comes_out_as_it_went_in() -> None:
    bank = json.loads(PUBLISHED.read_text())

    assert len(read_bank(bank)) == 55
    assert write_bank(read_bank(bank)) == bank


def test_entries_become_skills_and_rules_that_say_what_they_said() -> None:
    first, _, heat, mistake = read_bank(BANK)

    assert first.body == SkillBody(when="at first", text="Look at place 2 once.", form="document")
    assert (heat.kind, heat.task_type, heat.where) == (Kind.SKILL, "heat", "hea_001")
    assert mistake.body == RuleBody(text="It goes in circles.\nIt keeps no map.\nKeep one.")


def test_an_entry_that_was_rewritten_says_what_it_says_now_under_its_id() -> None:
    first, *others = read_bank(BANK)
    first = replace(first, body=SkillBody(when="always", text="Look twice."))

    assert write_bank([first, *others])["general_skills"][0] == {
        "skill_id": "gen_002",
        "title": "Look 2",
        "principle": "Look twice.",
        "when_to_apply": "always",
    }


def test_skills_of_our_own_join_the_bank_under_ids_of_their_own() -> None:
    workflow = Incoming("", Kind.SKILL, "Fry", SkillBody("hungry", (SkillStep("add oil"),)))
    ids = [one["skill_id"] for one in write_bank([workflow, *read_bank(BANK)])["general_skills"]]
    [made] = [s for s in write_bank([workflow])["general_skills"] if s["title"] == "Fry"]

    assert ids[:2] == ["gen_002", "gen_001"]
    assert len(set(ids)) == 3
    assert made["principle"] == "1. add oil"


@pytest.mark.parametrize(
    "broken",
    [
        [],
        {"skills": []},
        {"general_skills": {}},
        {"general_skills": ["x"]},
        {"general_skills": [{"title": "x"}]},
        {"general_skills": [skill(1, when_to_apply=3)]},
        {"task_specific_skills": []},
        {"common_mistakes": [{"how_to_avoid": "x"}]},
    ],
)
def test_what_is_no_bank_is_refused(broken: object) -> None:
    with pytest.raises(BadSkill):
        read_bank(broken)
