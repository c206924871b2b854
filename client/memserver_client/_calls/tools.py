"""Memory as tools that a model may call."""

from collections.abc import Mapping
from typing import Any

from memserver.wire.tools import CallTool, ToolResult, ToolsOffered
from memserver_client._call import Call, Steps, asked, read, write
from memserver_client._requests import Id, checked


def tools(*, format: str = "openai") -> Steps[list[dict[str, Any]]]:
    """Function-calling schemas, to be handed to a model's API as they are: `openai` or
    `anthropic`."""
    offered = yield from asked(read("/v1/tools", ToolsOffered, {"format": format}))
    return offered.tools


def call_tool(
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    *,
    namespace: str,
    session: Id | None = None,
) -> Call[ToolResult]:
    """Does what a model asked for; `arguments` as it wrote them, parsed or not. What it got wrong
    is no exception: the result has `.is_error`, and a `.content` for the model to read."""
    call = checked(CallTool, name=name, arguments=arguments, namespace=namespace, session=session)
    return write("POST", "/v1/tools/call", ToolResult, call)
