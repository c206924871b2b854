"""How LoCoMo's conversations are read and its questions are scored; no data of it is here."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memserver_bench.locomo import body_of
from memserver_bench.locomo_data import Question, evidence_ids, moment, read, said
from memserver_bench.locomo_measure import Answered, figures, ndcg, recall

TALK = {
    "sample_id": "talk-1",
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_2_date_time": "12:05 am on 1 June, 2026",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Hello again."}],
        "session_10_date_time": "1:56 pm on 8 July, 2026",
        "session_10": [
            {
                "speaker": "Ana",
                "dia_id": "D10:1",
                "text": "Look!",
                "blip_caption": "a red boat",
                "query": "boat harbour",
            }
        ],
        "session_11_date_time": "1:56 pm on 9 July, 2026",
        "session_11": [],
    },
    "qa": [
        {"question": "What did she show?", "evidence": ["D10:1"], "category": 5},
        {"question": "Both?", "evidence": ["D2:01; D10:1", "D99:1"], "category": 1},
        {"question": "Nothing?", "evidence": ["D", "D99:1"], "category": 2},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([TALK]))
    return path


def test_every_question_with_evidence_that_exists_counts_whatever_its_category(
    file: Path,
) -> None:
    (talk,) = read(file)

    assert [(q.text, q.category, set(q.evidence)) for q in talk.questions] == [
        ("What did she show?", 5, {"D10:1"}),
        ("Both?", 1, {"D2:1", "D10:1"}),
    ]


def test_sessions_come_in_their_order_with_their_times_and_empty_ones_not_at_all(
    file: Path,
) -> None:
    (talk,) = read(file)

    assert [session.turns[0].id for session in talk.sessions] == ["D2:1", "D10:1"]
    assert talk.sessions[0].at == datetime(2026, 6, 1, 0, 5, tzinfo=UTC)
    assert len({session.id for session in talk.sessions}) == 2
    body = body_of("here", talk.sessions[1])
    assert body["messages"] == [
        {
            "speaker": "Ana",
            "text": "Look! (shares a picture: a red boat; boat harbour)",
            "at": "2026-07-08T13:56:00+00:00",
        }
    ]


def test_ids_that_are_written_together_or_with_zeros_are_told_apart() -> None:
    assert evidence_ids(["D8:6; D9:17", "D1:04", "D:11:26", "", None]) == {"D8:6", "D9:17", "D1:4"}


def test_a_time_has_no_zone_and_is_taken_as_utc() -> None:
    assert moment("12:00 pm on 31 December, 2022") == datetime(2022, 12, 31, 12, tzinfo=UTC)


def test_a_turn_without_a_picture_says_its_text() -> None:
    assert said({"text": "Hello."}) == "Hello."


def question(*evidence: str, category: int = 1) -> Question:
    return Question("q", category, frozenset(evidence))


def test_recall_is_the_share_of_the_evidence_among_the_first() -> None:
    both = question("a", "b")

    assert recall(both, ["x", "a", "b"], 2) == 0.5
    assert recall(both, ["x", "a", "b"], 3) == 1.0
    assert recall(both, [], 10) == 0.0


def test_ndcg_by_hand() -> None:
    # Gains at places 2 and 3 of a possible 1 and 2: (1/log2 3 + 1/log2 4) / (1 + 1/log2 3)
    assert ndcg(question("a", "b"), ["x", "a", "b"], 10) == pytest.approx(0.693426, abs=1e-6)
    assert ndcg(question("a"), ["a"], 10) == 1.0


def test_figures_are_means_over_questions_of_ten_and_of_twenty_asked_for() -> None:
    answered = [
        Answered("one", question("a", category=1), ["a"], ["a"]),
        Answered("two", question("b", category=5), ["x"], ["x", "b"]),
        Answered("two", question("c", category=5), [*"1234567890", "c"], ["c"]),
    ]

    found = figures(answered)

    assert (found["recall@5"], found["recall@10"], found["recall@20"]) == (0.3333, 0.3333, 1.0)
    assert found["by_category"] == {
        "1": {"recall@10": 1.0, "questions": 1},
        "5": {"recall@10": 0.0, "questions": 2},
    }
    assert found["by_conversation"]["two"] == {"recall@10": 0.0, "questions": 2}
    assert found["questions"] == 3
