"""What cannot be taken is refused by name, and nothing of it is stored."""

import json
from typing import Any

import pytest

from memserver.ids import uuid7
from tests.integration.conftest import App, Caller

NS = "bad/input"
RUN = {"namespace": NS, "task": {"goal": "x"}}
ASK = {"query": "x", "namespace": NS}

REFUSED: dict[str, tuple[str, str, Any, int, str, str]] = {
    "an unknown filter field": (
        "POST", "/v1/retrieve", {**ASK, "filters": {"colour": {"eq": "red"}}},
        422, "invalid_request", "filters.colour",
    ),
    "an unknown filter operator": (
        "POST", "/v1/retrieve", {**ASK, "filters": {"kind": {"like": "sk%"}}},
        422, "invalid_request", "filters.kind.like",
    ),
    "an unknown kind": (
        "POST", "/v1/retrieve", {**ASK, "kinds": ["spell"]},
        422, "invalid_request", "kinds",
    ),
    "kinds that exclude one another": (
        "POST", "/v1/retrieve", {**ASK, "kinds": ["skill"], "filters": {"kind": {"eq": "fact"}}},
        422, "invalid_request", "kinds",
    ),
    "no namespace": ("POST", "/v1/retrieve", {"query": "x"}, 422, "invalid_request", "namespace"),
    "an unknown query parameter": (
        "GET", f"/v1/trajectories?namespace={NS}&colour=red", None,
        422, "invalid_request", "colour",
    ),
    "a naive time": (
        "POST", "/v1/trajectories", {**RUN, "created_at": "2026-01-01T10:00:00"},
        422, "invalid_request", "created_at",
    ),
    "a naive time in a filter": (
        "POST", "/v1/retrieve", {**ASK, "filters": {"created_at": {"gte": "2026-01-01"}}},
        422, "invalid_request", "created_at",
    ),
    "a vector of the wrong size": (
        "POST", "/v1/retrieve", {**ASK, "vector": [1.0, 2.0]}, 422, "wrong_dimension", "2 numbers",
    ),
    "a score over one": (
        "POST", "/v1/trajectories", {**RUN, "outcome": {"score": 1.5, "success": True}},
        422, "invalid_request", "outcome.score",
    ),
    "a namespace with a wildcard": (
        "POST", "/v1/trajectories", {**RUN, "namespace": "bad/*"},
        422, "invalid_namespace", "bad/*",
    ),
    "a namespace pattern where one must be named": (
        "POST", "/v1/trajectories", {**RUN, "namespace": "bad/**"},
        422, "invalid_namespace", "bad/**",
    ),
    "a namespace that climbs": (
        "POST", "/v1/namespaces", {"path": "bad/../other"}, 422, "invalid_namespace", "..",
    ),
    "a body of another kind": (
        "POST", "/v1/memories", {"namespace": NS, "kind": "fact", "body": {"text": "x"}},
        422, "invalid_request", "entity",
    ),
    "a text with NUL": (
        "POST", "/v1/memories", {"namespace": NS, "body": {"text": "a\x00b"}},
        422, "nul_character", "NUL",
    ),
    "an id that is none": (
        "POST", "/v1/trajectories", {**RUN, "id": "seven"}, 422, "invalid_request", "id",
    ),
    "an unknown method of distilling": (
        "POST", "/v1/distill", {"namespace": NS, "methods": ["alchemy"]},
        422, "unknown_method", "alchemy",
    ),
    "a plan that is none": (
        "POST", "/v1/consolidate", {"namespace": NS, "plan": str(uuid7())},
        404, "operation_not_found", "operation",
    ),
    "a cursor of one's own making": (
        "GET", f"/v1/trajectories?namespace={NS}&cursor=eyJhIjoxfQ", None,
        422, "invalid_cursor", "cursor",
    ),
    "too large a page": (
        "GET", f"/v1/trajectories?namespace={NS}&limit=501", None,
        422, "page_too_large", "500",
    ),
    "used versions that do not exist": (
        "POST", "/v1/trajectories",
        {**RUN, "outcome": {"score": 1, "success": True}, "used": [str(uuid7())]},
        404, "version_not_found", "version",
    ),
    "feedback on nothing": (
        "POST", "/v1/feedback", {"score": 1.0}, 422, "invalid_request", "trajectory_id",
    ),
    "feedback on a run that is not there": (
        "POST", "/v1/feedback", {"score": 1.0, "trajectory_id": str(uuid7())},
        404, "trajectory_not_found", "trajectory",
    ),
    "a grant that names no namespace": (
        "POST", "/v1/keys", {"role": "writer", "grants": ["../x"]},
        422, "invalid_namespace", "../x",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def app(shared_app: App) -> App:
    return shared_app


def stored(app: App) -> tuple[int, int, int]:
    counts = (
        len(app.admin.rows("/v1/trajectories", namespace="**")),
        len(app.admin.rows("/v1/memories", namespace="**")),
        len(app.admin.rows("/v1/operations")),
    )
    return counts


def refused(reply: Any, status: int, code: str) -> dict[str, Any]:
    assert (reply.status_code, reply.json()["code"]) == (status, code), reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = reply.json()
    return problem


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_it_is_refused_by_name_and_nothing_is_stored(app: App, case: str) -> None:
    method, path, body, status, code, named = REFUSED[case]
    before = stored(app)
    content = {} if body is None else {"json": body}
    problem = refused(app.admin(method, path, **content), status, code)

    assert named in problem["detail"] + json.dumps(problem["errors"])
    assert stored(app) == before


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"query": "x", "namespace": "bad/input", "vector": [NaN]}', 400, "invalid_json"),
        (b'{"query": "x", "namespace": "bad/input", "vector": [1e999]}', 400, "invalid_json"),
        (b'{"query": ', 400, "invalid_json"),
        (b'{"query": "\xff"}', 400, "invalid_utf8"),
        (b'{"query": "\\ud800", "namespace": "bad/input"}', 400, "invalid_utf8"),
        (b"[" * 40 + b"]" * 40, 422, "too_deep"),
        (b"[" * 100_000, 422, "too_deep"),
        (b'"' + b"a" * 1_000_001 + b'"', 422, "text_too_long"),
        (b" " * (8 * 1024 * 1024 + 1), 413, "too_large"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else str(value),
)
def test_a_broken_body_is_refused_before_any_route_sees_it(
    app: App, body: bytes, status: int, code: str
) -> None:
    headers = {"content-type": "application/json"}
    refused(app.admin("POST", "/v1/retrieve", content=body, headers=headers), status, code)


def test_a_body_that_lies_about_its_length_is_cut_off(app: App) -> None:
    def endless() -> Any:
        for _ in range(9):
            yield b" " * 1024 * 1024

    headers = {"content-type": "application/json"}
    refused(app.admin("POST", "/v1/retrieve", content=endless(), headers=headers), 413, "too_large")


def test_a_vector_of_the_right_size_must_still_be_one(app: App) -> None:
    size = app.server.services.retrieve._encoder.dimension
    body = {**ASK, "vector": [0.0] * size}
    refused(app.admin("POST", "/v1/retrieve", json=body), 422, "vector_not_finite")
    # Only the direction counts, so large numbers are fine.
    assert app.admin.post("/v1/retrieve", {**ASK, "vector": [1e308] * size})["items"] == []


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b'{"task": {"goal": "a"}}\n{"task": {}}\n', "Line 2"),
        (b'{"task": {"goal": "a"}}\n{"task": {"goal": "b"}, "colour": 1}\n', "Line 2"),
        (b'{"task": {"goal": "a"}, "outcome": {"score": NaN, "success": true}}\n', "Line 1"),
        (b"\xff\xfe\n", "Line 1"),
        (b'{"task": {"goal": "a\\u0000"}}\n', "Line 1"),
        (
            b'{"task": {"goal": "a"}, "steps": [{"metadata": ' + b"[" * 99 + b"]" * 99 + b"}]}\n",
            "1",
        ),
    ],
)
def test_one_bad_line_of_an_import_is_named_and_none_is_stored(
    app: App, content: bytes, named: str
) -> None:
    before = stored(app)
    reply = app.admin("POST", f"/v1/trajectories/import?namespace={NS}", content=content)

    assert named in refused(reply, 422, "invalid_import")["detail"]
    assert stored(app) == before


def test_no_key_is_401_whatever_else_is_wrong(app: App) -> None:
    headers = {"content-type": "application/json"}
    for caller in (app.anonymous, Caller(app.admin.http, "ms_wrong")):
        reply = caller("POST", "/v1/retrieve", content=b"{", headers=headers)
        refused(reply, 401, "unauthenticated")
        assert reply.headers["www-authenticate"] == "Bearer"


def test_the_same_id_with_another_content_is_409(app: App) -> None:
    run = {**RUN, "id": str(uuid7()), "outcome": {"score": 1.0, "success": True}}
    app.admin.post("/v1/trajectories", run)
    before = stored(app)

    assert app.admin.post("/v1/trajectories", run)["existing"] is True
    other = {**run, "outcome": {"score": 0.5, "success": True}}
    refused(app.admin("POST", "/v1/trajectories", json=other), 409, "id_conflict")
    batch = {"namespace": NS, "trajectories": [{"task": {"goal": "new"}}]}
    batch["trajectories"].append({k: v for k, v in other.items() if k != "namespace"})  # type: ignore[attr-defined]
    refused(app.admin("POST", "/v1/trajectories/batch", json=batch), 409, "id_conflict")
    assert stored(app) == before


def test_an_unknown_route_is_a_problem_document_too(app: App) -> None:
    refused(app.admin("GET", "/v1/nothing"), 404, "no_such_route")
    refused(app.admin("PUT", "/v1/retrieve"), 405, "method_not_allowed")


@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
def test_a_fact_of_nobody_or_nothing_is_refused(app: App, blank: str) -> None:
    for body in (
        {"entity": blank, "key": "office", "value": "B12"},
        {"entity": "Ana", "key": blank, "value": "B12"},
    ):
        told = app.admin("POST", "/v1/remember", json={"namespace": "n", "facts": [body]})
        kept = app.admin(
            "POST", "/v1/memories", json={"namespace": "n", "kind": "fact", "body": body}
        )
        assert (told.status_code, kept.status_code) == (422, 422)


@pytest.mark.parametrize("zone", ["localtime", "posixrules", "Factory", "Europe", "Mars/Base"])
def test_a_time_zone_is_that_of_a_place(app: App, zone: str) -> None:
    asked = {"namespace": "n", "text": "Ana moved yesterday.", "time_zone": zone}
    assert app.admin("POST", "/v1/remember", json=asked).status_code == 422
