"""From logged decisions to choices that can be reweighed."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memserver_trainers.evaluation import evaluate_ranking, logged_choices
from tests.unit.trainers.made import candidate, dataset, row, vectors, written

IDS = list(vectors())[:4]


class Preferring:
    """Scores candidates from the last to the first."""

    def logits(
        self, query: npt.NDArray[Any], items: npt.NDArray[Any], features: npt.NDArray[Any]
    ) -> npt.NDArray[np.float64]:
        return np.arange(len(items), dtype=np.float64)


def choices(tmp_path: Path, offered: list[dict[str, Any]], **said: Any) -> list[Any]:
    folder = written(tmp_path, [row("1", candidates=offered, **said)])
    [decision] = folder.decisions()
    return logged_choices(decision, folder.vectors(), Preferring(), reward="outcome")


def test_each_packed_place_is_a_choice_among_what_was_left(tmp_path: Path) -> None:
    offered = [
        candidate(IDS[0], taken=True, rank=2, propensity=1 / 3),
        candidate(IDS[1], taken=False),
        candidate(IDS[2], taken=True, rank=1, propensity=0.25),
        candidate(IDS[3], taken=False),
    ]
    first, second = choices(tmp_path, offered, rewards={"outcome": 0.8})
    assert (first.taken, first.behaviour.tolist()) == (2, [0.25] * 4)
    assert (second.taken, second.behaviour.tolist()) == (0, pytest.approx([1 / 3] * 3))
    assert (first.target.tolist(), second.target.tolist()) == ([0, 0, 0, 1], [0, 0, 1])
    assert first.reward + second.reward == pytest.approx(0.8)


def test_a_policy_place_has_the_softmax_of_the_logged_scores(tmp_path: Path) -> None:
    offered = [
        candidate(IDS[0], taken=False, score=0.0),
        candidate(IDS[1], taken=True, score=float(np.log(3)), slot="policy", propensity=0.75),
    ]
    [choice] = choices(tmp_path, offered, temperature=1.0)
    assert choice.behaviour.tolist() == pytest.approx([0.25, 0.75])
    assert choice.reference.tolist() == [0, 1]


def test_what_was_gated_or_forced_is_no_choice(tmp_path: Path) -> None:
    offered = [
        candidate(IDS[0], taken=True, rank=1, slot="forced", propensity=0.0),
        candidate(IDS[1], taken=True, rank=2, propensity=0.5),
        candidate(IDS[2], taken=False),
        candidate(IDS[3], taken=False, gated="belief"),
    ]
    [choice] = choices(tmp_path, offered)
    assert (choice.slot, len(choice.behaviour), choice.taken) == (1, 2, 0)


def test_a_candidate_without_a_vector_makes_the_decision_tell_nothing(tmp_path: Path) -> None:
    offered = [candidate(IDS[0], taken=True), candidate("gone", taken=False)]
    assert choices(tmp_path, offered) == []


def test_a_log_that_explored_gives_an_estimate(tmp_path: Path) -> None:
    folder = dataset(tmp_path, tasks=300)
    found = evaluate_ranking(folder, Preferring(), reward="outcome", seed=0)
    assert (found["refusal"], found["split"], found["not_replayed"]) == (None, "test", 0)
    assert found["target"]["low"] < found["target"]["doubly_robust"] < found["target"]["high"]


def test_a_log_that_never_explored_gives_a_refusal(tmp_path: Path) -> None:
    rows = [
        row(
            str(n),
            group=str(n),
            split="test",
            explored=False,
            candidates=[candidate(IDS[0], taken=True, slot="policy", propensity=1.0)],
        )
        for n in range(50)
    ]
    found = evaluate_ranking(written(tmp_path, rows), Preferring(), reward="outcome", seed=0)
    assert found["refusal"]
    assert found["target"] is None


def test_a_decision_whose_propensity_cannot_be_replayed_is_left_out(tmp_path: Path) -> None:
    offered = [candidate(IDS[0], taken=True, propensity=0.9), candidate(IDS[1], taken=False)]
    rows = [row("1", split="test", candidates=offered)]
    found = evaluate_ranking(written(tmp_path, rows), Preferring(), reward="outcome", seed=0)
    assert (found["not_replayed"], found["choices"]) == (1, 0)
