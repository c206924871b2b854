"""One authenticated request: its caller, and how its reads and writes are run."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from memserver.api.limits import Limits
from memserver.api.problems import InvalidIdempotencyKey, PageTooLarge
from memserver.domain.errors import Unavailable
from memserver.domain.ports import Once, PageRequest, StoredReply, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.services.bundle import Services

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,200}")
# The pattern is only documented here: a key that does not fit has an error of its own.
IDEMPOTENCY_HEADER = Header(
    description="Names this write. Sent again under the same name, with the same body, it is "
    "done once and answered alike.",
    json_schema_extra={"pattern": f"^{IDEMPOTENCY_KEY.pattern}$"},
)


@dataclass(frozen=True, slots=True)
class Call:
    """`once` is set where a write carries an idempotency key."""

    scope: Scope
    services: Services
    limits: Limits
    once: Once | None

    async def read(self, work: Callable[[], T]) -> T:
        return await run_in_threadpool(work)

    async def show(
        self, unseal: bool, work: Callable[[], M], *, within: Callable[[], str] | None = None
    ) -> M:
        """As `read`; with originals in the place of placeholders where that is asked for, which
        the key must be allowed. `within` names the namespace of a reply that does not itself."""
        if not unseal:
            return await self.read(work)
        unsealing = self.services.unsealing
        unsealing.require(self.scope)

        def unsealed() -> M:
            reply = work()
            around = [] if within is None else [within()]
            body = reply.model_dump(mode="json", by_alias=True)
            return type(reply).model_validate(
                unsealing.reply(self.scope, body, within=around), by_alias=True
            )

        return await run_in_threadpool(unsealed)

    async def writable(self, path: str) -> Namespace:
        return await run_in_threadpool(self.services.access.writable, self.scope, path)

    async def write(
        self,
        work: Callable[[Writer], BaseModel],
        *,
        status: int = 200,
        wait: bool = True,
        secret: str | None = None,
    ) -> JSONResponse:
        """Runs `work` in one transaction, once an idempotency key, and answers when the write
        is searchable: with 202 instead of `status` where it is not (yet). The field `secret`
        is answered but not stored."""

        def transact(tx: Writer) -> StoredReply:
            if self.once is not None and (stored := tx.replay(self.once)) is not None:
                return stored
            reply = StoredReply(status, work(tx).model_dump(mode="json"))
            if self.once is not None:
                kept = {k: None if k == secret else v for k, v in reply.body.items()}
                tx.store_reply(self.once, StoredReply(status, kept))
            return reply

        reply = await run_in_threadpool(self.services.store.write, transact)
        return await self._answer(reply, wait)

    async def _answer(self, reply: StoredReply, wait: bool) -> JSONResponse:
        position = reply.body.get("position")
        if not isinstance(position, int):
            return JSONResponse(reply.body, reply.status)
        # Where nothing was new, what it repeats may not be searchable yet.
        awaited: int = position or await run_in_threadpool(self._head_position)
        searchable = await self._searchable(awaited, wait)
        if searchable and self.services.indexer.skipped:
            searchable = not await run_in_threadpool(self._left_out, reply.body)
        status = reply.status if searchable else 202
        return JSONResponse({**reply.body, "searchable": searchable}, status)

    def _left_out(self, body: dict[str, Any]) -> bool:
        """Whether what was written, or repeated, is among what cannot be indexed."""
        indexer = self.services.indexer
        if body["position"]:
            return indexer.left_out(body["position"])
        named = {body.get("id"), body.get("version_id"), *body.get("ids", ())}
        return any(str(key.document) in named for key in indexer.skipped)

    def _head_position(self) -> int:
        with self.services.store.reading() as reader:
            return reader.head_position()

    async def _searchable(self, position: int, wait: bool) -> bool:
        indexer = self.services.indexer
        indexer.wake()
        if indexer.applied >= position:
            return True
        if not wait:
            return False
        reached = asyncio.wrap_future(indexer.reached(position))
        try:
            await asyncio.wait_for(reached, self.limits.wait_s)
        except (TimeoutError, Unavailable):
            return False
        return True

    def page(self, limit: int | None, cursor: str | None) -> PageRequest:
        if limit is not None and limit > self.limits.page_most:
            raise PageTooLarge(self.limits.page_most)
        return PageRequest(limit or self.limits.page, cursor)


def _call(request: Request) -> Call:
    services: Services = request.app.state.services
    return Call(_state(request).caller, services, request.app.state.limits, once=None)


def _write_call(
    request: Request,
    call: Annotated[Call, Depends(_call)],
    idempotency_key: Annotated[str | None, IDEMPOTENCY_HEADER] = None,
) -> Call:
    if idempotency_key is None:
        return call
    if not IDEMPOTENCY_KEY.fullmatch(idempotency_key):
        raise InvalidIdempotencyKey
    once = Once(
        tenant=call.scope.tenant,
        route=f"{call.scope.key} {request.method} {request.url.path}",
        key=idempotency_key,
        body_hash=f"{_state(request).body_hash}:{request.url.query}",
    )
    return replace(call, once=once)


def _state(request: Request) -> Any:
    """What the gatekeeper found out."""
    return request.state


CallDep = Annotated[Call, Depends(_call)]
WriteCallDep = Annotated[Call, Depends(_write_call)]
