"""What a candidate's features say of its reward, for the doubly robust estimate."""

from collections.abc import Sequence

import numpy as np

from memserver.domain.policy.choice_arrays import Floats, Log, Rows

RIDGE = 1.0  # one observation's worth of shrinkage, on features of deviation 1


def cross_fitted(log: Log, asked: Sequence[Floats], *, folds: int, seed: int) -> tuple[Floats, ...]:
    """The rewards that a ridge regression on standardised features and slot position expects
    for each array [c, f] of `asked`: predictions [c], each made by a model that saw no choice
    of its cluster (Chernozhukov et al. 2018, section 3)."""
    if folds < 2:
        raise ValueError(f"Cross-fitting takes 2 folds or more, not {folds}.")
    fold = _dealt(log.clusters.max() + 1, folds=folds, seed=seed)[log.choice_clusters]
    positions = np.unique(log.positions, return_inverse=True)[1]
    columns = int(positions.max()) + 1
    standard: list[Floats] = [
        (features - log.center) / log.scale for features in (log.taken, *asked)
    ]
    designs = [_design(features, positions, columns) for features in standard]
    predicted = [np.zeros(log.rewards.size) for _ in asked]
    for held_out in np.unique(fold):
        at = fold == held_out
        model = ridge(designs[0][~at], log.rewards[~at], free=1)
        for values, design in zip(predicted, designs[1:], strict=True):
            values[at] = design[at] @ model
    return tuple(predicted)


def ridge(design: Floats, rewards: Floats, *, free: int) -> Floats:
    """The coefficients that minimise squared error plus RIDGE times their squares, the first
    `free` of them unpunished."""
    penalty = np.full(design.shape[1], RIDGE)
    penalty[:free] = 0.0
    square = design.T @ design + np.diag(penalty)
    return np.asarray(np.linalg.solve(square, design.T @ rewards), np.float64)


def _design(features: Floats, positions: Rows, columns: int) -> Floats:
    constant = np.ones((len(features), 1))
    return np.hstack([constant, features, np.eye(columns)[positions]])


def _dealt(clusters: int, *, folds: int, seed: int) -> Rows:
    """A fold for each cluster, as even as can be."""
    order = np.argsort(np.random.default_rng(seed).random(clusters), kind="stable")
    dealt = np.empty(clusters, np.intp)
    dealt[order] = np.arange(clusters) % folds
    return dealt
