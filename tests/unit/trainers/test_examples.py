"""What of the decisions becomes an example, with which weight, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from memserver_trainers.dataset import Candidate, write_dataset
from memserver_trainers.errors import NothingToLearn
from memserver_trainers.examples import Examples, example_weight, read_examples
from tests.unit.trainers.made import ENCODER, candidate, row, vectors, written

ONE, TWO = list(vectors())[:2]


def both_splits(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows, and what makes them enough to learn from."""
    helped = [candidate(ONE, taken=True)]
    return [
        *rows,
        row("t", group="t", split="train", candidates=helped, rewards={"outcome": 1.0}),
        row("f", group="f", split="train", candidates=helped, rewards={"outcome": 0.0}),
        row("v", group="v", split="validation", candidates=helped),
    ]


def read(folder: Path, rows: list[dict[str, Any]], clip: float = 0.0) -> Examples:
    return read_examples(written(folder, list(rows)), reward="outcome", propensity_clip=clip)


def test_only_packed_candidates_with_credit_are_examples(tmp_path: Path) -> None:
    offered = [
        candidate(ONE, taken=True, credit=0.5),
        candidate(TWO, taken=True, credit=0.0),
        candidate(TWO, taken=False, credit=1.0),
    ]
    asked = row("1", group="a", candidates=offered, rewards={"outcome": 0.75})
    train = read(tmp_path, both_splits(asked)).splits["train"]
    assert len(train) == 3
    assert (float(train.label[0]), float(train.weight[0])) == (0.75, 0.5)


def test_every_split_has_the_examples_of_its_own_tasks(tmp_path: Path) -> None:
    held_out = row("1", group="a", split="test", candidates=[candidate(TWO, taken=True)])
    examples = read(tmp_path, both_splits(held_out))
    assert {name: len(split) for name, split in examples.splits.items()} == {
        "train": 2,
        "validation": 1,
        "test": 1,
    }
    groups = [set(split.group.tolist()) for split in examples.splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups))


def test_what_cannot_be_used_is_counted_by_reason(tmp_path: Path) -> None:
    taken = [candidate(ONE, taken=True)]
    examples = read(
        tmp_path,
        both_splits(
            row("1", group="a", candidates=taken, rewards={}),
            row("2", group="a", candidates=taken, query_vector=None),
            row("3", group="a", candidates=taken, encoder="another"),
            row("4", group="a", candidates=[candidate("gone", taken=True)]),
        ),
    )
    assert examples.counts()["left_out"] == {
        "decisions without the reward": 1,
        "decisions without a vector of the dataset's encoder": 2,
        "candidates without a vector": 1,
    }
    assert (examples.decisions, examples.rewarded) == (7, 6)


@pytest.mark.parametrize(
    ("propensity", "slot", "clip", "weight"),
    [
        (0.25, "policy", 0.0, 0.5),
        (0.25, "exposure", 10.0, 2.0),
        (0.01, "exposure", 10.0, 5.0),
        (0.25, "forced", 10.0, 0.5),
    ],
)
def test_the_weight_is_the_credit_times_the_clipped_inverse_propensity(
    propensity: float, slot: str, clip: float, weight: float
) -> None:
    said = candidate(ONE, taken=True, propensity=propensity, slot=slot, credit=0.5)
    assert example_weight(Candidate(**said), clip) == pytest.approx(weight)


def test_no_reward_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NothingToLearn, match="none of the 1 decisions has the reward 'outcome'"):
        read(tmp_path, [row("1", rewards={})])


def test_a_constant_reward_is_refused_with_the_reason(tmp_path: Path) -> None:
    taken = [candidate(ONE, taken=True)]
    rows = [row("1", candidates=taken), row("2", group="v", split="validation", candidates=taken)]
    with pytest.raises(NothingToLearn, match="same reward, 1,"):
        read(tmp_path, rows)


@pytest.mark.parametrize("missing", ["train", "validation"])
def test_an_empty_split_is_refused_by_name(tmp_path: Path, missing: str) -> None:
    rows = [each for each in both_splits() if each["split"] != missing]
    with pytest.raises(NothingToLearn, match=f"the {missing} split"):
        read(tmp_path, rows)


def test_a_dataset_without_vectors_is_refused(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path, both_splits(), {}, encoder=ENCODER, namespace="made")
    with pytest.raises(NothingToLearn, match="no vectors"):
        read_examples(folder, reward="outcome", propensity_clip=0.0)


def test_decisions_of_another_encoder_alone_are_refused(tmp_path: Path) -> None:
    rows = [{**each, "encoder": "another"} for each in both_splits()]
    with pytest.raises(NothingToLearn, match="vector of the dataset's encoder"):
        read(tmp_path, rows)
