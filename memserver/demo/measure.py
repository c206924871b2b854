"""How well what is offered for a held-out task tells what its good run did."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from memserver.demo.recorded import Recorded, actions
from memserver_client import Memory
from memserver_skills.steps_score import normal_lines, score_steps, step_lines

BUDGET_TOKENS = 400
NEAREST_RUNS = 20


@dataclass(frozen=True, slots=True)
class Offer:
    """What an arm offers for one task: its lines, what they come from, and how good they are.
    `retrieval_id` is None where nothing was retrieved."""

    goal: str
    title: str
    why: str
    lines: tuple[str, ...]
    f1: float
    retrieval_id: str | None = None


def mean_f1(offers: Sequence[Offer]) -> float:
    return mean(offer.f1 for offer in offers)


def constant_text(recorded: Recorded) -> list[Offer]:
    """The same lines for every task: the best for the training runs, chosen greedily. What
    needs no memory at all must be beaten first."""
    lines = best_constant([normal_lines(actions(run)) for run in recorded.training_successes])
    return [
        _offer(run, "the best fixed text", "always the same", lines) for run in recorded.held_out
    ]


def best_constant(runs: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Lines are added as long as one more raises the mean F1 over the runs. Shapes here:
    `held` [runs, lines] says how often a run holds a line, `matches` [runs] how many of the
    chosen lines a run holds."""
    lines = sorted({line for run in runs for line in run})
    held = np.array([[run.count(line) for line in lines] for run in runs])
    lengths = np.array([len(run) for run in runs])
    chosen: list[int] = []
    matches = np.zeros(len(runs), int)
    best = 0.0
    while True:
        more = held > np.bincount(chosen, minlength=len(lines))
        f1 = 2 * (matches[:, None] + more) / (len(chosen) + 1 + lengths)[:, None]
        line = int(f1.mean(axis=0).argmax())
        if f1[:, line].mean() <= best:
            return tuple(lines[index] for index in chosen)
        best = float(f1[:, line].mean())
        matches = matches + more[:, line]
        chosen.append(line)


def nearest_run(memory: Memory, namespace: str, recorded: Recorded) -> list[Offer]:
    """The steps of the nearest training run that succeeded, as they were."""
    by_id = {run["id"]: run for run in recorded.training_successes}
    offers = []
    for run in recorded.held_out:
        found = memory.retrieve(
            run["task"]["goal"], namespace=namespace, kinds=["trajectory"], k=NEAREST_RUNS
        )
        hit = next((item for item in found.items if str(item.id) in by_id), None)
        lines = normal_lines(actions(by_id[str(hit.id)])) if hit else ()
        offers.append(_offer(run, hit.title if hit else "-", hit.why if hit else "-", lines))
    return offers


def bank(memory: Memory, namespace: str, recorded: Recorded) -> list[Offer]:
    """The best skill that the server retrieves, within the token budget."""
    offers = []
    for run in recorded.held_out:
        found = memory.retrieve(
            run["task"]["goal"],
            namespace=namespace,
            kinds=["skill"],
            k=1,
            budget_tokens=BUDGET_TOKENS,
        )
        title = found.items[0].title if found.items else "-"
        why = found.items[0].why if found.items else "-"
        lines = step_lines(found.text)
        offers.append(_offer(run, title, why, lines, retrieval_id=str(found.retrieval_id)))
    return offers


def _offer(
    run: dict[str, Any],
    title: str,
    why: str,
    lines: tuple[str, ...],
    *,
    retrieval_id: str | None = None,
) -> Offer:
    f1 = score_steps(lines, actions(run)).f1
    return Offer(run["task"]["goal"], title, why, lines, f1, retrieval_id)
