"""Where items come from, and bringing back what they said."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import shaping, skill_shapes
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import WriteQuery
from memserver.wire import provenance
from memserver.wire.items import ItemStored

router = APIRouter(tags=["memories"])


@router.get("/memories/{item_id}/provenance")
async def trace(item_id: UUID, call: CallDep) -> provenance.Provenance:
    """The steps and turns that an item, and all that was merged into it, were drawn from."""
    return skill_shapes.trace(await call.read(lambda: call.services.tracing(call.scope, item_id)))


@router.post("/memories/{item_id}/restore", status_code=201, response_model=ItemStored)
async def restore(
    item_id: UUID,
    sent: provenance.Restore,
    query: Annotated[WriteQuery, Query()],
    call: WriteCallDep,
) -> Response:
    """Have an item say again what an earlier version said, as a new version of it. One that was
    deleted, archived or merged comes back."""
    return await call.write(
        lambda tx: shaping.item_stored(
            call.services.restoring(tx, call.scope, item_id, sent.version_id)
        ),
        status=201,
        wait=query.wait,
    )
