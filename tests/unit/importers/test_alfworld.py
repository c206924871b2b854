"""The condensed ALFWorld format: real runs in full, faults by the line they begin on."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from memserver.domain.errors import InvalidImport
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Trajectory
from memserver.services.importers import IMPORTERS

NAMESPACE = Namespace(1, UUID(int=1), "demo")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def row(index: int, action: str, observation: str) -> dict[str, Any]:
    return {
        "step_index": index,
        "action": action,
        "critical_observation": observation,
        "reasoning": f"why {action}",
    }


def memory(name: str = "m1", rows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "memory_id": name,
        "contextual_description": "AlfWorld task classified as 'pick_and_place' to put a mug.",
        "tags": {"environment": "Alfworld", "outcome": "Success" if rows else "Failure"},
        "content": {
            "task_meta": {"original_goal": "put a mug in cart."},
            "refined_trajectory": {"refined_trajectory": rows} if rows else None,
            "strategic_guidelines": {
                "planning_pattern": "Search -> Place" if rows else None,
                "mistakes_to_avoid": []
                if rows
                else [{"trigger_condition": "It is dark.", "bad_action": "Sing."}],
            },
        },
        "origin_env_id": "env001",
    }


def read(data: Any) -> list[Trajectory]:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return list(IMPORTERS["alfworld-condensed"](raw, NAMESPACE, lambda: NOW))


def refused(data: Any) -> InvalidImport:
    with pytest.raises(InvalidImport) as caught:
        read(data)
    return caught.value


def test_a_success_carries_its_steps_each_with_what_it_was_taken_on() -> None:
    rows = [row(-1, "start", "a room"), row(0, "go to desk", "a mug"), row(3, "take mug", "held")]

    [run] = read([memory(rows=rows)])

    assert [(step.observation, step.action) for step in run.steps] == [
        ("a room", "go to desk"),
        ("a mug", "take mug"),
    ]
    assert run.steps[1].metadata == {"step_index": 3, "reasoning": "why take mug"}
    assert run.metadata["final_observation"] == "held"
    assert run.metadata["planning_pattern"] == "Search -> Place"
    assert run.outcome is not None
    assert (run.outcome.score, run.outcome.success) == (1.0, True)
    assert (run.task.type, run.task.environment) == ("pick_and_place", "Alfworld")


def test_without_an_opening_row_the_first_step_was_taken_on_nothing_told() -> None:
    [run] = read([memory(rows=[row(0, "go to desk", "a mug"), row(1, "take mug", "held")])])

    assert [(step.observation, step.action) for step in run.steps] == [
        ("", "go to desk"),
        ("a mug", "take mug"),
    ]


def test_a_failure_carries_its_mistakes_and_no_steps() -> None:
    [run] = read([memory()])

    assert run.steps == ()
    assert run.mistakes == ("When: It is dark.\nAvoid: Sing.",)
    assert run.outcome is not None
    assert (run.outcome.score, run.outcome.success) == (0.0, False)


def test_ids_follow_from_the_source_and_stay() -> None:
    first, other = read([memory("a"), memory("b")])
    [again] = read([memory("a")])

    assert first.id == again.id
    assert first.id != other.id
    assert first.sent_hash == again.sent_hash


def test_the_real_file_is_read_in_full(alfworld_runs: Path) -> None:
    runs = read(alfworld_runs.read_bytes())

    outcomes = Counter(run.outcome is not None and run.outcome.success for run in runs)
    assert outcomes == {True: 113, False: 110}
    assert len({run.id for run in runs}) == 223
    assert all(run.task.type for run in runs)
    assert all(bool(run.steps) != bool(run.mistakes) for run in runs)
    assert all(step.action for run in runs for step in run.steps)
    assert sum(len(run.mistakes) for run in runs) == 471


def changed(path: str, value: Any) -> dict[str, Any]:
    made = memory()
    *way, last = path.split(".")
    held = made
    for name in way:
        held = held[name]
    held[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("memory_id", 5),
        ("memory_id", ""),
        ("tags.outcome", "Maybe"),
        ("tags", None),
        ("content.task_meta.original_goal", None),
        ("content.refined_trajectory", {"refined_trajectory": [{"action": "x"}]}),
        ("content.refined_trajectory", {"refined_trajectory": "x"}),
        ("content.strategic_guidelines.mistakes_to_avoid", ["x"]),
        ("contextual_description", ["x"]),
    ],
)
def test_a_wrong_type_is_refused_by_field_and_line(path: str, value: Any) -> None:
    good, bad = json.dumps(memory("a")), json.dumps(changed(path, value))

    fault = refused(f"[\n{good},\n\n{bad}]".encode())

    assert fault.line == 4
    assert path in str(fault)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[",
        b"[,]",
        b"[{}",
        b"[] []",
        b"[NaN]",
        b"[\xff]",
        b"[" * 100_000,
        json.dumps(memory()).encode(),
        f"[{json.dumps(memory('a'))} {json.dumps(memory('b'))}]".encode(),
        f"[{json.dumps(memory('a'))},]".encode(),
    ],
)
def test_what_is_no_array_of_runs_is_refused(data: bytes) -> None:
    refused(data)


def test_an_empty_array_holds_no_runs() -> None:
    assert read(b" [\n] ") == []


def test_the_same_memory_twice_is_refused() -> None:
    good = json.dumps(memory("a"))

    fault = refused(f"[{good},\n{good}]".encode())

    assert fault.line == 2
    assert "line 1" in str(fault)
