"""Presidio beside our own shapes: what it is sure of, and nothing of what is taken out already."""

from dataclasses import dataclass
from typing import Any

import pytest

from memserver.domain.ports.privacy import Looking
from memserver.services.privacy.presidio import PresidioDetector, PresidioMissing

PERSONAL = Looking(secrets=True, personal_data=True)


@dataclass
class Told:
    entity_type: str
    start: int
    end: int
    score: float


class Analyzer:
    def __init__(self, *told: Told) -> None:
        self.told = told

    def analyze(self, *, text: str, language: str) -> list[Told]:
        return list(self.told)


def found(detector: Any, text: str, looking: Looking = PERSONAL) -> list[tuple[str, str]]:
    return [(one.tag, text[one.start : one.end]) for one in detector.find(text, looking)]


def test_names_are_found_beside_what_has_a_shape() -> None:
    text = "Ada Lovelace, ada@example.org"
    detector = PresidioDetector(Analyzer(Told("PERSON", 0, 12, 0.85), Told("URL", 18, 29, 0.9)))
    assert found(detector, text) == [("person", "Ada Lovelace"), ("email", "ada@example.org")]


def test_what_it_is_not_sure_of_and_what_nobody_asked_for_is_left_alone() -> None:
    detector = PresidioDetector(Analyzer(Told("PERSON", 0, 3, 0.4)))
    assert found(detector, "May comes") == []
    sure = PresidioDetector(Analyzer(Told("PERSON", 0, 3, 0.9)))
    assert found(sure, "Ada came", Looking(secrets=True, personal_data=False)) == []


def test_the_real_one_finds_a_name() -> None:
    pytest.importorskip("presidio_analyzer", reason="presidio-analyzer is not installed")
    try:
        detector = PresidioDetector()
    except (PresidioMissing, OSError, SystemExit) as error:
        pytest.skip(f"Presidio has no model here: {error}")
    assert ("person", "Ada Lovelace") in found(detector, "Ada Lovelace wrote the program.")
