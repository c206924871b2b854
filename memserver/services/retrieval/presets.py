"""Presets: which searches a retrieve makes, and how one order comes of them, as named constants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from memserver.domain.errors import UnknownPreset
from memserver.domain.items import Kind
from memserver.domain.policy.features import KINDS

DENSE, SPARSE, TASK_TYPE = "dense", "sparse", "task_type"
CONTEXT_DENSE, CONTEXT_SPARSE = "context_dense", "context_sparse"
RECENCY, ENTITY, NAMED = "recency", "entity", "named"

MemoryClass = Literal["episodic", "semantic", "experiential"]
"""What happened, what is so, and how to do things."""
EPISODIC: Final = "episodic"
SEMANTIC: Final = "semantic"
EXPERIENTIAL: Final = "experiential"

_CLASS_OF: Mapping[str, MemoryClass] = {
    Kind.CASE.value: EPISODIC,
    Kind.SUMMARY.value: EPISODIC,
    "trajectory": EPISODIC,
    Kind.FACT.value: SEMANTIC,
    Kind.NOTE.value: SEMANTIC,
    Kind.PREFERENCE.value: SEMANTIC,
    Kind.SKILL.value: EXPERIENTIAL,
    Kind.HINT.value: EXPERIENTIAL,
    Kind.RULE.value: EXPERIENTIAL,
    Kind.PRINCIPLE.value: EXPERIENTIAL,
}
assert set(_CLASS_OF) == set(KINDS)


@dataclass(frozen=True, slots=True)
class Preset:
    """`arms` are the searches; `rerank` reorders turns by more than ranks; `mix` is how many of
    each class of memory may be handed out at most; `relevance` is how much an item's score counts
    against its likeness to those before it, in (0, 1], or None where likeness does not count;
    `k` is how many are handed out where the request does not say."""

    name: str
    arms: frozenset[str]
    rerank: bool = False
    mix: Mapping[str, int] = field(default_factory=dict)
    relevance: float | None = None
    k: int = 10


_BOTH_VIEWS = frozenset({DENSE, SPARSE, CONTEXT_DENSE, CONTEXT_SPARSE, TASK_TYPE, ENTITY})

DEFAULT = Preset("default", _BOTH_VIEWS, rerank=True)
RECALL = Preset("recall", _BOTH_VIEWS)
DENSE_ONLY = Preset("dense", frozenset({DENSE}))
BM25_ONLY = Preset("bm25", frozenset({SPARSE}))
RRF = Preset("rrf", frozenset({DENSE, SPARSE}))
RECENT = Preset("recent", _BOTH_VIEWS | {RECENCY}, rerank=True)
# Ten episodes, three facts and three experiences, at a relevance of .7 (SE-GA's mix).
MIXED = Preset(
    "mixed",
    _BOTH_VIEWS,
    rerank=True,
    mix={EPISODIC: 10, SEMANTIC: 3, EXPERIENTIAL: 3},
    relevance=0.7,
    k=16,
)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset for preset in (DEFAULT, RECALL, DENSE_ONLY, BM25_ONLY, RRF, RECENT, MIXED)
}


def preset_named(name: str) -> Preset:
    """Raises `UnknownPreset`."""
    if name not in PRESETS:
        raise UnknownPreset(name, tuple(PRESETS))
    return PRESETS[name]


def memory_class(kind: str, *, is_turn: bool) -> MemoryClass:
    """A turn of a conversation is an episode, whatever kind of item it is kept as."""
    return EPISODIC if is_turn else _CLASS_OF[kind]
