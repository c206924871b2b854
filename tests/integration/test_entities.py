"""Facts make a graph: entities, and the entities that their values name."""

from uuid import uuid4

from tests.integration.conftest import App, Caller


def fact(caller: Caller, where: str, entity: str, key: str, value: str) -> str:
    body = {"entity": entity, "key": key, "value": value}
    return str(
        caller.post("/v1/memories", {"namespace": where, "kind": "fact", "body": body})["id"]
    )


def told(app: App) -> str:
    where = f"graph-{uuid4().hex[:8]}"
    for entity, key, value in (
        ("Ana", "manager", "Bob Lima"),
        ("Ana", "office", "B12"),
        ("bob  LIMA", "office", "C3"),
        ("Bob Lima", "manager", "Chen"),
        ("Chen", "manager", "Ana"),
        ("Dara", "office", "B12"),
    ):
        fact(app.admin, where, entity, key, value)
    return where


def test_entities_are_listed_with_how_much_is_known_of_them_page_after_page(app: App) -> None:
    where = told(app)
    found = app.admin.rows("/v1/entities", namespace=where, limit=2)
    assert [(one["name"], one["facts"]) for one in found] == [
        ("ana", 2),
        ("bob lima", 2),
        ("chen", 1),
        ("dara", 1),
    ]


def test_a_walk_follows_what_values_name_and_ends_in_a_ring(app: App) -> None:
    where = told(app)

    def keys(hops: int) -> set[tuple[str, str, str, int]]:
        found = app.admin.get("/v1/entities/around", namespace=where, entity="ANA", hops=hops)
        assert not found["cut"]
        return {(one["entity"], one["key"], one["value"], one["hop"]) for one in found["links"]}

    near = {("Ana", "manager", "Bob Lima", 1), ("Ana", "office", "B12", 1)}
    middle = {("bob  LIMA", "office", "C3", 2), ("Bob Lima", "manager", "Chen", 2)}
    assert keys(1) == near
    assert keys(2) == near | middle
    assert keys(3) == near | middle | {("Chen", "manager", "Ana", 3)}


def test_a_fact_that_no_longer_holds_leads_nowhere(app: App) -> None:
    where = told(app)
    fact(app.admin, where, "Ana", "manager", "Eve")
    found = app.admin.get("/v1/entities/around", namespace=where, entity="Ana", hops=3)["links"]
    assert {(one["key"], one["value"], one["leads_to"]) for one in found} == {
        ("manager", "Eve", None),
        ("office", "B12", None),
    }


def test_a_namespace_out_of_reach_tells_of_no_entity(app: App) -> None:
    where = told(app)
    stranger = app.admin.with_key("reader", "elsewhere")
    assert stranger("GET", "/v1/entities", params={"namespace": where}).status_code == 403
    around = {"namespace": where, "entity": "Ana"}
    assert stranger("GET", "/v1/entities/around", params=around).status_code == 403
    other = app.admin.with_key("admin", "**", tenant=f"tenant-{uuid4().hex[:8]}")
    assert other.rows("/v1/entities", namespace=where) == []
    assert other.get("/v1/entities/around", **around)["links"] == []
