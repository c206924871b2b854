"""The recorded runs that come with the package; its README says how they were made."""

import gzip
import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

RUNS = "runs.jsonl.gz"


@dataclass(frozen=True)
class Recorded:
    """`training` runs are what the server is told; `held_out` ones are good runs of other
    tasks, which it never sees and is measured by."""

    training: list[dict[str, Any]]
    held_out: list[dict[str, Any]]

    @cached_property
    def training_successes(self) -> list[dict[str, Any]]:
        return [run for run in self.training if run["outcome"]["success"]]


def load() -> Recorded:
    """Reads the runs. Held out are the best successful runs of tasks that are never trained on."""
    packed = files("memserver.demo").joinpath(RUNS).read_bytes()
    runs = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    held_out: dict[str, dict[str, Any]] = {}
    for run in runs:
        if run["metadata"]["split"] == "held_out" and run["outcome"]["success"]:
            held_out.setdefault(run["task"]["template_id"], run)
    return Recorded(
        training=[run for run in runs if run["metadata"]["split"] == "train"],
        held_out=list(held_out.values()),
    )


def actions(run: dict[str, Any]) -> list[str]:
    return [step["action"] for step in run["steps"] if step["action"]]
