"""The rerank of turns: what it goes by, and what it leaves alone."""

from memserver.domain.ports import Hit
from memserver.services.retrieval import rerank
from memserver.services.retrieval.rerank import Reach, reaches, reranked
from tests.unit.retrieval.made import OTHER_TALK, TALK, candidate, numbers, turn

REACH = {
    "dense": Reach(0.8, 0.2),
    "sparse": Reach(8.0, 1.0),
    "context_dense": Reach(0.8, 0.2),
    "context_sparse": Reach(16.0, 2.0),
}
EQUAL = {
    "dense": (1, 0.5),
    "sparse": (1, 4.0),
    "context_dense": (1, 0.5),
    "context_sparse": (1, 8.0),
}


def test_scores_count_where_ranks_are_equal() -> None:
    near = {**EQUAL, "context_sparse": (1, 16.0)}
    turns = [turn(1, "we met there", arms=EQUAL), turn(2, "we met there", arms=near)]

    assert numbers(reranked(turns, REACH, "where did they meet?")) == [2, 1]


def test_a_turn_of_whom_the_question_names_goes_first() -> None:
    turns = [
        turn(1, "I went to Oslo", speaker="Ben", arms=EQUAL),
        turn(2, "I went to Oslo", speaker="Ana Lund", arms=EQUAL),
    ]

    assert numbers(reranked(turns, REACH, "Where did Ana go?")) == [2, 1]
    assert numbers(reranked(turns, REACH, "Where did Ben's boat go?")) == [1, 2]
    assert numbers(reranked(turns, REACH, "Where did Anabel go?")) == [1, 2]


def test_an_answer_goes_before_the_question_that_it_answers() -> None:
    turns = [
        turn(1, "Where did you go in all that time?", arms=EQUAL),
        turn(2, "I went to Oslo and to Bergen then.", arms=EQUAL),
    ]

    assert numbers(reranked(turns, REACH, "Where did she go?")) == [2, 1]


def test_a_time_is_told_to_who_asks_for_one_only() -> None:
    turns = [
        turn(1, "I went to Oslo by train alone", arms=EQUAL),
        turn(2, "I went to Oslo just yesterday", arms=EQUAL),
    ]

    assert numbers(reranked(turns, REACH, "When did she go to Oslo?")) == [2, 1]
    assert numbers(reranked(turns, REACH, "How did she go to Oslo?")) == [1, 2]


def test_a_turn_of_a_session_that_is_about_it_goes_first() -> None:
    about = {**EQUAL, "context_sparse": (1, 16.0)}
    turns = [
        turn(1, "it was fine", session=OTHER_TALK, arms=EQUAL),
        turn(2, "it was fine", session=TALK, arms=EQUAL),
        *(turn(n, "the boat trip", session=TALK, arms=about) for n in (3, 4, 5)),
    ]

    order = numbers(reranked(turns, REACH, "How was the boat trip?"))

    assert order.index(2) < order.index(1)


def test_what_an_arm_left_out_is_taken_to_be_as_good_as_it_can_be() -> None:
    missing = {arm: place for arm, place in EQUAL.items() if arm != "dense"}
    worse = {**EQUAL, "dense": (1, 0.1)}
    better = {**EQUAL, "dense": (1, 0.3)}
    turns = [turn(n, "said", arms=arms) for n, arms in enumerate((worse, missing, better), 1)]

    assert numbers(reranked(turns, REACH, "what?")) == [3, 2, 1]


def test_an_arm_that_was_not_exhausted_left_out_only_what_does_not_match() -> None:
    hits = [Hit(turn(n, "x").document, turn(n, "x").id, score) for n, score in ((1, 9.0), (2, 4.0))]

    assert reaches({"sparse": hits}, 2) == {"sparse": Reach(9.0, 4.0)}
    assert reaches({"sparse": hits, "dense": []}, 3) == {"sparse": Reach(9.0, 0.0)}


def test_turns_exchange_their_scores_and_everything_else_keeps_its_own() -> None:
    poor, good = {"sparse": (9, 1.0)}, {"sparse": (2, 8.0), "context_sparse": (1, 16.0)}
    before = [
        turn(1, "Did you?", arms={"sparse": (1, 4.0)}),
        candidate(2, "a rule", kind="rule", arms={"sparse": (3, 3.0)}),
        turn(3, "I went to the harbour in Oslo and bought a boat.", arms=good),
        turn(4, "Why?", arms=poor),
    ]

    after = reranked(before, REACH, "Who bought a boat?")

    assert sorted(one.fused for one in after) == sorted(one.fused for one in before)
    assert [one.fused for one in after] == sorted((one.fused for one in after), reverse=True)
    assert next(one.fused for one in after if one.kind == "rule") == before[1].fused
    assert [one.document.int for one in after if one.turn] == [3, 1, 4]


def test_without_turns_nothing_changes() -> None:
    notes = [candidate(n, arms={"dense": (n, 1 / n)}) for n in (1, 2, 3)]

    assert reranked(notes, REACH, "When did Ana go?") == notes


def test_each_part_of_the_score_has_a_name_and_a_weight() -> None:
    after = reranked([turn(1, "a", arms=EQUAL), turn(2, "b", arms=EQUAL)], REACH, "When?")

    for one in after:
        assert one.parts.keys() == rerank.WEIGHTS.keys()
