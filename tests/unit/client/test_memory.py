"""What each verb sends, and what it makes of the answer."""

import json
from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

from memserver.wire.items import NewVersion
from memserver.wire.trajectories import Run, Task
from memserver.wire.writing import Message
from memserver_client import InvalidRequest, TooLarge
from memserver_client._requests import run_batches

A = "01890000-0000-7000-8000-0000000000aa"
B = "01890000-0000-7000-8000-0000000000bb"
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
WRITTEN = {
    "operation": "ADD",
    "kind": "note",
    "item": A,
    "version": B,
    "target": None,
    "decision": A,
    "reason": "new",
    "by": "rules",
}
REMEMBERED = {
    "change_id": A,
    "position": 7,
    "written": [WRITTEN],
    "added": 1,
    "updated": 0,
    "deleted": 0,
    "unchanged": 0,
}
STORED = {"id": A, "version_id": B, "change_id": A, "position": 7}
VERSION = {
    "id": B,
    "item_id": A,
    "number": 1,
    "title": "t",
    "body": {"text": "x"},
    "text": "x",
    "method": "told",
    "sources": [],
    "task_type": None,
    "metadata": {},
    "parent": None,
    "valid_from": "2026-01-01T00:00:00Z",
    "valid_to": None,
    "recorded_at": "2026-01-01T00:00:00Z",
}
ITEM = {
    "id": A,
    "namespace": "a",
    "kind": "note",
    "title": "t",
    "status": "active",
    "created_at": "2026-01-01T00:00:00Z",
    "merged_into": None,
    "version": VERSION,
}


def stored_batch(request):
    runs = json.loads(request.content)["trajectories"]
    return httpx.Response(
        201,
        json={
            "ids": [run["id"] for run in runs],
            "stored": len(runs),
            "existing": 0,
            "credited": 1,
            "change_id": A,
            "position": len(runs),
            "searchable": True,
        },
    )


# --- runs --------------------------------------------------------------------------------


def test_runs_of_both_forms_get_an_id_and_keep_one_they_have(server, memory):
    server.answers = [stored_batch]

    receipt = memory.add_trajectories(
        [{"task": {"goal": "x"}}, Run(task=Task(goal="y")), {"id": A, "task": {"goal": "z"}}],
        namespace="lab",
    )

    (sent,) = server.bodies()
    assert sent["namespace"] == "lab"
    assert [run["task"] for run in sent["trajectories"]] == [
        {"goal": "x"},
        {"goal": "y"},
        {"goal": "z"},
    ]
    assert [str(row) for row in receipt.ids] == [run["id"] for run in sent["trajectories"]]
    assert sent["trajectories"][2]["id"] == A
    assert len(set(receipt.ids)) == 3


def test_runs_are_split_by_count_and_their_receipts_merged(server, memory):
    server.answers = [stored_batch]

    receipt = memory.add_trajectories(
        ({"task": {"goal": f"goal {n}"}} for n in range(1_201)), namespace="lab"
    )

    assert [len(sent["trajectories"]) for sent in server.bodies()] == [500, 500, 201]
    assert (receipt.stored, receipt.credited, receipt.position) == (1_201, 3, 500)
    assert receipt.change_ids == [A, A, A]
    goals = [run["task"]["goal"] for sent in server.bodies() for run in sent["trajectories"]]
    assert goals == [f"goal {n}" for n in range(1_201)]


def test_runs_are_split_by_size_and_a_long_one_goes_alone():
    def run(length):
        return {"task": {"goal": "g"}, "steps": [{"action": "x" * length}]}

    lengths = [400, 400, 400, 5_000, 10]
    batches = list(run_batches(map(run, lengths), "lab", most_bytes=1_200))

    assert [batch.runs for batch in batches] == [2, 1, 1, 1]
    assert all(len(batch.content) <= 1_300 for batch in batches if batch.runs > 1)


def test_one_searchable_false_makes_the_whole_receipt_so(server, memory):
    def lagging(request):
        reply = json.loads(stored_batch(request).content)
        return httpx.Response(202, json={**reply, "searchable": len(server.requests) != 1})

    server.answers = [lagging]
    runs = [{"task": {"goal": "g"}}] * 501
    assert memory.add_trajectories(runs, namespace="lab").searchable is False


def test_no_runs_are_no_request(server, memory):
    receipt = memory.add_trajectories([], namespace="lab")

    assert server.requests == []
    assert (receipt.ids, receipt.stored, receipt.change_id) == ([], 0, None)


def test_a_list_with_a_bad_run_is_not_sent_at_all(server, memory):
    runs = [{"task": {"goal": "g"}}] * 600 + [{"task": {"gaol": "g"}}]

    with pytest.raises(InvalidRequest, match=r"trajectories\.600\.task\.goal"):
        memory.add_trajectories(runs, namespace="lab")
    assert server.requests == []


def test_a_batch_that_fails_says_how_many_were_stored_before(server, memory, problem):
    server.answers = [stored_batch, problem(413, "body_too_large")]

    with pytest.raises(TooLarge) as caught:
        memory.add_trajectories([{"task": {"goal": "g"}}] * 501, namespace="lab")
    assert caught.value.__notes__ == ["The first 500 runs of this call were stored."]


def test_a_file_is_sent_as_it_is(server, memory):
    receipt = {"ids": [], "stored": 0, "existing": 0, "credited": 0}
    server.answers = [httpx.Response(201, json=receipt)]

    memory.import_trajectories(b'{"task": 1}\n', namespace="lab", format="jsonl")

    (request,) = server.requests
    assert request.content == b'{"task": 1}\n'
    assert request.url.params == httpx.QueryParams({"namespace": "lab", "format": "jsonl"})


# --- memories ----------------------------------------------------------------------------


def test_a_text_is_told_as_it_is(server, memory):
    server.answers = [httpx.Response(201, json=REMEMBERED)]

    report = memory.remember("tea is hot", namespace="a", metadata={"by": None}, at=NEW_YEAR)

    assert server.requests[0].url.path == "/v1/remember"
    assert server.bodies() == [
        {
            "namespace": "a",
            "text": "tea is hot",
            "metadata": {"by": None},
            "at": "2026-01-01T00:00:00+00:00",
        }
    ]
    assert report.written[0].operation == "ADD"
    assert (report.added, report.unchanged) == (1, 0)


def test_a_text_of_a_kind_is_one_item(server, memory):
    server.answers = [httpx.Response(201, json=STORED)]

    receipt = memory.remember("tea is hot", namespace="a", kind="note", metadata={"by": None})

    assert server.requests[0].url.path == "/v1/memories"
    assert server.bodies() == [
        {
            "namespace": "a",
            "kind": "note",
            "title": "",
            "body": {"text": "tea is hot"},
            "metadata": {"by": None},
        }
    ]
    assert receipt.version_id == UUID(B)


def test_messages_and_facts_are_told_in_one_request_each(server, memory):
    server.answers = [httpx.Response(201, json=REMEMBERED)]

    memory.remember(
        namespace="a",
        messages=[{"role": "user", "text": "hi"}, Message(speaker="Ana", text="ho")],
        session=A,
        keep_turns=False,
    )
    memory.remember(
        namespace="a",
        facts=[("pot", "place", "stove"), {"entity": "pot", "key": "size", "value": "2 l"}],
        valid_from=NEW_YEAR,
    )

    talk, facts = server.bodies()
    assert talk["messages"] == [{"role": "user", "text": "hi"}, {"speaker": "Ana", "text": "ho"}]
    assert (talk["session"], talk["keep_turns"]) == (A, False)
    since = {"valid_from": "2026-01-01T00:00:00+00:00"}
    assert facts["facts"] == [
        {"entity": "pot", "key": "place", "value": "stove", **since},
        {"entity": "pot", "key": "size", "value": "2 l", **since},
    ]


@pytest.mark.parametrize(
    "facts",
    [
        [("pot", "place", "stove"), ("pot", "place")],
        [("pot", "place", "stove"), "abc"],
        [("pot", "place", "stove"), {"entity": "pot"}],
        [("pot", "place", "stove"), ("", "place", "x")],
    ],
    ids=["two parts", "a string of three letters", "a field missing", "an empty entity"],
)
def test_one_bad_fact_keeps_all_from_being_sent(server, memory, facts):
    with pytest.raises(InvalidRequest):
        memory.remember(namespace="a", facts=facts)
    assert server.requests == []


def test_a_skill_goes_where_skills_go(server, memory):
    server.answers = [httpx.Response(201, json=STORED)]

    steps = {"when": "water is cold", "steps": [{"action": "heat pot"}]}
    memory.remember(namespace="a", kind="skill", title="Boil", body=steps)

    assert server.requests[0].url.path == "/v1/skills"
    assert server.bodies()[0] == {"namespace": "a", "title": "Boil", "body": steps}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one"),
        ({"text": "x", "body": {"text": "x"}}, "exactly one"),
        ({"text": "x", "facts": [("a", "b", "c")]}, "exactly one"),
        ({"messages": [], "body": {"text": "x"}}, "exactly one"),
        ({"facts": [("a", "b", "c")], "kind": "fact"}, "kind belongs to one item"),
        ({"messages": [{"role": "user", "text": "x"}], "title": "t"}, "title belongs to one item"),
        ({"body": {"text": "x"}, "session": A}, "session belongs to what was said"),
        ({"text": "x", "kind": "note", "keep_turns": False}, "keep_turns belongs to"),
        ({"text": "x", "session": A}, "only messages have a session"),
        ({"text": "x", "time_zone": "Mars/Olympus"}, "no time zone"),
        ({"messages": [{"text": "x"}]}, "either speaker or role"),
        ({"text": "x", "kind": "hint"}, "when, do, avoid"),
        ({"text": "x", "kind": "wish"}, "kind"),
        ({"body": {"when": "x"}, "kind": "hint"}, "do"),
        ({"text": "x", "valid_from": datetime(2026, 1, 1)}, "timezone"),  # noqa: DTZ001
        ({"text": "x", "metadata": {"n": float("inf")}}, "JSON"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_sent(server, memory, given, message):
    with pytest.raises(InvalidRequest, match=message):
        memory.remember(namespace="a", **given)
    assert server.requests == []


def test_a_revision_is_a_new_version(server, memory):
    server.answers = [httpx.Response(201, json=STORED)]
    memory.revise(A, NewVersion.model_validate({"body": {"text": "y"}}))

    assert server.requests[0].url.path == f"/v1/memories/{A}/versions"


@pytest.mark.parametrize("name", ["../keys", "", "1", "a/b", "%2e%2e"])
def test_an_id_cannot_name_another_path(server, memory, name):
    with pytest.raises(InvalidRequest, match="is no id"):
        memory.item(name)
    assert server.requests == []


# --- lists -------------------------------------------------------------------------------


def test_pages_are_asked_for_when_they_are_needed(server, memory):
    def page(cursor):
        return httpx.Response(200, json={"rows": [ITEM, ITEM], "next_cursor": cursor})

    server.answers = [page("two"), page("three"), page(None)]

    rows = memory.items(namespace="a", kind="note")
    assert server.requests == []
    next(rows)
    next(rows)
    assert len(server.requests) == 1
    assert len(list(rows)) == 4

    cursors = [request.url.params.get("cursor") for request in server.requests]
    assert cursors == [None, "two", "three"]
    assert {request.url.params["kind"] for request in server.requests} == {"note"}
    assert "status" not in server.requests[0].url.params


def test_an_empty_page_is_not_the_last_unless_it_says_so(server, memory):
    server.answers = [
        httpx.Response(200, json={"rows": [], "next_cursor": "more"}),
        httpx.Response(200, json={"rows": [ITEM], "next_cursor": None}),
    ]
    assert len(list(memory.items(namespace="a"))) == 1


def test_a_newer_servers_fields_are_ignored_at_every_depth(server, memory):
    newer = {**ITEM, "mood": "calm", "version": {**VERSION, "colour": "red"}}
    server.answers = [httpx.Response(200, json={"rows": [newer], "total": 1})]

    (item,) = memory.items(namespace="a")
    assert item.version.text == "x"
    assert not hasattr(item, "mood")


def test_a_filter_on_success_is_sent_as_json_spells_it(server, memory):
    server.answers = [httpx.Response(200, json={"rows": []})]
    list(memory.trajectories(namespace="a", success=False))
    assert server.requests[0].url.params["success"] == "false"


# --- retrieve ----------------------------------------------------------------------------


def test_several_namespaces_may_be_asked(server, memory):
    server.answers = [httpx.Response(404)]

    with pytest.raises(Exception, match="404"):
        memory.retrieve(
            "q",
            namespace=["a", "b/**"],
            filters={"kind": {"in": ["skill", "rule"]}},
            exclude_task="boil",
        )
    assert server.bodies() == [
        {
            "query": "q",
            "namespaces": ["a", "b/**"],
            "filters": {"kind": {"in": ["skill", "rule"]}},
            "exclude_task": "boil",
        }
    ]


@pytest.mark.parametrize(
    "filters",
    [{"colour": {"eq": "red"}}, {"kind": {"like": "s%"}}, {"kind": {}}],
    ids=["unknown field", "unknown operator", "no operator"],
)
def test_a_filter_that_would_not_filter_is_refused(server, memory, filters):
    with pytest.raises(InvalidRequest, match="filters"):
        memory.retrieve("q", namespace="a", filters=filters)
    assert server.requests == []


def test_no_namespace_is_refused(server, memory):
    with pytest.raises(InvalidRequest, match="namespace"):
        memory.retrieve("q", namespace=[])
    assert server.requests == []


def test_feedback_names_exactly_one_cause(server, memory):
    server.answers = [httpx.Response(200, json={"credited": 1, "replaced": 0})]

    assert memory.feedback(retrieval_id=A, score=0.5).credited == 1
    with pytest.raises(InvalidRequest, match="either"):
        memory.feedback(score=0.5)
    assert server.bodies() == [{"retrieval_id": A, "score": 0.5, "source": "human"}]


def test_undo_says_why(server, memory):
    server.answers = [httpx.Response(200, json={"undoes": A, "rows": 3, "change_id": B})]

    assert memory.undo(A, reason="too eager").rows == 3
    assert server.requests[0].url.path == f"/v1/changes/{A}/undo"
    assert server.requests[0].url.params["reason"] == "too eager"
