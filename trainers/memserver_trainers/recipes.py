"""Which recipes there are, and what the command asks of each. A recipe is one module that is
imported when it is named, so that nobody waits for torch to read a list."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from memserver_trainers.config import RunConfig
from memserver_trainers.errors import NotInstalled


@dataclass(frozen=True, slots=True)
class Run:
    """How a recipe is run this time; what is learned does not depend on it."""

    now: datetime
    dry_run: bool = False
    resume: str = "never"
    report_to: str = "none"


class Recipe(Protocol):
    """What a recipe's module offers. `train` returns the summary that the command prints."""

    Config: type[RunConfig]

    def train(self, config: Any, run: Run) -> Mapping[str, object]: ...


RECIPES = {
    "case-value": "what a remembered case is worth for a task, learned from outcomes",
}


def load_recipe(name: str) -> Recipe:
    """The module of a recipe in `RECIPES`. Raises `NotInstalled` where a library is missing."""
    try:
        found = importlib.import_module(f"memserver_trainers.{name.replace('-', '_')}")
    except ModuleNotFoundError as error:
        raise NotInstalled(error.name or str(error)) from error
    return cast(Recipe, found)
