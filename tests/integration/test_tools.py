"""Memory as tools: what a model is offered, what its calls do, and how it is told what it got
wrong."""

import json
from typing import Any
from uuid import uuid4

import jsonschema_rs
import pytest

from tests.integration.conftest import App, Caller
from tests.integration.test_sessions import NO_TWO_REFUNDS, say, state, told

NAMES = {
    "memory_store",
    "memory_retrieve",
    "memory_update",
    "memory_summarise",
    "memory_filter",
    "memory_discard",
}


@pytest.fixture
def place() -> str:
    """A namespace of the test's own."""
    return f"tools/{uuid4().hex}"


def reply(caller: Caller, name: str, arguments: Any, namespace: str, **more: Any) -> Any:
    body = {"name": name, "arguments": arguments, "namespace": namespace, **more}
    return caller("POST", "/v1/tools/call", json=body)


def call(caller: Caller, name: str, arguments: Any, namespace: str, **more: Any) -> dict[str, Any]:
    answer = reply(caller, name, arguments, namespace, **more)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def stored(app: App, place: str, text: str = "The oven needs ten minutes.") -> str:
    return str(call(app.admin, "memory_store", {"text": text}, place)["data"]["id"])


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every schema of an object within a schema."""
    if isinstance(schema, list):
        return [one for part in schema for one in objects(part)]
    if not isinstance(schema, dict):
        return []
    inner = [one for part in schema.values() for one in objects(part)]
    return [schema, *inner] if "properties" in schema else inner


def test_both_formats_offer_the_same_tools_under_valid_closed_schemas(shared_app: App) -> None:
    openai = shared_app.admin.get("/v1/tools", format="openai")["tools"]
    anthropic = shared_app.admin.get("/v1/tools", format="anthropic")["tools"]

    assert {tool["function"]["name"] for tool in openai} == NAMES
    assert {tool["name"] for tool in anthropic} == NAMES
    for tool in openai:
        assert tool["type"] == "function"
        assert tool["function"]["strict"] is True
        assert tool["function"]["description"]
    schemas = [tool["function"]["parameters"] for tool in openai]
    for schema in schemas:
        for one in objects(schema):
            assert one["required"] == list(one["properties"])  # what strict calling asks for
    schemas += [tool["input_schema"] for tool in anthropic]
    for schema in schemas:
        jsonschema_rs.meta.validate(
            {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
        )
        assert "$ref" not in json.dumps(schema)
        assert objects(schema)
        for one in objects(schema):
            assert one["type"] == "object"
            assert one["additionalProperties"] is False
            assert all("description" in each for each in one["properties"].values())


def test_a_call_in_the_shape_of_the_strict_schema_is_taken(shared_app: App, place: str) -> None:
    """Where every argument is required, what is left out is null."""
    offered = shared_app.admin.get("/v1/tools", format="openai")["tools"]
    schema = {t["function"]["name"]: t["function"]["parameters"] for t in offered}["memory_store"]
    arguments = {"text": "Ovens are hot.", "fact": None, "kind": None}
    assert jsonschema_rs.is_valid(schema, arguments)
    assert not jsonschema_rs.is_valid(schema, {**arguments, "more": 1})

    done = call(shared_app.admin, "memory_store", json.dumps(arguments), place)
    assert done["data"]["operation"] == "ADD"


def test_what_is_stored_is_found_updated_and_discarded(shared_app: App, place: str) -> None:
    first = call(shared_app.admin, "memory_store", {"text": "The oven needs ten minutes."}, place)
    assert first["searchable"]
    item = first["data"]["id"]
    found = call(
        shared_app.admin, "memory_retrieve", {"query": "how long does the oven need"}, place
    )
    assert f"[id {item}]\nThe oven needs ten minutes." in found["content"]
    assert found["data"]["items"][0]["id"] == item

    changed = {"id": item, "text": "The oven needs five minutes."}
    done = call(shared_app.admin, "memory_update", changed, place)
    assert done["data"]["operation"] == "UPDATE"
    versions = shared_app.admin.get(f"/v1/memories/{item}/history")["versions"]
    assert [v["body"]["text"] for v in versions] == [changed["text"], "The oven needs ten minutes."]
    assert versions[0]["title"] == changed["text"]

    gone = call(shared_app.admin, "memory_discard", {"id": item}, place)
    assert gone["data"]["operation"] == "DELETE"
    after = call(
        shared_app.admin, "memory_retrieve", {"query": "how long does the oven need"}, place
    )
    assert after["content"] == "Nothing was found."
    shared_app.admin.post(f"/v1/changes/{gone['change_id']}/undo")
    assert shared_app.admin.get(f"/v1/memories/{item}")["status"] == "active"


def test_an_update_that_changes_nothing_writes_nothing_and_says_so(
    shared_app: App, place: str
) -> None:
    item = stored(shared_app, place)
    for text in ("The oven needs ten minutes.", "  The oven needs ten minutes.\n"):
        done = call(shared_app.admin, "memory_update", {"id": item, "text": text}, place)
        assert (done["data"]["operation"], done["change_id"]) == ("NOOP", None)
        assert "nothing was changed" in done["content"]
        assert not done["is_error"]
    assert len(shared_app.admin.get(f"/v1/memories/{item}/history")["versions"]) == 1
    again = call(shared_app.admin, "memory_store", {"text": "The oven needs ten minutes."}, place)
    assert (again["data"]["operation"], again["data"]["id"]) == ("NOOP", item)


def test_a_fact_is_stored_restated_and_updated_by_its_value(shared_app: App, place: str) -> None:
    fact = {"entity": "oven", "key": "minutes", "value": "10"}
    first = call(shared_app.admin, "memory_store", {"fact": fact}, place)
    restated = call(shared_app.admin, "memory_store", {"fact": {**fact, "value": "7"}}, place)
    assert restated["data"]["id"] == first["data"]["id"]
    assert restated["data"]["operation"] == "UPDATE"
    item = first["data"]["id"]
    same = call(shared_app.admin, "memory_update", {"id": item, "text": "7"}, place)
    assert same["data"]["operation"] == "NOOP"
    call(shared_app.admin, "memory_update", {"id": item, "text": "5"}, place)
    assert shared_app.admin.get(f"/v1/memories/{item}")["version"]["body"]["value"] == "5"


def test_what_was_taken_back_is_not_said_to_be_there_already(shared_app: App, place: str) -> None:
    fact = {"entity": "Ana", "key": "office", "value": "B12"}
    item = call(shared_app.admin, "memory_store", {"fact": fact}, place)["data"]["id"]
    shared_app.admin.post("/v1/remember", {"namespace": place, "text": "Forget Ana's office."})
    again = call(shared_app.admin, "memory_update", {"id": item, "text": "B12"}, place)
    assert again["data"]["operation"] == "UPDATE"
    assert shared_app.admin.get(f"/v1/memories/{item}")["version"]["valid_to"] is None

    shared_app.admin.delete(f"/v1/memories/{item}")
    gone = call(shared_app.admin, "memory_update", {"id": item, "text": "B12"}, place)
    assert gone["is_error"]


def test_an_update_leaves_the_rest_of_a_memory_as_it_is(shared_app: App, place: str) -> None:
    body = {
        "namespace": place,
        "title": "On ovens",
        "body": {"text": "They are hot."},
        "metadata": {"page": 3},
        "task_type": "bake",
    }
    item = shared_app.admin.post("/v1/memories", body)["id"]
    call(shared_app.admin, "memory_update", {"id": item, "text": "They are very hot."}, place)
    version = shared_app.admin.get(f"/v1/memories/{item}")["version"]
    assert (version["title"], version["metadata"], version["task_type"]) == (
        "On ovens", {"page": 3}, "bake",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "code", "says"),
    [
        ("memory_erase", {}, "unknown_tool", "memory_store, memory_retrieve"),
        ("memory_store", {}, "invalid_arguments", "either a text or a fact"),
        ("memory_store", {"text": "a", "txt": "b"}, "invalid_arguments", "txt: "),
        ("memory_store", {"fact": {"entity": "a"}}, "invalid_arguments", "fact.key: "),
        ("memory_store", {"text": "a", "kind": "skill"}, "invalid_arguments", "kind: "),
        ("memory_store", '{"text": "a"', "invalid_json", "not JSON"),
        ("memory_store", '["a"]', "invalid_arguments", "must be a JSON object"),
        ("memory_store", '{"text": "\\u0000"}', "nul_character", "NUL"),
        ("memory_store", '{"text": NaN}', "invalid_json", "NaN"),
        ("memory_retrieve", {"query": "a", "k": 1000}, "invalid_arguments", "k: "),
        ("memory_update", {"id": "the first", "text": "a"}, "invalid_arguments", "id: "),
        ("memory_update", {"id": str(uuid4()), "text": "a"}, "item_not_found", "There is no item"),
        ("memory_discard", {"id": str(uuid4())}, "item_not_found", "There is no item"),
        ("memory_filter", {"query": "a"}, "no_session", "none was named"),
        ("memory_summarise", {}, "no_session", "none was named"),
    ],
)
def test_what_a_model_got_wrong_it_can_read(
    shared_app: App, name: str, arguments: Any, code: str, says: str
) -> None:
    result = call(shared_app.admin, name, arguments, "tools/wrong")

    assert result["is_error"]
    assert result["data"]["error"]["code"] == code
    assert says in result["content"]
    assert result["change_id"] is None
    assert shared_app.admin.rows("/v1/memories", namespace="tools/wrong") == []


def test_a_tool_reaches_no_further_than_its_namespace(shared_app: App, place: str) -> None:
    item = stored(shared_app, place)
    for name, more in (("memory_update", {"text": "changed"}), ("memory_discard", {})):
        result = call(shared_app.admin, name, {"id": item, **more}, f"{place}/elsewhere")
        assert result["data"]["error"]["code"] == "item_not_found"
    found = call(shared_app.admin, "memory_retrieve", {"query": "oven"}, f"{place}/elsewhere")
    assert found["data"]["items"] == []
    assert shared_app.admin.get(f"/v1/memories/{item}")["version"]["number"] == 1


def test_what_the_caller_may_not_do_is_an_error_of_http(shared_app: App, place: str) -> None:
    item = stored(shared_app, place)
    reader = shared_app.admin.with_key("reader", place)
    stranger = shared_app.admin.with_key("admin", "other")
    session = told(shared_app.admin, say("hello"), namespace=place)
    refused = [
        reply(reader, "memory_store", {"text": "a"}, place),
        reply(reader, "memory_update", {"id": item, "text": "a"}, place),
        reply(reader, "memory_discard", {"id": item}, place),
        reply(reader, "memory_summarise", {}, place, session=session),
        reply(reader, "memory_filter", {"query": "hello"}, place, session=session),
        reply(stranger, "memory_retrieve", {"query": "a"}, place),
        reply(stranger, "memory_nothing", {}, place),
    ]
    assert [(r.status_code, r.json()["code"]) for r in refused] == [
        (403, "namespace_forbidden")
    ] * len(refused)
    assert reply(reader, "memory_retrieve", {"query": "oven"}, place).status_code == 200
    for caller, where in ((stranger, "other"), (shared_app.admin, "elsewhere")):
        missing = reply(caller, "memory_filter", {"query": "a"}, where, session=session)
        assert (missing.status_code, missing.json()["code"]) == (404, "session_not_found")
    for bad in ("tools/**", "a b"):
        assert reply(shared_app.admin, "memory_store", {"text": "a"}, bad).status_code == 422
    assert shared_app.admin("POST", "/v1/tools/call", json={"name": "x"}).status_code == 422


def test_a_filter_sets_aside_what_does_not_bear_on_the_question(
    shared_app: App, place: str
) -> None:
    session = told(
        shared_app.admin,
        say("The oven must be repaired before Tuesday."),
        say("My cousin plays chess."),
        say("A technician can repair the oven on Monday."),
        {"kind": "candidate", "name": "oven", "text": "call the oven technician"},
        {"kind": "candidate", "name": "chess", "text": "play chess with the cousin"},
        say("What a day."),
        say("Indeed."),
        namespace=place,
    )
    asked = {"query": "who repairs the oven?", "budget_tokens": 200}
    done = call(shared_app.admin, "memory_filter", asked, place, session=session)

    assert (done["data"]["hidden"], done["data"]["dropped"]) == (1, 1)
    now = state(shared_app.admin, session, format="json")
    assert [turn["seq"] for turn in now["state"]["turns"]] == [1, 3, 6, 7]
    assert [one["name"] for one in now["state"]["candidates"]] == ["oven"]
    assert "chess" not in now["text"]
    assert "chess" not in done["content"]
    assert shared_app.admin.get(f"/v1/sessions/{session}")["events"] == 8  # nothing is lost

    vain = call(shared_app.admin, "memory_filter", {"query": "zebras"}, place, session=session)
    assert vain["data"]["operation"] == "NOOP"
    assert shared_app.admin.get(f"/v1/sessions/{session}")["events"] == 8


def test_a_summary_takes_the_place_of_the_turns(shared_app: App, place: str) -> None:
    talk = [say(f"The oven of bakery {n} must be repaired before it opens.") for n in range(30)]
    session = told(shared_app.admin, *talk, namespace=place)
    before = state(shared_app.admin, session, budget_tokens=5_000)["tokens"]
    asked = {"budget_tokens": 40}
    done = call(shared_app.admin, "memory_summarise", asked, place, session=session)

    now = state(shared_app.admin, session, format="json", budget_tokens=5_000)
    assert now["state"]["turns"] == []
    assert now["state"]["summary"] == done["content"]
    assert now["tokens"] < before / 4
    nothing = told(shared_app.admin, {"kind": "ledger", "set": {"a": 1}}, namespace=place)
    empty = call(shared_app.admin, "memory_summarise", {}, place, session=nothing)
    assert empty["data"]["operation"] == "NOOP"


def test_a_call_in_a_session_is_held_to_its_rules(shared_app: App, place: str) -> None:
    rule = NO_TWO_REFUNDS["rule"] | {
        "call": "memory_store",
        "forbid": {"state.frozen": {"eq": True}},
    }
    frozen = {"kind": "ledger", "set": {"frozen": True}}
    session = told(shared_app.admin, {"kind": "rule", "rule": rule}, frozen, namespace=place)
    blocked = call(shared_app.admin, "memory_store", {"text": "a"}, place, session=session)

    assert blocked["is_error"]
    assert blocked["data"]["error"]["code"] == "ledger_rule_blocks"
    assert "no_refund_twice" in blocked["content"]
    assert shared_app.admin.rows("/v1/memories", namespace=place) == []


def test_a_call_under_one_key_is_done_once(shared_app: App, place: str) -> None:
    body = {"name": "memory_store", "arguments": {"text": "once"}, "namespace": place}
    key = {"Idempotency-Key": f"key-{place}"}
    one, two = (
        shared_app.admin("POST", "/v1/tools/call", json=body, headers=key).json() for _ in range(2)
    )
    assert one == two
    assert one["data"]["operation"] == "ADD"
    other = body | {"arguments": {"text": "another"}}
    clash = shared_app.admin("POST", "/v1/tools/call", json=other, headers=key)
    assert clash.status_code == 409
