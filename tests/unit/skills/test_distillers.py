"""The registry, and the distillers on real runs."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memserver.demo.recorded import load
from memserver.domain.items import BODY_OF, SkillBody, render
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Outcome, Step, Task, Trajectory
from memserver.services.importers import IMPORTERS
from memserver_skills.distillers import DISTILLERS, USUAL
from memserver_skills.experience import Experience
from memserver_skills.grounding import ground
from memserver_skills.words import SLOT, content_words

NAMESPACE = Namespace(1, UUID(int=1), "alfworld")
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def real_runs(alfworld_runs: Path) -> list[Trajectory]:
    read = IMPORTERS["alfworld-condensed"]
    return list(read(alfworld_runs.read_bytes(), NAMESPACE, lambda: AT))


def test_the_distillers_have_names() -> None:
    assert set(USUAL) <= set(DISTILLERS)


@pytest.mark.parametrize("name", sorted(DISTILLERS))
def test_no_runs_teach_nothing(name: str) -> None:
    assert DISTILLERS[name](Experience([])) == []


@pytest.mark.parametrize("name", sorted(DISTILLERS))
def test_proposals_of_real_runs_are_well_formed(name: str, real_runs: list[Trajectory]) -> None:
    made = DISTILLERS[name](Experience(real_runs))
    ids = {run.id for run in real_runs}

    assert len({one.signature for one in made}) == len(made)
    for one in made:
        assert one.method == f"distill/{name}"
        assert isinstance(one.body, BODY_OF[one.kind])
        assert one.title.strip()
        assert render(one.title, one.body)
        assert one.sources
        assert {source.trajectory_id for source in one.sources} <= ids
    assert DISTILLERS[name](Experience(real_runs[::-1])) == made


def test_each_kind_of_household_task_gets_its_workflow(real_runs: list[Trajectory]) -> None:
    made = DISTILLERS["workflows"](Experience(real_runs))

    assert {one.task_type for one in made} == {
        "pick_and_place",
        "pick_two_obj_and_place",
        "pick_clean_then_place_in_recep",
        "pick_heat_then_place_in_recep",
        "pick_cool_then_place_in_recep",
        "look_at_obj_in_light",
    }
    assert len(made) <= 9


def test_workflows_ground_to_unseen_objects(real_runs: list[Trajectory]) -> None:
    bodies = [one.body for one in DISTILLERS["workflows"](Experience(real_runs))]
    goals = ["heat some teapot and put it in wardrobe.", "put some teapot on wardrobe."]

    for goal in goals:
        fits = [ground(body, goal) for body in bodies if isinstance(body, SkillBody)]
        [grounded] = [fit for fit in fits if fit is not None]
        steps = [step.action for step in grounded.steps]
        assert "move teapot to wardrobe" in steps
        assert ("heat teapot with microwave" in steps) == goal.startswith("heat")


def test_real_mistakes_shrink_to_common_rules(real_runs: list[Trajectory]) -> None:
    told = Counter(text for run in real_runs for text in run.mistakes)
    made = DISTILLERS["mistakes"](Experience(real_runs))

    assert 10 < len(made) < told.total() / 4
    assert all(one.metadata["runs"] >= 2 for one in made)


def test_runs_of_another_environment_ground_on_tasks_that_were_never_trained_on() -> None:
    """Nothing knows an environment: the same code on the runs that come with the package."""
    recorded = load()
    made = DISTILLERS["workflows"](Experience([_run(row) for row in recorded.training]))
    bodies = [one.body for one in made if isinstance(one.body, SkillBody)]

    fits = {
        goal: [fit for body in bodies if (fit := ground(body, goal)) is not None]
        for goal in {run["task"]["goal"] for run in recorded.held_out}
    }
    grounded = [goal for goal, found in fits.items() if found]

    assert len(grounded) >= len(fits) / 2
    for goal in grounded:
        for fit in fits[goal]:
            assert fit.steps
            assert not any(SLOT.search(step.action) for step in fit.steps)
            assert content_words(goal) & content_words(" ".join(step.action for step in fit.steps))


def _run(row: dict[str, Any]) -> Trajectory:
    task = row["task"]
    return Trajectory(
        id=UUID(row["id"]),
        namespace=NAMESPACE,
        task=Task(task["goal"], task.get("type"), template_id=task.get("template_id")),
        agent=row["agent"],
        steps=tuple(Step(step["observation"], step["action"]) for step in row["steps"]),
        outcome=Outcome(row["outcome"]["score"], row["outcome"]["success"]),
        used=None,
        created_at=AT,
    )
