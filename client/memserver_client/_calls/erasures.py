"""Erasing people, and who was erased."""

from memserver.wire.base import Page
from memserver.wire.erasures import Erasure, NewErasure
from memserver.wire.operations import Operation
from memserver_client._call import Listing, Steps, write
from memserver_client._operations import WAIT_SECONDS, OnProgress, started
from memserver_client._requests import checked


def erase(
    *,
    subject: str,
    namespace: str = "**",
    wait: bool = False,
    timeout: float = WAIT_SECONDS,
    on_progress: OnProgress | None = None,
) -> Steps[Operation]:
    """Removes all that was said by or about a person, for good; an admin's right. With `wait` it
    returns when that is done; the report's `counts` say how much went, `left` what an operator has
    to see to."""
    asked_for = checked(NewErasure, subject=subject, namespace=namespace)
    call = write("POST", "/v1/erasures", Operation, asked_for)
    return started(call, wait=wait, timeout=timeout, on_progress=on_progress)


def erasures() -> Listing[Erasure]:
    """Newest first, each by the digest of whom it was."""
    return Listing(path="/v1/erasures", page=Page[Erasure])
