"""Whether a namespace lets a skill declare the tools that it needs.

After the supply-chain defences of SAE and Progent: what a skill may call is decided by a list of
names before it is ever offered, not by the skill."""

from collections.abc import Iterable, Sequence

from memserver.domain.errors import ToolNotAllowed
from memserver.domain.items import Body, SkillBody
from memserver.domain.ports import Reader
from memserver.domain.scope import Namespace
from memserver_skills.agent_skills.rules import is_tool


def not_allowed(declared: Iterable[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """The declared tools that no entry of the list covers. An entry covers the tool of its name
    with any arguments; one with arguments in parentheses covers these alone. What is not one tool
    but reads as several is covered by none."""
    covered = frozenset(allowed)
    return tuple(
        tool
        for tool in declared
        if tool not in covered and not (is_tool(tool) and tool.split("(", 1)[0] in covered)
    )


def tools_of(body: Body) -> tuple[str, ...]:
    return body.tools if isinstance(body, SkillBody) else ()


def require_allowed(reader: Reader, namespace: Namespace, body: Body) -> None:
    """Raises `ToolNotAllowed` where the namespace has a list and the skill goes beyond it."""
    tools = tools_of(body)
    if not tools:
        return
    allowed = reader.namespace_settings(namespace).allowed_tools
    if allowed is not None and (beyond := not_allowed(tools, allowed)):
        raise ToolNotAllowed(namespace.path, beyond)
