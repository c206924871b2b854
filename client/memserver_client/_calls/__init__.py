"""Every call of the client, each described once: its parameters, what it promises, what is sent.
`Memory` and `AsyncMemory` take the names, signatures and docstrings of their methods from here.

A new call is a function in one of these modules and a line in each class: `_asks` for a `Call` or
`Steps`, `_lists` for a `Listing` or `Lines`, `_saves` for a `Download`."""

from memserver_client._calls import (
    access,
    entities,
    erasures,
    exports,
    guardrails,
    history,
    learned,
    library,
    long_work,
    memories,
    policies,
    practice,
    preferences,
    retrieval,
    runs,
    sessions,
    skills,
    tools,
)

__all__ = [
    "access",
    "entities",
    "erasures",
    "exports",
    "guardrails",
    "history",
    "learned",
    "library",
    "long_work",
    "memories",
    "policies",
    "practice",
    "preferences",
    "retrieval",
    "runs",
    "sessions",
    "skills",
    "tools",
]
