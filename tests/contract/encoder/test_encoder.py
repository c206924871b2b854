"""What every encoder promises."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.domain.ports import Encoder

TEXTS = [
    "",
    " ",
    "wash the cup",
    "東京都に住んでいます",
    "naïve café",
    "🙂" * 50,
    "x" * 5000,
    "go to cabinet 3\n" * 20,
]


def test_vectors_are_float32_of_the_dimension_and_unit_norm(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)

    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    query = encoder.encode_query("wash the cup")
    assert query.shape == (encoder.dimension,)
    assert query.dtype == np.float32


def test_no_texts_give_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_each_text_gets_its_own_vector_in_the_order_of_the_texts(encoder: Encoder) -> None:
    texts = [f"text number {n} {'word ' * (n % 7)}" for n in range(40)]
    together = encoder.encode(texts)

    for n in (0, 13, 39):
        assert together[n] == pytest.approx(encoder.encode([texts[n]])[0], abs=1e-5)


def test_a_query_is_nearest_to_the_text_that_says_the_same(encoder: Encoder) -> None:
    texts = ["wash the red cup", "open a drawer", "buy a train ticket"]
    scores = encoder.encode(texts) @ encoder.encode_query("wash a cup in red")

    assert int(np.argmax(scores)) == 0


def test_a_query_of_any_length_has_a_vector(encoder: Encoder) -> None:
    vector = encoder.encode_query("wash the cup " * 3000)

    assert np.isfinite(vector).all()


def test_a_short_text_is_one_window_as_it_is(encoder: Encoder) -> None:
    assert encoder.windows("wash the cup") == ("wash the cup",)
    assert encoder.windows("") == ("",)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    words=st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12),
        min_size=1,
        max_size=40,
    ),
    times=st.integers(1, 60),
)
def test_windows_overlap_cover_the_text_in_order_and_fit(
    encoder: Encoder, words: list[str], times: int
) -> None:
    text = " ".join(f"{word}{n}" for n, word in enumerate(words * times))
    windows = encoder.windows(text)
    longest = encoder.count_tokens(encoder.windows("word " * 5000)[0])

    start = covered = 0
    for window in windows:
        at = text.index(window, start)
        assert not encoder.count_tokens(text[covered:at])
        assert at + len(window) > covered or window == text
        start, covered = at, at + len(window)
        assert encoder.count_tokens(window) <= max(longest, 1)
    assert not encoder.count_tokens(text[covered:])


def test_windows_of_a_long_text_repeat_the_end_of_the_one_before(encoder: Encoder) -> None:
    windows = encoder.windows(" ".join(f"word{n}" for n in range(3000)))

    assert len(windows) > 2
    for left, right in pairwise(windows):
        assert right.split()[0] in left.split()
        assert left.split()[-1] in right.split()


def test_a_megabyte_is_cut_into_windows(encoder: Encoder) -> None:
    text = ("the agent goes to the shelf and takes sponge 12. " * 25_000)[:1_000_000]

    assert 100 < len(encoder.windows(text)) < 10_000


def test_counting_adds_up(encoder: Encoder) -> None:
    assert encoder.count_tokens("") == 0
    assert encoder.count_tokens("wash cup") == 2
    assert encoder.count_tokens("wash cup " * 1000) == 2000
    assert encoder.counter


def test_the_fingerprint_names_the_dimension_and_stays_the_same(encoder: Encoder) -> None:
    assert str(encoder.dimension) in encoder.fingerprint
    assert encoder.fingerprint == encoder.fingerprint


def test_many_threads_may_encode_count_and_cut_at_once(encoder: Encoder) -> None:
    long = "go to shelf " * 400
    expected = encoder.encode_query("wash the cup"), encoder.windows(long)
    failures: list[object] = []

    def work(number: int) -> None:
        try:
            for _ in range(3):
                vector = encoder.encode_query("wash the cup" if number % 2 else long)
                if number % 2:
                    assert vector == pytest.approx(expected[0], abs=1e-5)
                assert encoder.windows(long) == expected[1]
                assert encoder.count_tokens(long) == 1200
                encoder.encode(["short", "a longer text " * number])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
