"""Forgetting and the settings of namespaces over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memserver.services.forgetting import Forgetting
from memserver.services.scheduling import PAUSE, Scheduling
from tests.integration.conftest import App, on_both_databases

NS = "demo/forgetting"


def set_to(app: App, **settings: Any) -> Any:
    return app.admin("PUT", "/v1/namespaces/settings", params={"namespace": NS}, json=settings)


def note(app: App, text: str, **more: Any) -> dict[str, Any]:
    return dict(app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}, **more}))


def active(app: App) -> list[str]:
    return [row["id"] for row in app.admin.rows("/v1/memories", namespace=NS, limit=200)]


class Clock:
    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@on_both_databases("app")
def test_settings_are_kept_field_by_field_and_can_be_undone(app: App) -> None:
    get = "/v1/namespaces/settings"
    assert app.admin.get(get, namespace=NS)["most_items"] is None

    first = set_to(app, most_items=5, half_life_days=2.5).json()
    second = set_to(app, half_life_days=None, time_zone="Europe/Rome").json()

    assert second["settings"]["most_items"] == 5
    assert second["settings"]["half_life_days"] is None
    assert app.admin.get(get, namespace=NS) == second["settings"]
    assert set_to(app, most_items=5).json()["change_id"] is None
    app.admin.post(f"/v1/changes/{second['change_id']}/undo")
    assert app.admin.get(get, namespace=NS) == first["settings"]


@pytest.mark.parametrize(
    "settings",
    [
        {"most_items": 0},
        {"most_items": 1.5},
        {"half_life_days": 0},
        {"half_life_days": 1e9},
        {"consolidate_every_writes": -1},
        {"time_zone": "Nowhere/At_All"},
        {"time_zone": "../../etc/passwd"},
        {"secrets": None},
        {"most_itmes": 5},
    ],
)
def test_settings_that_make_no_sense_are_refused(app: App, settings: dict[str, Any]) -> None:
    sent = set_to(app, **settings)

    assert sent.status_code == 422


def test_only_an_admin_sets_and_only_who_may_read_sees(app: App) -> None:
    writer = app.admin.with_key("writer", NS)
    stranger = app.admin.with_key("admin", "other/**")
    where = {"namespace": NS}

    assert writer("GET", "/v1/namespaces/settings", params=where).status_code == 200
    body: dict[str, Any] = {"most_items": 1}
    assert writer("PUT", "/v1/namespaces/settings", params=where, json=body).status_code == 403
    assert stranger("PUT", "/v1/namespaces/settings", params=where, json=body).status_code == 403
    assert stranger("GET", "/v1/namespaces/settings", params=where).status_code == 403


@on_both_databases("app")
def test_a_bank_stays_bounded_and_what_went_can_come_back(app: App) -> None:
    set_to(app, most_items=5)
    made = [note(app, f"the number of this one is {n}")["id"] for n in range(8)]
    forgetting = app.server.services.housekeeping
    forgetting.look()

    assert active(app) == made[3:]
    assert len(app.admin.post("/v1/retrieve", {"query": "number", "namespace": NS})["items"]) == 5
    # The server's own look may have come in between, so that there are several.
    set_to(app, most_items=None)
    gone = [row for row in app.admin.rows("/v1/changes", namespace=NS) if row["verb"] == "evict"]
    assert gone
    for change in gone:
        assert "past the 5" in change["reason"]
        app.admin.post(f"/v1/changes/{change['id']}/undo")
    assert active(app) == made


def test_an_endless_stream_leaves_no_more_than_the_bound(app: App) -> None:
    set_to(app, most_items=200)
    services = app.server.services
    forgetting = Forgetting(services.store, clock=Clock())
    scope = services.access.authenticate(app.admin.key or "")
    namespace = services.access.writable(scope, NS)
    from memserver.domain.items import Kind, TextBody
    from memserver.services.remembering import Content

    for some in range(20):

        def write(tx: Any, some: int = some) -> None:
            for n in range(100):
                content = Content(f"note {some} {n}", TextBody(f"the {n}th of {some}"))
                services.remembering.remember(tx, scope, namespace, Kind.NOTE, content)

        services.store.write(write)
        forgetting.bound()
        assert len(active(app)) <= 200
    assert len(active(app)) == 200


def test_what_has_expired_is_nowhere_at_once_and_archived_soon(app: App) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    services = app.server.services
    told = app.admin.post(
        "/v1/remember",
        {"namespace": NS, "text": "The code of the door is 4711.", "expires_at": soon},
    )
    assert told
    assert active(app)
    while datetime.now(UTC) < datetime.fromisoformat(soon):
        pass

    assert active(app) == []
    found = app.admin.post("/v1/retrieve", {"query": "code of the door", "namespace": NS})
    assert found["items"] == []
    services.housekeeping.look()
    verbs = [row["verb"] for row in app.admin.rows("/v1/changes", namespace=NS)]
    assert "expire" in verbs
    archived = app.admin.rows("/v1/memories", namespace=NS, status="archived")
    assert archived


@on_both_databases("app")
def test_a_namespace_is_consolidated_when_it_is_due_and_never_twice_at_once(app: App) -> None:
    services = app.server.services
    clock = Clock()
    scheduling = Scheduling(services.store, services.consolidating, clock=clock)
    set_to(app, consolidate_every_writes=3)
    note(app, "Shut the tap.")
    note(app, "shut the tap!")
    assert scheduling.consolidate() == []

    note(app, "Feed the cat.")
    [operation] = scheduling.consolidate()
    assert scheduling.consolidate() == []
    wait(app, operation.id)

    done = app.admin.get(f"/v1/operations/{operation.id}")
    assert (done["state"], done["report"]["because"]) == ("succeeded", "3 writes")
    assert len(active(app)) == 2
    clock.ahead = timedelta(days=1)
    assert scheduling.consolidate() == []


def test_idle_time_and_hours_count_only_where_something_was_written(app: App) -> None:
    services = app.server.services
    clock = Clock()
    scheduling = Scheduling(services.store, services.consolidating, clock=clock)
    set_to(app, consolidate_when_idle_minutes=10, consolidate_every_hours=5)
    assert scheduling.consolidate() == []
    note(app, "Shut the tap.")
    assert scheduling.consolidate() == []

    clock.ahead = timedelta(minutes=11)
    [operation] = scheduling.consolidate()
    wait(app, operation.id)
    assert "10 minutes" in app.admin.get(f"/v1/operations/{operation.id}")["report"]["because"]
    clock.ahead = timedelta(hours=20)
    assert scheduling.consolidate() == []
    assert timedelta(minutes=1) < PAUSE


def wait(app: App, operation: Any) -> None:
    app.admin("GET", f"/v1/operations/{operation}/events", params={"seconds": 60})
