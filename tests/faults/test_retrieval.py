"""Retrieval: what a question says is what it means, about likeness, conditions, time and place."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.faults.belongings import learned_policy
from tests.faults.conftest import Key, environment, running
from tests.faults.document import DOCUMENT, ROUTES, Route
from tests.faults.test_embedders import BODIES
from tests.integration.conftest import App, Caller, start_app, wait_for

FAR_APART = ("Pacific/Kiritimati", "America/Los_Angeles")
"""Zones in which it is never the same day, nor the same clock time, at once."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with ExitStack() as stack:
        yield start_app(stack, tmp_path_factory.mktemp("retrieval") / "data")


def retrieve(caller: Caller, namespace: str, query: str, **more: Any) -> list[dict[str, Any]]:
    question = {"namespace": namespace, "query": query, "k": 100, **more}
    found: list[dict[str, Any]] = caller.post("/v1/retrieve", question)["items"]
    return found


def note(caller: Caller, namespace: str, text: str, **more: Any) -> str:
    sent = {"namespace": namespace, "body": {"text": text}, **more}
    return str(caller.post("/v1/memories", sent)["id"])


# --- likeness ----------------------------------------------------------------------------


def test_the_more_alike_the_higher_the_score_and_the_better_the_rank(app: App) -> None:
    words = "the red lamp stands on the old desk by the window".split()
    for kept in range(len(words), 0, -2):
        unlike = [f"other{n}" for n in range(len(words) - kept)]
        note(app.admin, "alike", " ".join([*words[:kept], *unlike]))

    hits = retrieve(app.admin, "alike", " ".join(words))
    cosines = {hit["arms"]["dense"]["rank"]: hit["arms"]["dense"]["score"] for hit in hits}

    assert hits[0]["text"] == " ".join(words)
    assert cosines[1] == pytest.approx(1.0, abs=0.02)
    assert [cosines[rank] for rank in sorted(cosines)] == sorted(cosines.values(), reverse=True)
    assert [hit["score"] for hit in hits] == sorted((h["score"] for h in hits), reverse=True)
    assert len({round(score, 2) for score in cosines.values()}) > 3


# --- conditions --------------------------------------------------------------------------


def operators() -> dict[str, set[str]]:
    """Of each field that can be filtered by, the operators that the document names."""
    schemas = DOCUMENT["components"]["schemas"]
    found = {}
    for field, schema in schemas["Filters"]["properties"].items():
        name = next(one["$ref"] for one in schema["anyOf"] if "$ref" in one).rsplit("/", 1)[1]
        found[field] = set(schemas[name]["properties"])
    return found


EARLY, LATE = "2020-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"
MEANT: dict[tuple[str, str], tuple[Any, set[str]]] = {
    ("kind", "eq"): ("rule", {"rule"}),
    ("kind", "in"): (["rule", "hint"], {"rule", "hint"}),
    ("task_type", "eq"): ("mend", {"note"}),
    ("task_type", "in"): (["mend", "break"], {"note", "hint"}),
    ("created_at", "gte"): (LATE, set()),
    ("created_at", "lt"): (LATE, {"rule", "hint", "note", "case"}),
}
"""What each operator is tried with, and the kinds of what it is to find."""


@pytest.fixture(scope="module")
def filled(app: App) -> Caller:
    """One item a kind, told apart by kind and task type."""
    types = {"note": "mend", "hint": "break", "rule": None, "case": "other"}
    for kind, task_type in types.items():
        sent = {"namespace": "filters", "kind": kind, "body": BODIES[kind]}  # type: ignore[index]
        app.admin.post("/v1/memories", sent | ({"task_type": task_type} if task_type else {}))
    return app.admin


def test_every_operator_that_is_documented_is_tried_here() -> None:
    named = {(field, one) for field, known in operators().items() for one in known}

    assert named == set(MEANT)


@pytest.mark.parametrize(("field", "operator"), MEANT)
def test_an_operator_that_is_documented_finds_what_it_says(
    filled: Caller, field: str, operator: str
) -> None:
    value, kinds = MEANT[field, operator]

    hits = retrieve(filled, "filters", "lamp", filters={field: {operator: value}})

    assert {hit["kind"] for hit in hits} == kinds


def test_conditions_hold_together(filled: Caller) -> None:
    both = {"task_type": {"in": ["mend", "break"]}, "kind": {"in": ["note", "case"]}}
    when = {"created_at": {"gte": EARLY, "lt": LATE}}

    assert {hit["kind"] for hit in retrieve(filled, "filters", "lamp", filters=both | when)} == {
        "note"
    }


@pytest.mark.parametrize("field", sorted(operators()))
@pytest.mark.parametrize(
    "operator",
    "ne neq not nin not_in gt lte contains icontains like regex exists $eq EQ AND".split(),
)
def test_an_operator_that_does_not_exist_is_refused_by_name_and_never_passed_over(
    filled: Caller, field: str, operator: str
) -> None:
    assert operator not in operators()[field]
    sent = {"namespace": "filters", "query": "lamp", "filters": {field: {operator: "rule"}}}

    reply = filled("POST", "/v1/retrieve", json=sent)

    assert reply.status_code == 422
    assert operator in reply.text
    assert field in reply.text


@pytest.mark.parametrize(
    "filters",
    [
        {"user": {"eq": "ada"}},
        {"AND": [{"kind": {"eq": "rule"}}]},
        {"metadata.color": {"eq": "red"}},
        {"kind": {}},
        {"kind": {"eq": "rule", "in": ["rule"]}},
        {"kind": {"in": []}},
        {"kind": "rule"},
        {"created_at": {"gte": "2020-01-01T00:00:00"}},
    ],
)
def test_a_condition_that_says_nothing_clear_is_refused(
    filled: Caller, filters: dict[str, Any]
) -> None:
    sent = {"namespace": "filters", "query": "lamp", "filters": filters}

    assert filled("POST", "/v1/retrieve", json=sent).status_code == 422


# --- time --------------------------------------------------------------------------------


def test_a_question_about_a_moment_finds_what_held_then_and_nothing_of_the_future(
    app: App,
) -> None:
    begin = datetime(2021, 1, 1, tzinfo=UTC)
    moments = [begin + timedelta(days=n) for n in range(6)]
    for n, moment in enumerate(moments):
        body = {"entity": "lamp", "key": "place", "value": f"room {n}"}
        sent = {"namespace": "moments", "kind": "fact", "body": body}
        app.admin.post("/v1/memories", sent | {"valid_from": moment.isoformat()})

    for n, moment in enumerate(moments):
        for asked in (moment, moment + timedelta(hours=23, minutes=59, seconds=59)):
            (hit,) = retrieve(app.admin, "moments", "place of the lamp", as_of=asked.isoformat())
            assert hit["text"].endswith(f"room {n}")
            assert datetime.fromisoformat(hit["valid_from"]) <= asked
    before = (begin - timedelta(microseconds=1)).isoformat()
    assert retrieve(app.admin, "moments", "place of the lamp", as_of=before) == []


def test_yesterday_is_the_writers_and_not_the_servers(tmp_path: Path) -> None:
    """The same words, said at the same moment by writers in two zones, to two servers that stand
    in two zones: what is meant depends on the writers alone."""
    said_at = "2026-03-10T22:30:00+00:00"
    said = {"text": "Ana's office changed to C3 yesterday.", "at": said_at}
    days: dict[str, dict[str, list[str]]] = {}
    for number, zone in enumerate(FAR_APART):
        with (
            environment(TZ=zone),
            running(tmp_path / f"server-{number}") as server,
            Key(server) as key,
        ):
            of_server = days.setdefault(zone, {})
            for writer in FAR_APART:
                namespace = f"in/{writer.lower()}"
                key.post("/v1/remember", said | {"namespace": namespace, "time_zone": writer})
                rows = key.rows("/v1/memories", namespace=namespace, kind="fact")
                of_server[writer] = [row["version"]["valid_from"] for row in rows]
    first, second = days.values()

    assert first == second
    assert all(len(times) == 1 for times in first.values())
    begins = {writer: datetime.fromisoformat(times[0]) for writer, times in first.items()}
    assert begins[FAR_APART[0]] != begins[FAR_APART[1]]


# --- what comes back -----------------------------------------------------------------------


def test_no_hit_has_an_empty_text(app: App) -> None:
    admin = app.admin
    least: list[tuple[str, dict[str, Any]]] = [
        ("fact", {"entity": "lamp", "key": "color", "value": ""}),
        ("hint", {"when": "", "do": "lamp"}),
        ("rule", {"text": "lamp"}),
        ("case", {"goal": "lamp"}),
        ("note", {"text": "lamp"}),
        ("note", {"text": "\u200b\n\n lamp"}),
    ]
    for kind, body in least:
        admin.post("/v1/memories", {"namespace": "texts", "kind": kind, "body": body})
    admin.post("/v1/skills", {"namespace": "texts", "body": {"when": "lamp"}})
    run = {"namespace": "texts", "task": {"goal": "lamp"}, "steps": [{"observation": ""}]}
    admin.post("/v1/trajectories", run)

    kinds = ["fact", "hint", "rule", "case", "note", "skill", "trajectory"]
    hits = retrieve(admin, "texts", "lamp", kinds=kinds)
    tight = retrieve(admin, "texts", "lamp", kinds=kinds, budget_tokens=1)

    assert {hit["kind"] for hit in hits} == set(kinds)
    assert len(hits) == len(least) + 2
    assert [
        hit for hit in hits + tight if not hit["text"].strip() or not hit["title"].strip()
    ] == []


def test_what_has_no_text_at_all_is_refused_when_it_is_told(app: App) -> None:
    for body in ({"text": ""}, {"text": None}, {}):
        sent = {"namespace": "texts/none", "body": body}
        assert app.admin("POST", "/v1/memories", json=sent).status_code == 422


def test_a_rare_condition_is_met_as_fast_as_a_common_one(app: App) -> None:
    many = 1_500
    for start in range(0, many, 500):
        runs = [
            {"task": {"goal": f"put lamp {n} on the desk", "type": "common"}}
            for n in range(start, start + 500)
        ]
        app.admin.post("/v1/trajectories/batch", {"namespace": "rare", "trajectories": runs})
    one = {"namespace": "rare", "task": {"goal": "open the safe", "type": "rare"}}
    wanted = app.admin.post("/v1/trajectories", one)["id"]

    def asked(task_type: str) -> tuple[list[str], float]:
        began = time.perf_counter()
        hits = retrieve(
            app.admin,
            "rare",
            "put lamp 7 on the desk",
            kinds=["trajectory"],
            filters={"task_type": {"eq": task_type}},
        )
        return [hit["id"] for hit in hits], time.perf_counter() - began

    asked("common")
    found, took = asked("rare")
    nothing, in_vain = asked("never")

    assert found == [wanted]
    assert nothing == []
    assert took < 3
    assert in_vain < 3


def test_a_run_is_never_given_itself_nor_what_stems_from_it_alone(app: App) -> None:
    admin, namespace = app.admin, "own"
    own, other = (
        admin.post(
            "/v1/trajectories",
            {"namespace": namespace, "task": {"goal": "put the lamp on the desk"}, "agent": agent},
        )["id"]
        for agent in ("me", "another")
    )
    both = [{"trajectory_id": own}, {"trajectory_id": other}]
    from_own = note(admin, namespace, "the lamp of mine", sources=both[:1])
    shared = note(admin, namespace, "the lamp of us both", sources=both)
    told = note(admin, namespace, "the lamp of nobody")

    kinds = ["note", "trajectory"]
    mine = {hit["id"] for hit in retrieve(admin, namespace, "lamp", kinds=kinds, trajectory_id=own)}
    anyones = {hit["id"] for hit in retrieve(admin, namespace, "lamp", kinds=kinds)}

    assert mine == {other, shared, told}
    assert anyones == {own, other, from_own, shared, told}
    asked = retrieve(admin, namespace, "lamp", kinds=kinds, as_of=LATE, trajectory_id=own)
    assert {hit["id"] for hit in asked} == {other, shared, told}


# --- lists -------------------------------------------------------------------------------

ROWS = 5


def paged_routes() -> list[Route]:
    """Every list that is answered page by page."""
    return [
        route
        for route in ROUTES
        if route.method == "GET"
        and any(one["name"] == "cursor" for one in route.parameters("query"))
    ]


def solved() -> list[dict[str, Any]]:
    """Runs whose things and places, put together anew, are goals to practise."""
    return [
        {
            "task": {"goal": f"put the {thing} on the {place}"},
            "steps": [{"action": f"take {thing}"}, {"action": f"leave {thing} at {place}"}],
            "outcome": {"score": 1.0, "success": True},
        }
        for thing, place in (("mug", "shelf"), ("apple", "desk"), ("book", "cart"))
    ]


@pytest.fixture(scope="module")
def listed(app: App) -> dict[str, str]:
    """More than a page of everything that is listed; what paths and queries need."""
    admin = app.admin
    session = "0193e3a0-0000-7000-8000-00000000abcd"
    said = [{"kind": "message", "speaker": "x", "text": f"turn {n}"} for n in range(ROWS)]
    runs = [*({"task": {"goal": f"goal {n}"}} for n in range(ROWS)), *solved()]
    batch = admin.post("/v1/trajectories/batch", {"namespace": "lists", "trajectories": runs})
    admin.post("/v1/practice/propose", {"namespace": "lists", "k": ROWS})
    for n in range(ROWS):
        note(admin, "lists", f"note {n}")
        admin.post("/v1/skills", {"namespace": "lists", "body": {"when": f"skill {n}"}})
        fact = {"entity": f"thing {n}", "key": "color", "value": "red"}
        admin.post("/v1/memories", {"namespace": "lists", "kind": "fact", "body": fact})
        admin.post("/v1/keys", {"role": "reader", "grants": ["lists"], "label": f"key {n}"})
        admin.post("/v1/namespaces", {"path": f"lists/{n}"})
        admin.post("/v1/distill", {"namespace": "lists"})
        policy = learned_policy(bias=float(n))
        admin.post("/v1/policies", params={"namespace": "lists"}, content=policy)
        wait_for(admin, admin.post("/v1/erasures", {"subject": f"p{n}", "namespace": f"lists/{n}"}))
        begun = f"{session[:-1]}{n}"
        admin.post(f"/v1/sessions/{begun}/events", {"namespace": "lists", "events": said})
    return {
        "namespace": "lists",
        "{change_id}": batch["change_id"],
        "{session_id}": f"{session[:-1]}0",
        "{item_id}": str(batch["ids"][0]),
    }


@pytest.mark.parametrize("route", paged_routes(), ids=str)
def test_a_list_goes_on_to_its_end_whatever_the_size_of_a_page(
    app: App, listed: dict[str, str], route: Route
) -> None:
    path = route.path
    for name, value in listed.items():
        path = path.replace(name, value) if name.startswith("{") else path
    names = {one["name"] for one in route.parameters("query")}
    params = {"namespace": "lists"} if "namespace" in names else {}
    whole = app.admin.get(path, **params, limit=500)
    in_rows = "rows" if "rows" in whole else "row_changes"
    assert len(whole[in_rows]) >= ROWS, "the list is too short to show anything"
    assert whole["next_cursor"] is None

    for limit in (1, 2, len(whole[in_rows])):
        rows: list[Any] = []
        cursor: dict[str, str] = {}
        while True:
            page = app.admin.get(path, **params, limit=limit, **cursor)
            assert len(page[in_rows]) <= limit
            rows += page[in_rows]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert rows == whole[in_rows]
