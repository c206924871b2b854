"""Personal data found by Presidio's recognisers too, where `presidio-analyzer` is installed: names
and places, which have no shape. Slower by far than shapes, so that it has to be asked for."""

import threading
from collections.abc import Sequence
from typing import Any

from memserver.domain.errors import MemserverError
from memserver.domain.ports.privacy import Looking
from memserver.services.privacy.detecting import Found, find
from memserver.services.privacy.patterns import Family

LEAST_SCORE = 0.6
"""What is less certain than this is left alone: a placeholder in place of a word is a loss, too."""


class PresidioMissing(MemserverError):
    code = "presidio_missing"

    def __init__(self) -> None:
        super().__init__("Presidio is not installed: pip install 'memserver[presidio]'.")


class PresidioDetector:
    """What has a shape, and beside it what Presidio's `analyzer` finds in English text. It is made
    at the first text; raises `PresidioMissing` at once where there is none."""

    def __init__(self, analyzer: Any = None) -> None:
        self._analyzer = analyzer if analyzer is not None else _made()
        self._lock = threading.Lock()

    def find(self, text: str, looking: Looking) -> Sequence[Found]:
        shaped = find(text, looking)
        if not looking.personal_data:
            return shaped
        with self._lock:
            told = self._analyzer.analyze(text=text, language="en")
        found = list(shaped)
        for one in sorted(told, key=lambda one: (-one.score, one.start)):
            apart = all(one.end <= each.start or each.end <= one.start for each in found)
            if one.score >= LEAST_SCORE and apart and text[one.start : one.start + 1] != "[":
                tag = one.entity_type.lower()[:20]
                found.append(Found(one.start, one.end, tag, Family.PERSONAL))
        return sorted(found)


def _made() -> Any:
    try:
        from presidio_analyzer import AnalyzerEngine
    except ImportError:
        raise PresidioMissing from None
    return AnalyzerEngine()
