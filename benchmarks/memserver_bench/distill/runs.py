"""The runs that the benchmark reads, told apart by goal: what is taught, and what is held out."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self
from zlib import crc32

FOLDS = 5


@dataclass(frozen=True)
class Run:
    """One run. `sent` is how the server is told of it; `type` is the kind of task, where known;
    `perturbed_at` the action from which a failure left the good one of its `template`."""

    goal: str
    actions: tuple[str, ...]
    success: bool
    sent: Mapping[str, Any]
    type: str | None = None
    template: str | None = None
    perturbed_at: int | None = None
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fold:
    taught: tuple[Run, ...]
    held_out: tuple[Run, ...]

    @property
    def successes(self) -> tuple[Run, ...]:
        return tuple(run for run in self.taught if run.success and run.actions)


@dataclass(frozen=True)
class Corpus:
    """`name` says whose runs these are, `format` in which form the server imports them."""

    name: str
    format: str
    runs: tuple[Run, ...]

    @classmethod
    def condensed(cls, file: Path) -> Self:
        """A file in the condensed format, `alfworld_trajectories.json` for one."""
        rows = json.loads(file.read_text())
        return cls(file.stem, "alfworld-condensed", tuple(map(_of_condensed, rows)))

    @classmethod
    def recorded(cls) -> Self:
        """The runs that memserver's own demo is about."""
        packed = files("memserver.demo").joinpath("runs.jsonl.gz").read_bytes()
        rows = map(json.loads, gzip.decompress(packed).splitlines())
        return cls("recorded", "jsonl", tuple(map(_of_recorded, rows)))

    def body(self, runs: Sequence[Run]) -> bytes:
        """What is sent to `POST /v1/trajectories/import`."""
        if self.format == "jsonl":
            # The server gives ids of its own: every fold has a namespace, and an id one run.
            rows = [{key: said for key, said in run.sent.items() if key != "id"} for run in runs]
            return "\n".join(map(json.dumps, rows)).encode()
        return json.dumps([run.sent for run in runs]).encode()


def folds(runs: Sequence[Run], *, seed: int, count: int = FOLDS) -> list[Fold]:
    """Goals are dealt out, so that no goal is both taught and held out; failures go with theirs."""
    goals = sorted({_task(run) for run in runs}, key=lambda goal: crc32(f"{seed} {goal}".encode()))
    part = {goal: place % count for place, goal in enumerate(goals)}
    return [
        Fold(
            taught=tuple(run for run in runs if part[_task(run)] != number),
            held_out=tuple(run for run in runs if part[_task(run)] == number),
        )
        for number in range(count)
    ]


def _task(run: Run) -> str:
    return " ".join(run.goal.casefold().rstrip(" .!?").split())


def _of_condensed(row: Mapping[str, Any]) -> Run:
    content = row["content"]
    steps = (content.get("refined_trajectory") or {}).get("refined_trajectory", [])
    _, quoted, rest = row.get("contextual_description", "").partition("classified as '")
    return Run(
        goal=content["task_meta"]["original_goal"],
        actions=tuple(step["action"] for step in steps if step.get("step_index", 0) >= 0),
        success=row["tags"]["outcome"] == "Success",
        sent=row,
        type=rest.partition("'")[0] if quoted else None,
        mistakes=tuple(
            f"When: {told.get('trigger_condition', '')}\nAvoid: {told.get('bad_action', '')}"
            for told in content.get("strategic_guidelines", {}).get("mistakes_to_avoid", [])
        ),
    )


def _of_recorded(row: Mapping[str, Any]) -> Run:
    return Run(
        goal=row["task"]["goal"],
        actions=tuple(step["action"] for step in row["steps"] if step["action"]),
        success=row["outcome"]["success"],
        sent=row,
        type=row["task"].get("type"),
        template=row["task"].get("template_id"),
        perturbed_at=row["metadata"]["perturbed_at"],
    )
