"""Quotas, classes of memory, and less of what repeats itself."""

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.errors import UnknownPreset
from memserver.domain.policy.features import KINDS
from memserver.services.retrieval.mixing import best_first, diversified, over_quota
from memserver.services.retrieval.presets import DEFAULT, MIXED, PRESETS, memory_class, preset_named
from memserver.services.retrieval.rankers import FIXED, Material, worth
from tests.unit.retrieval.made import candidate, numbers, turn


def scored(count: int, **fields: str) -> list:
    return [candidate(n, fused=1 / n, **fields) for n in range(1, count + 1)]


def test_no_more_of_a_kind_than_its_quota_is_handed_out_the_best_of_it() -> None:
    best = [*scored(3, kind="skill"), candidate(4, kind="rule"), candidate(5, kind="hint")]

    refused = over_quota(best, kinds={"skill": 2, "rule": 0}, classes={})

    assert refused == {UUID(int=3): "quota", UUID(int=4): "quota"}


def test_quotas_of_kinds_and_of_classes_hold_together() -> None:
    best = [
        candidate(1, kind="skill"),
        candidate(2, kind="skill"),
        candidate(3, kind="rule"),
        candidate(4, kind="rule"),
        candidate(5, kind="fact"),
    ]

    refused = over_quota(best, kinds={"skill": 1}, classes={"experiential": 2})

    assert [document.int for document in refused] == [2, 4]


def test_a_turn_counts_as_an_episode_and_another_note_does_not() -> None:
    assert turn(1, "said").memory == "episodic"
    assert candidate(1).memory == "semantic"
    assert {memory_class(kind, is_turn=False) for kind in KINDS} == {
        "episodic",
        "semantic",
        "experiential",
    }


def test_what_repeats_the_best_comes_after_what_is_new_and_nearly_as_good() -> None:
    best = [candidate(1, fused=1.0), candidate(2, fused=0.9), candidate(3, fused=0.8)]
    one, other = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    vectors = {UUID(int=1): one, UUID(int=2): one, UUID(int=3): other}

    assert numbers(diversified(best, vectors, 0.7)) == [1, 3, 2]
    assert numbers(diversified(best, vectors, 1.0)) == [1, 2, 3]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.integers(0, 10**6))
def test_diversity_only_reorders_and_its_order_is_what_the_policy_ranks_by(
    ranks: list[int], seed: int
) -> None:
    best = best_first([candidate(n, fused=1 / rank) for n, rank in enumerate(ranks, 1)])
    directions = np.random.default_rng(seed).normal(size=(len(best), 4)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    vectors = {one.document: row for one, row in zip(best, directions, strict=True)}

    order = diversified(best, vectors, 0.7)

    assert sorted(numbers(order)) == sorted(numbers(best))
    assert order[0].document == best[0].document
    assert [worth(one) for one in order] == [worth(one) for one in best]
    logits = FIXED.logits(Material(np.ones(4, np.float32), order, np.empty((len(order), 0)), {}))
    assert list(np.argsort(-logits, kind="stable")) == list(range(len(order)))


def test_presets_go_by_their_names_and_an_unknown_one_is_refused_by_its() -> None:
    assert preset_named("default") is DEFAULT
    assert all(preset_named(name).name == name for name in PRESETS)
    with pytest.raises(UnknownPreset, match=r"'defualt'.*bm25.*mixed"):
        preset_named("defualt")


def test_the_mix_is_ten_episodes_three_facts_and_three_experiences() -> None:
    assert dict(MIXED.mix) == {"episodic": 10, "semantic": 3, "experiential": 3}
    assert sum(MIXED.mix.values()) == MIXED.k
    assert MIXED.relevance == 0.7
