"""Erasing a person."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import PageQuery
from memserver.domain.ports.privacy import Erasure as Erased
from memserver.wire.base import Page
from memserver.wire.erasures import Erasure, NewErasure
from memserver.wire.operations import Operation

router = APIRouter(prefix="/erasures", tags=["erasures"])


@router.post("", status_code=202, response_model=Operation)
async def erase(sent: NewErasure, call: WriteCallDep) -> Response:
    """Remove all that was said by or about a person, everywhere, for good. An admin's right; it
    cannot be undone. The index is built anew, so that retrieves find less meanwhile."""
    service = call.services.erasing
    namespace = await call.read(lambda: service.namespace(call.scope, sent.namespace))
    return await call.write(
        lambda tx: shaping.operation(
            service.request(tx, call.scope, namespace, subject=sent.subject, pattern=sent.namespace)
        ),
        status=202,
    )


@router.get("")
async def list_erasures(query: Annotated[PageQuery, Query()], call: CallDep) -> Page[Erasure]:
    """Who was erased, by digest, and how much that was; newest first. An admin's right."""
    page = call.page(query.limit, query.cursor)
    found = await call.read(lambda: call.services.erasing.list(call.scope, page))
    return shaping.page(found, _erasure)


def _erasure(of: Erased) -> Erasure:
    return Erasure(
        id=str(of.id),
        digest=of.digest,
        namespace=of.pattern,
        created_at=of.created_at,
        counts=dict(of.counts),
    )
