"""What the decisions of a dataset say a learned ranking would have earned, had it chosen instead of
the policy that was logged."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.off_policy import LoggedChoice, evaluate
from memserver.domain.policy.sampling import SlotKind, probabilities
from memserver.domain.policy.scorer import Scorer
from memserver_trainers.dataset import Candidate, DatasetFolder, Decision, Vectors

GREEDY = 0.0
"""The temperature at which both policies are asked about, since this is how one is served."""


def evaluate_ranking(
    dataset: DatasetFolder, scorer: Scorer, *, reward: str, seed: int
) -> dict[str, Any]:
    """The off-policy estimate of `scorer` against the logged scores, both greedy, on the test
    split, or on validation where the test split has no choice to speak of. Only decisions that
    explored can be reweighed. Where the log cannot answer, `refusal` says why."""
    vectors = dataset.vectors()
    found: dict[str, list[LoggedChoice]] = {"test": [], "validation": []}
    not_replayed = 0
    for decision in dataset.decisions():
        if decision.split in found and decision.explored and reward in decision.rewards:
            choices = logged_choices(decision, vectors, scorer, reward=reward)
            if all(_replayed(choice) for choice in choices):
                found[decision.split] += choices
            else:
                not_replayed += 1
    split = "test" if found["test"] else "validation"
    estimated = evaluate(found[split], seed=seed)
    return {"split": split, "not_replayed": not_replayed, **asdict(estimated)}


def logged_choices(
    decision: Decision, vectors: Vectors, scorer: Scorer, *, reward: str
) -> list[LoggedChoice]:
    """One choice for each place that was packed and not forced. Empty where a candidate or the
    query has no vector: what could not be scored could not have been chosen."""
    pool = [each for each in decision.candidates if each.gated is None]
    if decision.query_vector is None or any(each.id not in vectors.index for each in pool):
        return []
    items = vectors.matrix[[vectors.index[each.id] for each in pool]]
    features = np.array([each.features for each in pool], np.float32)
    learned = scorer.logits(decision.query_vector, items, features)
    logged = np.array([each.score for each in pool])
    placed = _places(pool)
    parts = _parts([pool[index] for index in placed])
    choices = []
    for slot, index in enumerate(placed):
        if pool[index].slot == SlotKind.FORCED:
            continue
        taken = placed[:slot]
        left = np.setdiff1d(np.arange(len(pool)), taken)
        behaviour = _behaviour(pool[index], logged, taken, temperature=decision.temperature)
        choices.append(
            LoggedChoice(
                decision=decision.id,
                cluster=decision.group,
                slot=slot,
                features=features[left],
                taken=int(np.searchsorted(left, index)),
                propensity=pool[index].propensity,
                behaviour=behaviour[left],
                target=probabilities(learned, temperature=GREEDY, taken=taken)[left],
                reference=probabilities(logged, temperature=GREEDY, taken=taken)[left],
                reward=decision.rewards[reward] * parts[slot],
            )
        )
    return choices


def _places(pool: Sequence[Candidate]) -> list[int]:
    """The candidates that were packed, by rank."""
    ranked = [
        (each.rank, index)
        for index, each in enumerate(pool)
        if each.packed and each.rank is not None
    ]
    return [index for _, index in sorted(ranked)]


def _parts(placed: Sequence[Candidate]) -> list[float]:
    """Each place's part of the outcome by its credit, in equal parts where none was given."""
    whole = sum(each.credit for each in placed)
    return [each.credit / whole if whole > 0 else 1 / len(placed) for each in placed]


def _behaviour(
    candidate: Candidate,
    logged: npt.NDArray[np.float64],
    taken: Sequence[int],
    *,
    temperature: float,
) -> npt.NDArray[np.float64]:
    """With which probabilities the log's policy filled this slot, given its kind."""
    if candidate.slot == SlotKind.EXPOSURE:
        return probabilities(np.zeros_like(logged), temperature=1.0, taken=taken)
    return probabilities(logged, temperature=temperature, taken=taken)


def _replayed(choice: LoggedChoice) -> bool:
    """Whether the choice's propensity is the one logged. If not, the pool was another one than
    the dataset shows, and no number that rests on it would mean anything."""
    replayed = choice.behaviour[choice.taken]
    return bool(np.isclose(replayed, choice.propensity, rtol=1e-3, atol=1e-9)) and replayed > 0
