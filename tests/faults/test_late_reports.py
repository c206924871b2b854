"""Late reports: what is said of earlier times takes its place in the history, and neither brings
back what has ended since nor is lost."""

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.integration.conftest import App

OFFICE = {"entity": "Ana", "key": "office"}
_numbers = itertools.count()


def day(number: int) -> str:
    """A day of this spring."""
    return datetime(2026, 3, number, 9, tzinfo=UTC).isoformat()


def fact(value: str, since: int | None = None) -> dict[str, Any]:
    begun = {} if since is None else {"valid_from": day(since)}
    return {**OFFICE, "value": value, **begun}


Told = Callable[..., dict[str, Any]]


@pytest.fixture
def told(module_app: App) -> Told:
    """Tells a namespace of one test a thing, and gives what became of it."""
    namespace = f"late-{next(_numbers)}"

    def tell(**what: Any) -> dict[str, Any]:
        answer = module_app.admin.post("/v1/remember", {"namespace": namespace, **what})
        (written,) = answer["written"]
        return {**written, "namespace": namespace}

    return tell


def office(app: App, namespace: str, **when: Any) -> list[str]:
    ask = {"query": "Where is Ana's office?", "namespace": namespace, "kinds": ["fact"], **when}
    hits = app.admin.post("/v1/retrieve", ask)["items"]
    return [hit["text"].rpartition(": ")[2] for hit in hits]


def test_what_was_said_before_it_was_taken_back_does_not_bring_it_back(
    module_app: App, told: Told
) -> None:
    said = {"text": "Ana's office is B12.", "at": day(1)}
    told(**said)
    ended = told(text="Forget Ana's office.", at=day(9))
    again = told(**said)
    earlier = told(facts=[fact("C14", since=5)])

    assert ended["operation"] == "DELETE"
    assert (again["operation"], again["reason"]) == ("NOOP", "known for its time")
    assert earlier["operation"] == "UPDATE"
    place = again["namespace"]
    assert office(module_app, place) == []
    assert office(module_app, place, as_of=day(3)) == ["B12"]
    assert office(module_app, place, as_of=day(7)) == ["C14"]
    assert office(module_app, place, as_of=day(10)) == []
    told(text="Ana's office is D16.")
    assert office(module_app, place) == ["D16"]
    assert office(module_app, place, as_of=day(7)) == ["C14"]


def test_the_present_value_held_at_another_time_as_well(module_app: App, told: Told) -> None:
    for value, since in (("B12", 1), ("C14", 5), ("B12", 15)):
        told(facts=[fact(value, since)])
    late = told(facts=[fact("b12", since=10)])
    again = told(facts=[fact("B12", since=2)])

    assert (late["operation"], late["reason"]) == ("UPDATE", "earlier value")
    assert (again["operation"], again["reason"]) == ("NOOP", "restated")
    place = late["namespace"]
    assert office(module_app, place, as_of=day(7)) == ["C14"]
    assert office(module_app, place, as_of=day(12)) == ["b12"]
    assert office(module_app, place) == ["B12"]


@pytest.mark.parametrize("path", ["remember", "memories"])
def test_what_was_deleted_comes_back_with_what_is_told_whenever_that_began(
    module_app: App, told: Told, path: str
) -> None:
    first = told(facts=[fact("B12", since=5)])
    place = first["namespace"]
    module_app.admin.delete(f"/v1/memories/{first['item']}")
    if path == "remember":
        told(facts=[fact("C14", since=2)])
    else:
        body = {"kind": "fact", "body": fact("C14"), "valid_from": day(2), "namespace": place}
        module_app.admin.post("/v1/memories", body)

    assert office(module_app, place) == ["C14"]


def test_what_has_expired_and_is_told_or_brought_back_is_there_again(
    module_app: App, told: Told
) -> None:
    over = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    first = told(facts=[fact("B12")], expires_at=over)
    place, path = first["namespace"], f"/v1/memories/{first['item']}"
    assert office(module_app, place) == []

    module_app.admin.post(f"{path}/restore", {})
    assert office(module_app, place) == ["B12"]

    second = told(facts=[{**fact("555"), "key": "phone"}], expires_at=over)
    body = {"kind": "fact", "body": {**fact("555"), "key": "phone"}, "namespace": place}
    again = module_app.admin.post("/v1/memories", body)
    assert (again["id"], again["existing"]) == (second["item"], False)
    assert sorted(office(module_app, place)) == ["555", "B12"]


def test_what_is_told_again_lasts_as_long_as_was_said_last(module_app: App, told: Told) -> None:
    now = datetime.now(UTC)
    first = told(facts=[fact("B12")], expires_at=(now + timedelta(hours=1)).isoformat())
    told(facts=[fact("B12")], expires_at=(now + timedelta(days=9)).isoformat())
    told(facts=[fact("B12")], expires_at=(now + timedelta(minutes=1)).isoformat())

    assert module_app.admin.key is not None
    services = module_app.server.services
    scope = services.access.authenticate(module_app.admin.key)
    with services.store.reading() as reader:
        kept = reader.item(scope, UUID(first["item"]))
    assert kept is not None
    assert kept.item.expires_at == now + timedelta(days=9)
