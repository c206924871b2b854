"""What stands before every route: a request that never came whole is none."""

import asyncio
from typing import cast

from starlette.types import Message, Receive, Scope, Send

from memserver.api.gatekeeper import Gatekeeper
from memserver.api.limits import Limits
from memserver.services.access import Access


class OpenDoor:
    def authenticate(self, secret: str | None) -> str:
        return f"whoever has {secret}"


def passed_on(messages: list[Message]) -> list[bytes]:
    """The bodies that the application sees of a request that arrives as these messages."""
    seen: list[bytes] = []
    arriving = iter(messages)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((await receive())["body"])

    async def receive() -> Message:
        return next(arriving)

    async def send(message: Message) -> None:
        raise AssertionError(message)

    scope = {"type": "http", "path": "/v1/trajectories/import", "headers": []}
    gatekeeper = Gatekeeper(application, cast(Access, OpenDoor()), Limits())
    asyncio.run(gatekeeper(scope, receive, send))
    return seen


def part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_is_passed_on_whole() -> None:
    assert passed_on([part(b"one ", more=True), part(b"two", more=False)]) == [b"one two"]


def test_a_body_that_breaks_off_reaches_no_route() -> None:
    """An empty file would be imported in its place, under the idempotency key of the real one."""
    assert passed_on([part(b"one ", more=True), {"type": "http.disconnect"}]) == []
