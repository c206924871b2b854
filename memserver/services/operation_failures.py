"""Why an operation failed, said without what users stored: an exception's message may quote
their text, and both the operation's row and the log outlive its erasure."""

import traceback
from collections.abc import Iterator

from memserver.domain.errors import MemserverError

REASON_LENGTH = 500


def reason(error: BaseException) -> str:
    """One sentence for the operation's row. Our own errors compose their messages for readers;
    of others only the class is told."""
    if isinstance(error, MemserverError):
        return f"{error.code}: {error}"[:REASON_LENGTH]
    return f"{type(error).__name__}: unexpected; the server's log shows where it was raised."


def frames(error: BaseException) -> str:
    """Where the error and its causes were raised, for the log: code lines, no messages."""
    return "".join(
        f"{type(link).__name__}\n{''.join(traceback.format_tb(link.__traceback__))}"
        for link in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
