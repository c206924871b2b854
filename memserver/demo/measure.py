"""How well what is offered for a held-out task tells what its good run did."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

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
    """The same lines for every task: those that most training runs contain, as many as a run
    has in the middle. What needs no memory at all must be beaten first."""
    runs = [normal_lines(actions(run)) for run in recorded.training_successes]
    length = int(median(len(run) for run in runs))
    frequent = Counter(line for run in runs for line in set(run)).most_common(length)
    lines = tuple(line for line, _ in frequent)
    return [
        _offer(run, "the most frequent steps", "always the same", lines)
        for run in recorded.held_out
    ]


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
