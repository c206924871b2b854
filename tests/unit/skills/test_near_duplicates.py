"""Blocking: near-duplicates meet in a band, other texts hardly ever do."""

import random

from memserver_skills.near_duplicates import Filed, bands, overlap, shingles


def sentence(chance: random.Random, length: int = 30) -> list[str]:
    return [f"w{chance.randrange(3000)}" for _ in range(length)]


def test_texts_that_share_most_words_meet() -> None:
    chance = random.Random(3)
    met = 0
    for _ in range(100):
        text = sentence(chance)
        changed = list(text)
        changed[chance.randrange(len(text))] = "other"
        one, other = shingles(" ".join(text)), shingles(" ".join(changed))
        assert overlap(one, other) > 0.7
        met += bool(set(bands(one)) & set(bands(other)))
    assert met >= 98


def test_texts_that_share_few_words_hardly_meet() -> None:
    chance = random.Random(4)
    met = 0
    for _ in range(100):
        text, other = sentence(chance), sentence(chance)
        mixed = text[:6] + other[6:]
        met += bool(set(bands(shingles(" ".join(text)))) & set(bands(shingles(" ".join(mixed)))))
    assert met <= 5


def test_only_sets_of_one_block_meet() -> None:
    filed = Filed()
    under = bands(shingles("open the drawer"))
    filed.add(0, "notes", under)

    assert filed.meets("notes", under) == {0}
    assert filed.meets("rules", under) == set()


def test_overlap_is_jaccard() -> None:
    # a, b, "a b" against a, c, "a c": one of five in common
    assert overlap(shingles("a b"), shingles("a c")) == 1 / 5
    assert overlap(shingles("!"), shingles("!")) == 1
