"""Facts in what people say, by rules of English and without a model. What is not clearly a fact
stays in `rest`, to be kept as a note: a sentence may be understood too little, never wrongly."""

import re
from datetime import datetime, tzinfo

from memserver.services.writing.understood import Known, Retracted, Span, Stated, Understood

__all__ = ["Known", "Retracted", "Span", "Stated", "Understood", "facts_in"]

_POSSESSIVE = re.compile(r"(?P<entity>[A-Z]\w*)['’]s (?P<key>[a-z]+) is (?P<value>[\w-]+)\.")


def facts_in(
    text: str,
    *,
    at: datetime,
    zone: tzinfo,
    speaker: str | None = None,
    known: Known | None = None,
) -> Understood:
    """What `text`, said by `speaker` at `at`, states and takes back. `zone` is the speaker's."""
    found = _POSSESSIVE.fullmatch(text)
    if found is None:
        return Understood(rest=text)
    said = Stated(found["entity"], found["key"], found["value"], False, None, Span(0, len(text)))
    return Understood(facts=(said,))
