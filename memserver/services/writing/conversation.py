"""A conversation that goes on: which of its messages are stored already."""

from collections.abc import Sequence

from memserver.domain.items import Entry, TextBody
from memserver.services.writing.telling import Message

LOOKED_BACK = 200
"""Turns of a session among which a batch is recognised that was sent before."""


def stored_before(stored: Sequence[Entry], sent: Sequence[Message]) -> int:
    """How many of the first messages `sent` are among the session's turns, in order: those with
    which the session ends (whoever sends a whole conversation again each time sends these), or all
    where the batch stands somewhere in it as a whole. One message alone counts as sent again
    only at the end, or where it is dated."""
    for length in range(min(len(stored), len(sent)), 0, -1):
        if _alike(stored[-length:], sent[:length]):
            return length
    if len(sent) > 1 or (sent and sent[0].at is not None):
        for start in range(len(stored) - len(sent) + 1):
            if _alike(stored[start : start + len(sent)], sent):
                return len(sent)
    return 0


def _alike(stored: Sequence[Entry], sent: Sequence[Message]) -> bool:
    return all(_is_same(entry, message) for entry, message in zip(stored, sent, strict=True))


def _is_same(entry: Entry, message: Message) -> bool:
    version = entry.version
    return (
        version.turn is not None
        and version.turn.speaker == message.speaker
        and isinstance(version.body, TextBody)
        and version.body.text == message.text
        and (message.at is None or message.at == version.valid_from)
    )
