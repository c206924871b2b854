"""Memory as tools: function-calling schemas for agents, and calls of them."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StringConstraints

from memserver.wire.base import Model, NamespacePath, Receipt


class ToolsOffered(Model):
    """The tools as the named provider's API takes them."""

    format: str
    tools: list[dict[str, Any]]


class CallTool(Model):
    """What a model asked for. `arguments` are taken as the model wrote them: a JSON object, or
    its text. `session` is the conversation that the tools for working memory act on, and whose
    ledger rules the call is held to."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    arguments: dict[str, Any] | Annotated[str, StringConstraints(max_length=200_000)] = Field(
        default_factory=dict
    )
    namespace: NamespacePath
    session: UUID | None = None


class ToolResult(Receipt):
    """`content` is for the model to read. A call that failed for what the model wrote is a result
    too, with `is_error` and what to do better in `content`; `data` holds the same as values."""

    name: str
    content: str
    data: dict[str, Any]
    is_error: bool = False
