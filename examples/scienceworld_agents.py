"""The agents whose runs `record_runs.py` records: none of them uses a language model."""

import math
import random
import re
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

PERTURBATIONS = ("drop", "swap", "stop", "reorder")
WORD_MATCH_STEPS = 15


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """How a copy differs from a good run, and the index of the first step that differs."""

    kind: str
    at: int


class Agent(Protocol):
    """Chooses the next action, or None to stop."""

    def act(self, env: Any, index: int) -> str | None: ...


@dataclass(frozen=True)
class ScriptAgent:
    """Plays a list of actions."""

    actions: tuple[str, ...]

    def act(self, env: Any, index: int) -> str | None:
        return self.actions[index] if index < len(self.actions) else None


@dataclass(frozen=True)
class SwapAgent:
    """Plays a list of actions, but at one step does the same thing with another object.

    The wrong action is one that the simulator admits there with the same verb; where it admits
    none, a wait.
    """

    actions: tuple[str, ...]
    at: int
    rng: random.Random

    def act(self, env: Any, index: int) -> str | None:
        if index >= len(self.actions):
            return None
        planned = self.actions[index]
        if index != self.at:
            return planned
        verb = planned.split()[0] + " "
        others = [a for a in admissible(env) if a.startswith(verb) and a != planned]
        return self.rng.choice(others) if others else "wait1"


class WordMatchAgent:
    """Does whatever shares most words with the goal, and avoids what it has done before.

    It focuses on nothing that the goal does not tell it to focus on, since a wrong focus ends
    the run.
    """

    def __init__(self, goal: str, rng: random.Random) -> None:
        self.goal = goal.lower().replace(" the ", " ")
        self.goal_words = set(words(goal))
        self.rng = rng
        self.done: Counter[str] = Counter()

    def act(self, env: Any, index: int) -> str | None:
        if index >= WORD_MATCH_STEPS:
            return None
        action = max(admissible(env), key=self.appeal)
        self.done[action] += 1
        return action

    def appeal(self, action: str) -> float:
        said = words(action)
        if said[0] == "focus" and action.lower() not in self.goal:
            return -math.inf
        overlap = sum(word in self.goal_words for word in said) / math.sqrt(len(said))
        return overlap - self.done[action] + self.rng.random() / 100


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def admissible(env: Any) -> list[str]:
    """The simulator's admissible actions, in a fixed order."""
    return sorted(env.get_valid_action_object_combinations())


def perturbed(
    good: tuple[str, ...], kind: str, rng: random.Random
) -> tuple[Agent, Perturbation] | None:
    """An agent that replays the good actions with one perturbation, or None where none fits."""
    if kind == "reorder":
        pairs = [p for p in combinations(range(len(good)), 2) if good[p[0]] != good[p[1]]]
        if not pairs:
            return None
        first, second = rng.choice(pairs)
        actions = list(good)
        actions[first], actions[second] = good[second], good[first]
        return ScriptAgent(tuple(actions)), Perturbation(kind=kind, at=first)
    at = rng.randrange(1, len(good))
    perturbation = Perturbation(kind=kind, at=at)
    if kind == "swap":
        return SwapAgent(good, at, rng), perturbation
    rest = good[at + 1 :] if kind == "drop" else ()
    return ScriptAgent((*good[:at], *rest)), perturbation
