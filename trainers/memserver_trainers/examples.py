"""From decisions to examples: a task's query met a version that took part in how the task went."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memserver.domain.policy import features
from memserver.domain.policy.sampling import SlotKind
from memserver_trainers.dataset import SPLITS, Candidate, DatasetFolder, Decision, Vectors
from memserver_trainers.errors import NothingToLearn


@dataclass(frozen=True, eq=False)
class Split:
    """The examples of one split. `query` and `item` are rows of the two tables of vectors; `group`
    numbers the tasks; the label is the reward. All arrays are [E], the features [E, f]."""

    query: npt.NDArray[np.int64]
    item: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    label: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32]
    features: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True, eq=False)
class Examples:
    """All splits, and the two tables of vectors, [Q, d] and [M, d]. `left_out` counts, by reason,
    what could not be used."""

    splits: Mapping[str, Split]
    queries: npt.NDArray[np.float32]
    items: npt.NDArray[np.float32]
    decisions: int
    rewarded: int
    left_out: Mapping[str, int]

    def counts(self) -> dict[str, object]:
        """The data in numbers, for people."""
        return {
            "decisions": self.decisions,
            "share_with_reward": round(self.rewarded / self.decisions, 4),
            "examples": {name: len(split) for name, split in self.splits.items()},
            "mean_reward": round(float(self.splits["train"].label.mean()), 4),
            "left_out": {reason: count for reason, count in self.left_out.items() if count},
        }


def read_examples(dataset: DatasetFolder, *, reward: str, propensity_clip: float) -> Examples:
    """Every packed candidate with credit, of every decision that has the reward, is an example of
    its decision's split. Raises `InvalidDataset` where the folder is not sound, `NothingToLearn`
    where it has no vectors, no reward, no training or validation example, or but one reward."""
    encoder = dataset.manifest.encoder
    if encoder is None or not dataset.manifest.vectors:
        raise NothingToLearn("the dataset has no vectors, and this recipe compares vectors")
    vectors = dataset.vectors()
    splits = {name: _Growing() for name in SPLITS}
    groups: dict[str, int] = {}
    queries: list[npt.NDArray[np.float32]] = []
    decisions = rewarded = 0
    left_out: Counter[str] = Counter()
    for decision in dataset.decisions():
        decisions += 1
        if reward not in decision.rewards:
            left_out["decisions without the reward"] += 1
            continue
        rewarded += 1
        if decision.query_vector is None or decision.encoder != encoder:
            left_out["decisions without a vector of the dataset's encoder"] += 1
            continue
        queries.append(decision.query_vector)
        group = groups.setdefault(decision.group, len(groups))
        for candidate in _credited(decision, vectors, left_out):
            splits[decision.split].add(
                candidate,
                query=len(queries) - 1,
                item=vectors.index[candidate.id],
                group=group,
                label=decision.rewards[reward],
                weight=example_weight(candidate, propensity_clip),
            )
    if not rewarded:
        raise NothingToLearn(f"none of the {decisions} decisions has the reward {reward!r} yet")
    if not queries:
        raise NothingToLearn("no decision with a reward has a vector of the dataset's encoder")
    found = {name: split.arrays() for name, split in splits.items()}
    _check(found)
    return Examples(found, np.stack(queries), vectors.matrix, decisions, rewarded, left_out)


def example_weight(candidate: Candidate, clip: float) -> float:
    """The credit, times the inverse propensity cut at `clip` where that is not 0. What a rule put
    in front was not drawn, so its propensity weighs nothing."""
    if clip == 0 or candidate.slot == SlotKind.FORCED or candidate.propensity <= 0:
        return candidate.credit
    return candidate.credit * min(1.0 / candidate.propensity, clip)


@dataclass
class _Growing:
    rows: list[tuple[int, int, int, float, float]] = field(default_factory=list)
    features: list[npt.NDArray[np.float32]] = field(default_factory=list)

    def add(
        self,
        candidate: Candidate,
        *,
        query: int,
        item: int,
        group: int,
        label: float,
        weight: float,
    ) -> None:
        self.rows.append((query, item, group, label, weight))
        self.features.append(candidate.features)

    def arrays(self) -> Split:
        table = np.array(self.rows, np.float64).reshape(-1, 5)
        return Split(
            query=table[:, 0].astype(np.int64),
            item=table[:, 1].astype(np.int64),
            group=table[:, 2].astype(np.int64),
            label=table[:, 3].astype(np.float32),
            weight=table[:, 4].astype(np.float32),
            features=np.array(self.features, np.float32).reshape(-1, len(features.NAMES)),
        )


def _credited(decision: Decision, vectors: Vectors, left_out: Counter[str]) -> list[Candidate]:
    credited = [each for each in decision.candidates if each.packed and each.credit > 0]
    known = [each for each in credited if each.id in vectors.index]
    left_out["candidates without a vector"] += len(credited) - len(known)
    return known


def _check(splits: Mapping[str, Split]) -> None:
    for name in ("train", "validation"):
        if not len(splits[name]):
            raise NothingToLearn(
                f"the {name} split has no packed candidate with credit and a vector; it takes"
                " outcomes of several tasks and an export of all splits"
            )
    labels = splits["train"].label
    if labels.min() == labels.max():
        raise NothingToLearn(
            f"every training example has the same reward, {labels[0]:g}, which says nothing about"
            " what to choose"
        )
