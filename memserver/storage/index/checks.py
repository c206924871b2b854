"""What an index engine must never see. A bad sparse vector makes the embedded engine panic, now
and at every reload; NaN is accepted and vanishes; half a batch may be stored. So everything is
checked here before anything is handed over."""

import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

from memserver.domain.errors import InvalidPoint, NotFinite, WrongDimension
from memserver.domain.ports import DocumentKey, Filter, Leg, Point, SparseVector, View

CHUNK = 256
PAGE = 500
LIMIT_AT_MOST = 10_000
WORD_LENGTH = 512
# Beyond it the engine's range filter, which compares floats, is inexact.
INTEGER_AT_MOST = 2**53
TERM_AT_MOST = 2**32 - 1
# Below it a vector has no direction that single precision could keep.
NORM_AT_LEAST = 1e-6


def check_points(points: Sequence[Point], dimension: int) -> None:
    """Raises `InvalidPoint`, `WrongDimension` or `NotFinite` for the first bad point, or where
    two points have the same id."""
    seen: set[UUID] = set()
    for point in points:
        for name in ("id", "tenant", "document", "item"):
            _require(isinstance(getattr(point, name), UUID), f"its {name} is no UUID")
        _require(point.id not in seen, f"the point {point.id} occurs twice")
        seen.add(point.id)
        for name in ("namespace_id", "created", "valid_from", "valid_to", "recorded", "closed"):
            _check_integer(name, getattr(point, name))
        for name in ("kind", "status", "task_type"):
            _check_word(name, getattr(point, name))
        _check_view(point.view)
        check_dense(point.dense, dimension)
        check_sparse(point.sparse)


def check_leg(leg: Leg, dimension: int) -> None:
    """Raises `InvalidPoint`, `WrongDimension` or `NotFinite` for a search that is malformed."""
    _require((leg.dense is None) != (leg.sparse is None), "a search has either vector, not both")
    _require(_is_integer(leg.limit), "a search's limit is no integer")
    _require(1 <= leg.limit <= LIMIT_AT_MOST, f"a search's limit is outside 1..{LIMIT_AT_MOST}")
    _check_filter(leg.filter)
    if leg.dense is not None:
        check_dense(leg.dense, dimension)
    if leg.sparse is not None:
        check_sparse(leg.sparse)


def check_keys(documents: Sequence[DocumentKey], keep: Sequence[UUID]) -> None:
    """Raises `InvalidPoint` unless all ids are UUIDs."""
    ids = [*keep, *(one for key in documents for one in (key.tenant, key.document))]
    _require(all(isinstance(one, UUID) for one in ids), "an id is no UUID")


def check_dense(vector: Any, dimension: int) -> None:
    """Raises `WrongDimension`, or `NotFinite` for NaN, infinity and the zero vector, also where
    they only arise in single precision."""
    _require(isinstance(vector, np.ndarray) and vector.ndim == 1, "its vector is no 1-d array")
    _require(vector.dtype.kind == "f", "its vector does not hold floats")
    if len(vector) != dimension:
        raise WrongDimension(len(vector), dimension)
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(vector.astype(np.float32)))
    if not math.isfinite(norm) or norm < NORM_AT_LEAST:
        raise NotFinite


def check_sparse(vector: SparseVector) -> None:
    """Raises `InvalidPoint`, or `NotFinite` for a weight that is no number."""
    _require(len(vector.indices) == len(vector.values), "its terms and weights differ in number")
    _require(len(set(vector.indices)) == len(vector.indices), "a term occurs twice")
    for index in vector.indices:
        _require(_is_integer(index) and 0 <= index <= TERM_AT_MOST, "a term is no 32-bit integer")
    if not all(math.isfinite(value) for value in vector.values):
        raise NotFinite


def _check_filter(where: Filter) -> None:
    for namespace_id in where.namespace_ids:
        _check_integer("namespace_id", namespace_id)
    for word in (*where.kinds, *where.statuses, *where.task_types):
        _check_word("filter", word)
    _check_view(where.view)
    for time in (where.created_from, where.created_to):
        if time is not None:
            _check_integer("created", time)
    if where.span is not None:
        for time in (where.span.first, where.span.last, where.span.known or 0):
            _check_integer("span", time)


def _check_view(view: Any) -> None:
    _require(isinstance(view, View), "its view is none")


def _check_word(name: str, word: Any) -> None:
    _require(isinstance(word, str), f"its {name} is no text")
    _require(len(word) <= WORD_LENGTH, f"its {name} is longer than {WORD_LENGTH} characters")
    try:
        word.encode()
    except UnicodeEncodeError:
        raise InvalidPoint(f"The index refuses this: its {name} is no valid Unicode.") from None


def _check_integer(name: str, value: Any) -> None:
    _require(_is_integer(value), f"its {name} is no integer")
    _require(abs(value) <= INTEGER_AT_MOST, f"its {name} is beyond 2^53")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidPoint(f"The index refuses this: {otherwise}.")
