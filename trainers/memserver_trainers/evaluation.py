"""What the decisions of a dataset say a learned ranking would have earned, had it chosen instead of
the policy that was logged."""

from dataclasses import asdict
from typing import Any

import numpy as np

from memserver.domain.policy.logged_ranking import LoggedRanking, Place
from memserver.domain.policy.off_policy import LoggedChoice, evaluate
from memserver.domain.policy.sampling import SlotKind
from memserver.domain.policy.scorer import Scorer
from memserver_trainers.dataset import DatasetFolder, Decision, Vectors


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
            if choices is None:
                not_replayed += 1
            else:
                found[decision.split] += choices
    split = "test" if found["test"] else "validation"
    estimated = evaluate(found[split], seed=seed)
    return {"split": split, "not_replayed": not_replayed, **asdict(estimated)}


def logged_choices(
    decision: Decision, vectors: Vectors, scorer: Scorer, *, reward: str
) -> list[LoggedChoice] | None:
    """One choice for each place that was packed and not forced. Empty where a candidate or the
    query has no vector: what could not be scored could not have been chosen. None where the
    decision does not replay."""
    pool = [each for each in decision.candidates if each.gated is None]
    if decision.query_vector is None or any(each.id not in vectors.index for each in pool):
        return []
    items = vectors.matrix[[vectors.index[each.id] for each in pool]]
    features = np.array([each.features for each in pool], np.float32)
    logged = np.array([each.score for each in pool])
    packed = sorted(
        (each.rank, index)
        for index, each in enumerate(pool)
        if each.packed and each.rank is not None
    )
    ranking = LoggedRanking(
        decision=decision.id,
        cluster=decision.group,
        features=features,
        scores=logged,
        temperature=decision.temperature,
        places=[
            Place(
                index,
                pool[index].slot or SlotKind.POLICY,
                pool[index].propensity,
                pool[index].credit,
            )
            for _, index in packed
        ],
        outcome=decision.rewards[reward],
    )
    learned = scorer.logits(decision.query_vector, items, features)
    return ranking.choices(target=learned, reference=logged)
