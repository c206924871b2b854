"""BM25 weights: the engine's own for plain text, and words of every script."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_edge import Bm25, Bm25Config

from memserver.domain.ports import SparseVector
from memserver.storage.encoders import Bm25Encoder

encoder = Bm25Encoder()


def overlap(query: str, text: str) -> int:
    return len(set(encoder.query(query).indices) & set(encoder.document(text).indices))


@pytest.mark.parametrize(
    "text",
    [
        "put some dishsponge on cart",
        "the cat sat on the mat and the cats ran " * 20,
        "go to cabinet 3, then cabinet 3 again",
        "pick_and_place-123",
        "Ünïcödé Straße ÜNÏCÖDÉ",
    ],
)
def test_the_weights_are_those_of_the_engine(text: str) -> None:
    engine = Bm25(Bm25Config(language="english", avg_len=40.0)).embed_document(text)
    ours = encoder.document(text)

    expected = dict(zip(engine.indices, engine.values, strict=True))
    assert set(ours.indices) == set(expected)
    for index, weight in zip(ours.indices, ours.values, strict=True):
        assert weight == pytest.approx(expected[index], abs=1e-5)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("寿司", "東京都に住んでいます。寿司が好き"),
        ("茶", "お茶を飲む"),
        ("北京", "我喜欢北京烤鸭"),
        ("404", "エラー 404 が出た"),
        ("cabinet", "打开 cabinet 3"),
        ("สวัสดี", "สวัสดีชาวโลก"),
        ("세계", "안녕하세요 세계"),
        ("place", "pick_and_place"),
        ("3", "go to cabinet 3"),
        ("Washing", "wash the cup"),
    ],
)
def test_a_word_is_found_in_a_text_that_holds_it(query: str, text: str) -> None:
    assert overlap(query, text) >= 1


def test_words_of_an_unspaced_text_tell_texts_apart() -> None:
    assert overlap("寿司", "我喜欢北京烤鸭") == 0
    assert overlap("北京烤鸭", "我喜欢北京烤鸭") > overlap("北鸭", "我喜欢北京烤鸭")
    assert len(encoder.document("東京都に住んでいます").indices) > 2


@pytest.mark.parametrize("text", ["", "   ", "!!! ???", "the of and", "\n\t"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert encoder.document(text) == encoder.query(text) == SparseVector((), ())


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=200))
def test_every_text_gives_a_vector_that_an_index_takes(text: str) -> None:
    for made in (encoder.document(text), encoder.query(text)):
        assert len(made.indices) == len(made.values) == len(set(made.indices))
        assert list(made.indices) == sorted(made.indices)
        assert all(0 <= index < 2**32 for index in made.indices)
        assert all(math.isfinite(value) and value > 0 for value in made.values)
    assert set(encoder.query(text).indices) == set(encoder.document(text).indices)


def test_a_word_weighs_more_the_more_often_it_occurs_and_less_in_a_long_text() -> None:
    once, thrice = encoder.document("cup plate"), encoder.document("cup cup cup plate")
    cup = encoder.query("cup").indices[0]
    weight = {
        text: dict(zip(v.indices, v.values, strict=True))[cup]
        for text, v in [
            ("once", once),
            ("thrice", thrice),
            ("long", encoder.document("cup " + "w x y z " * 50)),
        ]
    }

    assert weight["thrice"] > weight["once"] > weight["long"]
