"""Remember: one way in for what people and agents say."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import writing_shapes
from memserver.api.call import WriteCallDep
from memserver.api.queries import WriteQuery
from memserver.services.writing.writing import Prepared
from memserver.wire.writing import Remember, Remembered

router = APIRouter()


@router.post("/remember", status_code=201, response_model=Remembered, tags=["memories"])
async def remember_what_was_said(
    sent: Remember, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Keep what is new in a text, a conversation or a list of facts: each thing in it is added,
    updates or ends what is known, or is known already."""
    writing = call.services.writing
    namespace = await call.writable(sent.namespace)

    def prepare() -> Prepared:
        told = writing_shapes.told(
            sent, now=writing.now(), default_zone=lambda: writing.time_zone(namespace)
        )
        return writing.prepare(call.scope, namespace, told)

    prepared = await call.read(prepare)
    return await call.write(
        lambda tx: writing_shapes.remembered(writing.write(tx, call.scope, namespace, prepared)),
        status=201,
        wait=query.wait,
    )
