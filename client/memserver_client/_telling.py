"""What can be told of a session, each kind of event described once: its parameters, and what is
sent. `Session` and `AsyncSession` take their methods from here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

Event = dict[str, Any]
Link = Mapping[str, Any]


def say(text: str, *, speaker: str = "user", at: datetime | None = None) -> Event:
    """Somebody says something."""
    return _event("message", speaker=speaker, text=text, at=at)


def call(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    override_reason: str | None = None,
) -> Event:
    """A call is made. Raises Conflict (`ledger_rule_blocks`) where a rule of the ledger blocks it
    and there is no reason to override that."""
    return _event("call", name=name, arguments=arguments, override_reason=override_reason)


def result(name: str, text: str, *, is_error: bool = False) -> Event:
    """What a call answered."""
    return _event("result", name=name, text=text, is_error=is_error)


def report(section: str, text: str, *, append: bool = False) -> Event:
    """A section of the report, replaced or continued; replaced by nothing, it goes."""
    return _event("report", section=section, text=text, mode="append" if append else "replace")


def candidate(
    name: str,
    text: str = "",
    *,
    score: float | None = None,
    links: Sequence[Link] = (),
    removed: bool = False,
) -> Event:
    """Something for the candidate pool, in place of what had its name; `removed` takes it out."""
    return _event(
        "candidate", name=name, text=text, score=score, links=list(links), removed=removed
    )


def evidence(name: str, claim: str, *, links: Sequence[Link] = ()) -> Event:
    """A claim and what it stands on: `{"turn": 3}`, `{"url": ...}`, `{"item": id}` …"""
    return _event("evidence", name=name, claim=claim, links=list(links))


def verify(evidence: str, verdict: str, *, by: str, note: str = "") -> Event:
    """A judgement of a piece of evidence: `supported`, `refuted` or `unclear`."""
    return _event("verification", evidence=evidence, verdict=verdict, by=by, note=note)


def set(**values: Any) -> Event:
    """Keys of the task's state: strings, numbers, true, false, null, or lists of them."""
    return _event("ledger", set=values)


def unset(*keys: str) -> Event:
    """Keys that the task's state has no more."""
    return _event("ledger", unset=list(keys))


def rule(
    name: str,
    because: str,
    *,
    call: str | Sequence[str] | None = None,
    when: Mapping[str, Any] | None = None,
    require: Mapping[str, Any] | None = None,
    forbid: Mapping[str, Any] | None = None,
) -> Event:
    """A rule that calls are held to from now on, in place of the one of its name."""
    parts = {
        "name": name,
        "because": because,
        "call": call if call is None or isinstance(call, str) else list(call),
        "when": when,
        "require": require,
        "forbid": forbid,
    }
    return _event("rule", rule={key: part for key, part in parts.items() if part is not None})


def _event(kind: str, **fields: Any) -> Event:
    return {"kind": kind, **{key: value for key, value in fields.items() if value is not None}}
