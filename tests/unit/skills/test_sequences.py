"""Agreement of sequences and the sequence that agrees best with many."""

from hypothesis import given
from hypothesis import strategies as st

from memserver_skills.sequences import agreement, aligned, common_length, consensus

LINES = st.lists(st.sampled_from("abcde"), max_size=8)


def plain_common_length(left: list[str], right: list[str]) -> int:
    """The textbook table, to check the bit-parallel one against."""
    if not left or not right:
        return 0
    if left[0] == right[0]:
        return 1 + plain_common_length(left[1:], right[1:])
    return max(plain_common_length(left[1:], right), plain_common_length(left, right[1:]))


@given(LINES, LINES)
def test_the_fast_length_is_the_textbook_length(left: list[str], right: list[str]) -> None:
    assert common_length(left, right) == plain_common_length(left, right)


@given(LINES, LINES)
def test_agreement_is_symmetric_and_between_zero_and_one(left: list[str], right: list[str]) -> None:
    assert agreement(left, right) == agreement(right, left)
    assert 0 <= agreement(left, right) <= 1
    assert agreement(left, left) == 1


@given(LINES, LINES)
def test_an_alignment_is_a_longest_common_subsequence(left: list[str], right: list[str]) -> None:
    pairs = aligned(left, right)

    assert len(pairs) == common_length(left, right)
    assert all(left[one] == right[other] for one, other in pairs)
    assert list(pairs) == sorted(set(pairs))


def test_the_consensus_can_be_better_than_every_run() -> None:
    runs = [tuple("xabcd"), tuple("abycd"), tuple("abcdz")]

    assert consensus(runs) == tuple("abcd")


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_consensus_does_not_depend_on_order(runs: list[list[str]]) -> None:
    lines = [tuple(run) for run in runs]

    assert consensus(lines) == consensus(lines[::-1])
    assert consensus(lines)
