"""Memory as tools for agents: their schemas, and one route for calls of all of them."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from memserver.api import shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.gatekeeper import check_json
from memserver.api.queries import ToolsQuery
from memserver.domain.ports import Writer
from memserver.services.tools.calling import FOR_THE_MODEL, refused
from memserver.services.tools.tool import Answer, Write
from memserver.wire.tools import CallTool, ToolResult, ToolsOffered

router = APIRouter(prefix="/tools", tags=["tools"])


@router.get("")
async def list_tools(query: Annotated[ToolsQuery, Query()], call: CallDep) -> ToolsOffered:
    """Function-calling schemas of the memory tools, as the named API takes them."""
    return ToolsOffered(format=query.format, tools=call.services.tools.offered(query.format))


@router.post("/call", response_model=ToolResult)
async def call_tool(sent: CallTool, call: WriteCallDep) -> Response:
    """Do what a model asked for. What it got wrong comes back as a result with `is_error`, for it
    to read; what the caller may not do is an error as everywhere else."""
    tools = call.services.tools
    place = await call.read(lambda: tools.place(call.scope, sent.namespace, sent.session))
    try:
        if isinstance(sent.arguments, str):
            # Text within text: what the limits of a body keep out is looked for once more.
            check_json(sent.arguments.encode() or b"{}", call.limits)
        outcome = await call.read(lambda: tools.call(place, sent.name, sent.arguments))
        if not isinstance(outcome, Answer):
            return await call.write(partial(_written, sent.name, outcome))
    except FOR_THE_MODEL as error:
        outcome = refused(error)
    return JSONResponse(_shaped(sent.name, outcome).model_dump(mode="json"))


def _written(name: str, write: Write, tx: Writer) -> ToolResult:
    return _shaped(name, write(tx))


def _shaped(name: str, answer: Answer) -> ToolResult:
    return ToolResult(
        name=name,
        content=answer.content,
        data=answer.data,
        is_error=answer.is_error,
        **shaping.receipt(answer.change).model_dump(),
    )
