"""How much is understood of wordings that were written before the rules. The rules were made with
the even ones in sight; of the odd ones, at first unseen, about nine in ten were read."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memserver.domain.items import normal_name
from memserver.services.writing.facts import Known, facts_in
from memserver.services.writing.small_talk import is_small_talk

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
WORDINGS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "paraphrases.json").read_text(encoding="utf-8")
)
FACTS = (
    ("Ana", "allergy", "latex"),
    ("Dr. Mei Ng", "blood type", "O negative"),
    ("Goran", "emergency contact", "Petra Novak"),
    ("Zoë", "deadline", "2027-01-15"),
    ("Falcon", "budget", "3.5 million euros"),
)
KNOWN = Known.of([fact[0] for fact in FACTS], [fact[1] for fact in FACTS])


def worded(kind: str) -> list[tuple[str, tuple[str, str, str]]]:
    return [
        (template.format(entity=fact[0], attribute=fact[1], value=fact[2]), fact)
        for template in WORDINGS[kind]
        for fact in FACTS
    ]


def understood(text: str, known: Known | None) -> list[tuple[str, ...]]:
    found = facts_in(text, at=AT, zone=UTC, known=known)
    facts = [(fact.entity, fact.key, fact.value) for fact in found.facts]
    ended = [(one.entity, one.key, one.value or "") for one in found.retractions]
    return [tuple(map(normal_name, one)) for one in (*facts, *ended)]


@pytest.mark.parametrize(
    ("kind", "share", "share_known"),
    [("new", 0.95, 0.96), ("update", 0.98, 0.99), ("retract", 0.92, 0.98)],
)
def test_most_wordings_are_read_and_more_where_the_names_are_known(
    kind: str, share: float, share_known: float
) -> None:
    texts = worded(kind)
    for known, least in ((None, share), (KNOWN, share_known)):
        read = 0
        for text, (entity, key, value) in texts:
            wanted = (entity, key, "" if kind == "retract" else value)
            read += understood(text, known) == [tuple(map(normal_name, wanted))]
        assert read / len(texts) >= least


@pytest.mark.parametrize("kind", ["new", "update", "retract"])
def test_what_is_not_understood_is_hardly_ever_misunderstood(kind: str) -> None:
    misread = [
        text
        for text, (entity, key, value) in worded(kind)
        if (found := understood(text, None))
        and found != [tuple(map(normal_name, (entity, key, "" if kind == "retract" else value)))]
    ]
    assert len(misread) <= 0.02 * len(worded(kind))


def test_no_fact_is_found_where_none_is_stated() -> None:
    for text, _ in worded("not_facts"):
        assert understood(text, KNOWN) == [], text
    for text in WORDINGS["chat"]:
        assert understood(text, KNOWN) == [], text


def test_talk_is_told_from_what_is_worth_keeping() -> None:
    assert all(is_small_talk(text) for text in WORDINGS["chat"])
    for kind in ("new", "update", "retract", "not_facts"):
        for template in WORDINGS[kind]:
            said = template.format(entity="ana", attribute="allergy", value="latex")
            assert not is_small_talk(said), said
