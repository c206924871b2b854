"""`/metrics` tells the holder of the system key how the server does, and nobody else."""

import re
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families

from memserver.domain.ports.meter import Stage
from memserver.domain.ports.store import Writer
from tests.integration.conftest import App, Caller, Finish, on_both_databases

NOTE = {"namespace": "metrics", "body": {"text": "the pump is loud"}}
ASK = {"namespace": "metrics", "query": "pump"}
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"


def samples(caller: Caller) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The values by the sample's name, each with its labels."""
    reply = caller("GET", "/metrics")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].startswith("text/plain; version=")
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(reply.text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(caller: Caller, name: str, **labels: str) -> float:
    """The one sample with these labels, 0 where there is none yet."""
    found = [number for having, number in samples(caller).get(name, []) if having == labels]
    assert len(found) <= 1
    return found[0] if found else 0.0


def series(caller: Caller) -> set[str]:
    return {f"{name} {labels}" for name, found in samples(caller).items() for labels, _ in found}


@pytest.mark.parametrize("role", ["admin", "writer", "reader"])
def test_only_the_system_key_sees_them(shared_app: App, role: str) -> None:
    refused = shared_app.admin.with_key(role, "**")("GET", "/metrics")

    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["code"] == "role_forbidden"


@pytest.mark.parametrize("key", [None, "ms_wrong"])
def test_without_a_key_that_is_known_they_are_refused(shared_app: App, key: str | None) -> None:
    refused = Caller(shared_app.admin.http, key)("GET", "/metrics")

    assert refused.status_code == 401
    assert refused.headers["content-type"] == "application/problem+json"


def test_what_becomes_of_each_thing_told_is_counted_once(app: App) -> None:
    told = {"namespace": "metrics", "facts": [{"entity": "pump", "key": "state", "value": "on"}]}
    for _ in range(2):
        assert app.admin("POST", "/v1/remember", json=told).status_code == 201

    def count(operation: str) -> float:
        labels = {"operation": operation, "by": "rules"}
        return value(app.admin, "memserver_write_decisions_total", **labels)

    assert (count("ADD"), count("NOOP")) == (1, 1)


def test_requests_are_counted_by_route_and_status(app: App) -> None:
    for _ in range(3):
        app.admin("GET", f"/v1/memories/{uuid4()}")
    app.anonymous("GET", f"/v1/memories/{uuid4()}")
    app.admin("GET", "/wp-login.php")
    app.admin("BREW", "/v1/memories")

    def count(**labels: str) -> float:
        return value(app.admin, "memserver_request_seconds_count", **labels)

    assert count(route="/v1/memories/{item_id}", method="GET", status="4xx") == 4
    assert count(route="unknown", method="GET", status="4xx") == 1
    assert count(route="/v1/memories", method="other", status="4xx") == 1


def test_every_label_is_one_of_few(app: App) -> None:
    """What callers choose freely makes no new series."""
    app.admin.post("/v1/memories", NOTE)
    app.admin.post("/v1/retrieve", ASK)
    before = series(app.admin)
    for n in range(5):
        note = {"namespace": f"metrics-{n}", "body": {"text": f"pump {n}"}, "task_type": f"t{n}"}
        app.admin.post("/v1/memories", note)
        app.admin.post("/v1/retrieve", {"namespace": f"metrics-{n}", "query": f"pump {n}"})

    new = series(app.admin) - before
    assert {one for one in new if "'/metrics'" not in one} == set()


def test_a_retrieve_is_measured_stage_by_stage_and_counted_for_its_policy(app: App) -> None:
    app.admin.post("/v1/memories", NOTE)
    before = samples(app.admin)["memserver_stage_seconds_count"]
    app.admin.post("/v1/retrieve", ASK)

    after = samples(app.admin)["memserver_stage_seconds_count"]
    grown = {
        labels["stage"]: count - before[number][1] for number, (labels, count) in enumerate(after)
    }
    assert grown == dict.fromkeys(get_args(Stage), 1.0)
    assert value(app.admin, "memserver_decisions_total", policy="fixed-1") == 1


@on_both_databases("app")
def test_changes_operations_and_decisions_are_counted(app: App, finished: Finish) -> None:
    app.admin.post("/v1/memories", NOTE)
    app.admin.post("/v1/memories", NOTE | {"body": {"text": "the valve is shut"}})
    finished(app.admin.post("/v1/distill", {"namespace": "metrics"}))
    app.admin.post("/v1/retrieve", ASK)
    app.admin.post("/v1/memories", NOTE | {"body": {"text": "written after the decision"}})

    assert value(app.admin, "memserver_changes_total", verb="remember") == 3
    assert value(app.admin, "memserver_changes_total", verb="undo") == 0
    assert value(app.admin, "memserver_operations", state="succeeded") == 1
    assert value(app.admin, "memserver_operations", state="running") == 0
    assert value(app.admin, "memserver_decisions_logged_total") == 1
    assert value(app.admin, "memserver_decisions_dropped_total") == 0


def test_a_lost_log_entry_is_counted(app: App) -> None:
    def fail(_: Writer) -> None:
        raise RuntimeError

    app.server.services.store.write_later(fail)
    app.admin.post("/v1/memories", NOTE)

    assert value(app.admin, "memserver_decisions_dropped_total") == 1


def test_an_index_that_is_level_is_not_behind_and_one_that_hangs_is(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.admin.post("/v1/memories", NOTE)
    assert value(app.admin, "memserver_index_lag_changes") == 0
    assert value(app.admin, "memserver_index_behind_seconds") == 0

    def unable(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(app.server.services.indexer, "_put", unable)
    app.admin("POST", "/v1/memories?wait=false", json=NOTE | {"body": {"text": "not yet"}})

    assert value(app.admin, "memserver_index_lag_changes") == 1
    first = value(app.admin, "memserver_index_behind_seconds")
    assert 0 < first < value(app.admin, "memserver_index_behind_seconds")
    monkeypatch.undo()
    assert app.server.services.indexer.catch_up()
    assert value(app.admin, "memserver_index_behind_seconds") == 0


def test_the_page_lists_every_metric_with_its_labels(app: App) -> None:
    app.admin.post("/v1/retrieve", ASK)
    app.server.metrics.decided("fixed-1")
    app.server.metrics.policy_failed("fixed-1")
    app.server.metrics.wrote("ADD", "rules")
    shown: dict[str, set[str]] = {}
    text = app.admin("GET", "/metrics").text
    for family in text_string_to_metric_families(text):
        if family.name.startswith("memserver_process_") or family.name.endswith("_created"):
            continue
        assert family.documentation
        name = family.name + ("_total" if family.type == "counter" else "")
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        shown[name] = labels
    section = REFERENCE.read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(memserver_\w+)` \| ([^|]*) \|", section, flags=re.MULTILINE)

    optional = {"memserver_queue_waiting": {"queue"}, "memserver_query_vectors_total": {"source"}}
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in listed} == {
        **shown,
        **optional,
        "memserver_policy_info": {"role", "policy", "state"},
    }
