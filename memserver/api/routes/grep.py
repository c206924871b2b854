"""Grep: a pattern in, the lines that match."""

from fastapi import APIRouter

from memserver.api import grep_shapes
from memserver.api.call import CallDep
from memserver.wire.grep import Grepped, GrepRequest

router = APIRouter(tags=["retrieve"])


@router.post("/grep")
async def grep(sent: GrepRequest, call: CallDep) -> Grepped:
    """Lines of stored texts that match a pattern, with the lines around them. Exact where retrieve
    goes by likeness: a code or a number is found by its very characters."""
    asked = grep_shapes.asked(sent)
    return await call.read(lambda: grep_shapes.grepped(call.services.grep(call.scope, asked)))
