"""Retrieve: a task in, what helps it out."""

from fastapi import APIRouter

from memserver.api import parsing, shaping
from memserver.api.call import CallDep
from memserver.wire.retrieval import Retrieved, RetrieveRequest

router = APIRouter(tags=["retrieve"])


@router.post("/retrieve")
async def retrieve(sent: RetrieveRequest, call: CallDep) -> Retrieved:
    """What helps the task at hand, best first, within the token budget; for each item why it
    is there. `retrieval_id` is what feedback refers to."""
    query = parsing.query(sent)
    return await call.show(
        sent.unseal, lambda: shaping.retrieved(call.services.retrieve(call.scope, query))
    )
