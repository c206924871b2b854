"""A library that has what its stream of tasks needs stops changing."""

from dataclasses import dataclass
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memserver_skills.evolution.convergence import Window, convergence, has_converged


@dataclass(frozen=True)
class Change:
    runs: int = 0
    items: frozenset[UUID] = frozenset()


def changes(*of: int | str) -> list[Change]:
    """A number is so many runs, a word the items that changed, one a letter."""
    return [
        Change(runs=one)
        if isinstance(one, int)
        else Change(items=frozenset(UUID(int=ord(letter)) for letter in one))
        for one in of
    ]


def test_what_changes_after_the_runs_of_a_window_belongs_to_it() -> None:
    first, second = convergence(changes(2, "ab", 2, "b"), window=2)
    assert first == Window(runs=2, changed=2, library=2)
    assert second == Window(runs=2, changed=1, library=2)
    assert (first.share, second.share) == (0.5, 0.25)


def test_the_metric_falls_as_the_stream_repeats() -> None:
    windows = convergence(changes(5, "abcd", 5, "ab", 5, "a", 5), window=5)
    shares = [window.share for window in windows]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0.0
    assert has_converged(windows, below=0.01)
    assert not has_converged(windows[:1], below=0.01)


def test_what_was_there_before_any_run_is_only_counted() -> None:
    assert convergence(changes("abc", 1, "a"), window=1) == (Window(1, 1, 3),)
    assert convergence(changes("abc"), window=1) == ()
    assert not has_converged((), below=1.0)


@given(st.lists(st.one_of(st.integers(0, 4), st.text("abc", max_size=3)), max_size=20))
def test_every_run_is_in_one_window_and_no_share_is_above_one(of: list[int | str]) -> None:
    windows = convergence(changes(*of), window=3)
    assert sum(window.runs for window in windows) == sum(n for n in of if isinstance(n, int))
    assert all(0 <= window.share <= 1 for window in windows)
    assert all(window.runs >= 3 for window in windows[:-1])
