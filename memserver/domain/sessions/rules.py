"""Ledger rules: what the state of a task allows an agent to call."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memserver.domain.errors import InvalidRule
from memserver.domain.sessions.conditions import Circumstances, check_shape, holds


@dataclass(frozen=True, slots=True)
class Rule:
    """For calls of the names in `calls` (any, where there are none) and where `when` holds:
    what they require, and what forbids them. `because` is told to whoever is blocked."""

    name: str
    because: str
    calls: tuple[str, ...] = ()
    when: Mapping[str, Any] | None = None
    require: Mapping[str, Any] | None = None
    forbid: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Raises `InvalidRule`."""
        if self.require is None and self.forbid is None:
            raise InvalidRule(self.name, "needs something to require or to forbid")
        for part in ("when", "require", "forbid"):
            condition = getattr(self, part)
            if condition is not None:
                check_shape(condition, f"{self.name}.{part}")


@dataclass(frozen=True, slots=True)
class Blocked:
    """A rule that a call breaks; `undecided` where the types of what it compares do not let it
    be decided, which blocks too."""

    rule: str
    because: str
    undecided: bool = False


def blocked_by(rules: Iterable[Rule], at: Circumstances) -> tuple[Blocked, ...]:
    """The rules that block the call, in their order; none where it is allowed."""
    return tuple(found for rule in rules if (found := _broken(rule, at)) is not None)


def _broken(rule: Rule, at: Circumstances) -> Blocked | None:
    if rule.calls and at.name not in rule.calls:
        return None
    if rule.when is not None and holds(rule.when, at) is False:
        return None
    required = True if rule.require is None else holds(rule.require, at)
    forbidden = False if rule.forbid is None else holds(rule.forbid, at)
    if required is False or forbidden is True:
        return Blocked(rule.name, rule.because)
    if required is None or forbidden is None:
        return Blocked(rule.name, rule.because, undecided=True)
    return None
