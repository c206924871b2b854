"""How well a score orders the candidates of one task by how they turned out. Over all tasks at
once a score could shine by knowing which tasks are easy, which helps nobody to choose."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

ROWS_TOGETHER = 1024


def within_group_auc(
    scores: npt.NDArray[np.floating],
    outcomes: npt.NDArray[np.floating],
    groups: npt.NDArray[np.integer],
) -> float | None:
    """The mean over groups of the share of pairs with unequal outcomes that the score puts in
    their order, a tie counting half; all three arrays are [E]. None where no group has a pair."""
    values = [
        value
        for chosen in _members(groups)
        if (value := _auc(scores[chosen], outcomes[chosen])) is not None
    ]
    return float(np.mean(values)) if values else None


def _members(groups: npt.NDArray[np.integer]) -> Iterator[npt.NDArray[np.intp]]:
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order])) + 1
    yield from np.split(order, starts)


def _auc(scores: npt.NDArray[np.floating], outcomes: npt.NDArray[np.floating]) -> float | None:
    """Some rows of the table of pairs at a time: a task that everyone tries may have thousands."""
    right, pairs = 0.0, 0
    for start in range(0, len(scores), ROWS_TOGETHER):
        rows = slice(start, start + ROWS_TOGETHER)
        better = outcomes[rows, None] > outcomes[None, :]
        gap = scores[rows, None] - scores[None, :]
        right += float(((gap > 0) + 0.5 * (gap == 0))[better].sum())
        pairs += int(np.count_nonzero(better))
    return right / pairs if pairs else None
