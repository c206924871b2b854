"""Which task a row belongs to, and which split the task lies in. Both are hashes of what is known
to everybody and must never change: a model that was trained on one export is tested on another."""

import hashlib
from enum import StrEnum

from memserver.domain.trajectories import Task, normal_goal

GROUP_LENGTH = 32
_TRAIN, _VALIDATION = 80, 90


class Split(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


def group_of(task: Task) -> str:
    """The same for all runs of one template or, without one, of one normal goal; hex digits."""
    if task.template_id:
        return _named("template", task.template_id)
    return group_of_goal(task.goal)


def group_of_goal(goal: str) -> str:
    """Of a query as well, where no run says what it was asked for."""
    return _named("goal", normal_goal(goal))


def split_of(group: str) -> Split:
    """80 of 100 groups are for training, 10 for validation, 10 for testing."""
    digest = hashlib.sha256(f"split\0{group}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") % 100
    if place < _TRAIN:
        return Split.TRAIN
    return Split.VALIDATION if place < _VALIDATION else Split.TEST


def _named(kind: str, name: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}".encode()).hexdigest()[:GROUP_LENGTH]
