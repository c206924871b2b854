"""Which examples a step takes depends on seed and step alone."""

import numpy as np

from memserver_trainers.batches import Batches


def test_an_epoch_takes_every_example_once() -> None:
    batches = Batches(examples=10, size=4, seed=1)
    taken = np.concatenate([batches.at(step) for step in range(3)])
    assert sorted(taken.tolist()) == list(range(10))


def test_the_next_epoch_has_another_order() -> None:
    batches = Batches(examples=50, size=50, seed=1)
    assert batches.at(0).tolist() != batches.at(1).tolist()


def test_a_step_can_be_asked_for_without_those_before() -> None:
    walked, asked = Batches(20, 3, seed=5), Batches(20, 3, seed=5)
    for step in range(30):
        last = walked.at(step)
    assert asked.at(29).tolist() == last.tolist()


def test_another_seed_has_another_order() -> None:
    assert Batches(50, 50, seed=1).at(0).tolist() != Batches(50, 50, seed=2).at(0).tolist()
