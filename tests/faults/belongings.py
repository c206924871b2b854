"""What somebody owns: one of everything that has an id, all of it theirs alone. And requests that
name an id, made from the app's own document, so that a new route is tried without being told."""

import itertools
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memserver.domain.policy.features import NAMES as FEATURE_NAMES
from memserver.domain.policy.features import SCHEMA_VERSION
from memserver.domain.policy.folder import packed, write_folder
from memserver.domain.policy.manifest import Manifest
from memserver.ids import uuid7
from tests.fakes.encoder import HashEncoder
from tests.faults.document import ROUTES, IdPlace, Route, least, with_value
from tests.integration.conftest import Caller, wait_for

SECRET = "the vault opens with a turquoise feather"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
VOLATILE = re.compile(
    r'"[0-9T:.+Z-]{20,40}"|(?<="position":)\d+|(?<="seqs":\[)\d+|(?<="events":)\d+'
    r"|\b(item|note|x)-\d+"
)

NAMES: dict[str, str] = {
    "trajectory_id": "run",
    "item_id": "skill",
    "change_id": "change",
    "operation_id": "operation",
    "key_id": "key",
    "retrieval_id": "retrieval",
    "decision_id": "retrieval",
    "policy_id": "policy",
    "session_id": "session",
    "session": "session",
    "event_id": "session",
    "item": "skill",
    "trajectory": "run",
    "run": "run",
    "used": "version",
    "version_id": "version",
    "plan": "operation",
    "row": "skill",
    "skills": "skill",
    "id": "run",
}
"""What a parameter of this name names. One that is missing here fails a test: say what it names,
and see to it that `furnish` makes one."""

APART = frozenset({"POST /v1/practice/validate"})
"""Routes whose ids hang together, so that they are tried where such goals are made: by
tests/integration/test_practice.py::test_goals_are_proposed_and_judged_by_those_alone_who_may_write_there."""

NO_ONES = frozenset({"/v1/backup"})
"""Routes for the system key alone, whose answer is nobody's own."""

MINTED = frozenset({"id"})
"""Ids that the caller makes up: nothing is looked up by them."""

NEVER_LOOKED_UP = frozenset(
    {
        ("POST /v1/retrieve", "trajectory_id"),
        ("GET /v1/changes", "row"),
        ("POST /v1/remember", "session"),
        ("POST /v1/preferences/edits", "run"),
        ("POST /v1/memories", "sources.0.trajectory_id"),
        ("POST /v1/skills", "sources.0.trajectory_id"),
        ("POST /v1/memories/{item_id}/versions", "sources.0.trajectory_id"),
        ("POST /v1/skills/{item_id}/versions", "sources.0.trajectory_id"),
        ("POST /v1/sessions/{session_id}/events", "events.0.event_id"),
        ("POST /v1/sessions/{session_id}/events", "events.0.links.0.item"),
        ("POST /v1/sessions/{session_id}/events", "events.0.links.0.trajectory"),
    }
)
"""Ids that are compared or kept as they are. The answer must not depend on whether they exist."""

Belongings = dict[str, str]
Completion = Callable[[Belongings, str], dict[str, Any]]
fresh = itertools.count()

OUTCOME = {"score": 0.0, "success": False}
COMPLETED: dict[str, Completion] = {
    "POST /v1/trajectories": lambda own, name: {"outcome": OUTCOME},
    "POST /v1/trajectories/batch": lambda own, name: {
        "trajectories": [{"task": {"goal": "x"}, "outcome": OUTCOME}]
    },
    "POST /v1/feedback": lambda own, name: (
        {} if name.endswith("_id") else {"trajectory_id": own["run"]}
    ),
    "POST /v1/remember": lambda own, name: {
        "messages": [{"role": "user", "text": f"note-{next(fresh)}"}]
    },
    "POST /v1/memories": lambda own, name: {"body": {"text": f"note-{next(fresh)}"}},
    "POST /v1/route": lambda own, name: {"agents": ["x"]},
    "POST /v1/skills": lambda own, name: {"body": {"when": f"x-{next(fresh)}"}},
    "POST /v1/memories/{item_id}/versions": lambda own, name: {
        "body": {"when": f"x-{next(fresh)}"}
    },
    "POST /v1/skills/{item_id}/versions": lambda own, name: {"body": {"when": f"x-{next(fresh)}"}},
    # Of the kinds of event, one that has links.
    "POST /v1/sessions/{session_id}/events": lambda own, name: {
        "events": [{"kind": "evidence", "name": "x", "claim": "x"}]
    },
    # Where nothing was learnt from the run that is named, by the caller's own account.
    "POST /v1/retrieve": lambda own, name: {"namespace": f"{own['namespace']}/quiet"},
}
"""What a valid body needs beyond what the document says is required."""


@dataclass(frozen=True)
class Owner:
    """A caller with their own of everything."""

    caller: Caller
    own: Belongings

    @property
    def ids(self) -> set[str]:
        return {value for name, value in self.own.items() if name != "namespace"}

    def ask(self, place: IdPlace, named: str) -> Any:
        """The route's answer when it is told the id `named` at this place, and is told what is
        one's own at all others."""
        route = place.route
        path = route.path
        for one in route.parameters("path"):
            theirs = place.where == "path" and one["name"] == place.name
            value = named if theirs else self.own[NAMES[one["name"]]]
            path = path.replace(f"{{{one['name']}}}", value)
        params = query(route, self.own["namespace"])
        if place.where == "query":
            params[place.name] = named
        request: dict[str, Any] = {"params": params}
        if route.body is not None:
            body = least(route.body, self.own["namespace"])
            body |= COMPLETED.get(str(route), lambda own, name: {})(self.own, place.name)
            if place.where == "body":
                body = with_value(body, place.place, named, route)
            request["json"] = body
        return self.caller(route.method, path, **request)


@dataclass(frozen=True)
class Answer:
    status: int
    text: str


def query(route: Route, namespace: str) -> dict[str, Any]:
    """What the route's query must say. A stream is to end soon."""
    given = {
        one["name"]: least(one["schema"], namespace)
        for one in route.parameters("query")
        if one.get("required")
    }
    names = {one["name"] for one in route.parameters("query")}
    known = {"namespace": namespace, "seconds": 0.1}
    return given | {name: value for name, value in known.items() if name in names}


def furnish(admin: Caller, namespace: str, *, secret: str = SECRET) -> Owner:
    """One of everything in the namespace, made by an admin's key that reaches it."""
    admin.post("/v1/memories", {"namespace": f"{namespace}/quiet", "body": {"text": secret}})
    # Of the forms of skills, one that guides a run as well.
    body = {
        "when": f"{secret} in {namespace}",
        "form": "milestones",
        "steps": [{"action": "reach it", "expect": "it is reached"}],
    }
    skill = admin.post("/v1/skills", {"namespace": namespace, "body": body})
    run = {
        "namespace": namespace,
        "task": {"goal": f"{secret} in {namespace}"},
        "outcome": {"score": 1.0, "success": True},
        "used": [skill["version_id"]],
    }
    stored = admin.post("/v1/trajectories", run)
    found = admin.post("/v1/retrieve", {"query": secret, "namespace": namespace})
    plan = wait_for(admin, admin.post("/v1/consolidate", {"namespace": namespace}))
    key = admin.post("/v1/keys", {"role": "reader", "grants": [namespace], "label": secret})
    policy = admin.post("/v1/policies", params={"namespace": namespace}, content=learned_policy())
    session = str(uuid7())
    said = {"kind": "message", "speaker": "x", "text": f"{secret} in {namespace}"}
    admin.post(f"/v1/sessions/{session}/events", {"namespace": namespace, "events": [said]})
    own = {
        "namespace": namespace,
        "session": session,
        "policy": policy["policy"]["id"],
        "skill": skill["id"],
        "version": skill["version_id"],
        "change": skill["change_id"],
        "run": stored["id"],
        "retrieval": found["retrieval_id"],
        "operation": plan["id"],
        "key": key["id"],
    }
    return Owner(admin, own)


def learned_policy(bias: float = 0.0) -> bytes:
    """A policy that fits the tests' encoder, as a registering request carries it."""
    encoder, features = HashEncoder(), len(FEATURE_NAMES)
    tensors = {
        "feature_mean": np.zeros(features, np.float32),
        "feature_scale": np.ones(features, np.float32),
        "feature_weight": np.zeros(features, np.float32),
        "query_map": np.zeros((1, encoder.dimension), np.float32),
        "item_map": np.zeros((1, encoder.dimension), np.float32),
        "cosine_weight": np.ones(1, np.float32),
        "bias": np.full(1, bias, np.float32),
    }
    manifest = Manifest(
        kind="case-value",
        feature_schema=SCHEMA_VERSION,
        feature_names=FEATURE_NAMES,
        encoder=encoder.fingerprint,
        dimension=encoder.dimension,
        dataset_sha256="0" * 64,
        config_sha256="0" * 64,
        config={},
        metrics={},
        evaluation=None,
        seed=0,
        created_at="2026-01-01T00:00:00+00:00",
    )
    with tempfile.TemporaryDirectory() as folder:
        return packed(write_folder(Path(folder) / "policy", manifest, tensors))


def view(owner: Owner) -> dict[str, Answer]:
    """All that an owner can read of what is theirs, by every route that there is for reading:
    lists, rows by their ids, histories, reports, whatever a later route exports."""
    seen: dict[str, Answer] = {}
    for route in ROUTES:
        if route.method != "GET" or not route.path.startswith("/v1"):
            continue
        path = route.path
        for one in route.parameters("path"):
            path = path.replace(f"{{{one['name']}}}", owner.own[NAMES[one["name"]]])
        if path in NO_ONES:
            continue
        reply = owner.caller("GET", path, params=query(route, owner.own["namespace"]))
        seen[str(route)] = Answer(reply.status_code, reply.text)
    return seen


def alike(text: str) -> str:
    """An answer without what differs between any two: ids, times, positions."""
    return VOLATILE.sub("…", UUID.sub("an id", text))


def nobodys() -> str:
    """An id that nothing has."""
    return str(uuid7())
