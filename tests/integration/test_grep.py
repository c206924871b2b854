"""Grep: exact where retrieve goes by likeness, whole over pages, and never slow."""

import time
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memserver.services.grepping.asked import Grep
from memserver.services.grepping.grep import Grepping
from memserver.services.grepping.pattern import Pattern
from tests.integration.conftest import App, Caller


def note(caller: Caller, namespace: str, text: str, **more: Any) -> str:
    sent = {"namespace": namespace, "body": {"text": text}, "title": "A note", **more}
    return str(caller.post("/v1/memories", sent)["id"])


def run(caller: Caller, namespace: str, goal: str, *steps: tuple[str, str], **more: Any) -> str:
    acted = [{"observation": seen, "action": done} for seen, done in steps]
    sent = {"namespace": namespace, "task": {"goal": goal}, "steps": acted, **more}
    return str(caller.post("/v1/trajectories", sent)["id"])


def session(caller: Caller, namespace: str, *texts: str) -> str:
    made = str(uuid.uuid4())
    events = [{"kind": "message", "speaker": "user", "text": text} for text in texts]
    caller.post(f"/v1/sessions/{made}/events", {"namespace": namespace, "events": events})
    return made


def grep(caller: Caller, pattern: str, namespace: str = "", **more: Any) -> Any:
    return caller.post("/v1/grep", {"pattern": pattern, "namespace": namespace, **more})


def lines(caller: Caller, pattern: str, namespace: str, **more: Any) -> list[str]:
    return [row["line"] for row in grep(caller, pattern, namespace, **more)["rows"]]


def test_a_code_that_likeness_passes_over_is_found_with_the_lines_around_it(
    shared_app: App,
) -> None:
    admin = shared_app.admin
    for n in range(40):
        note(admin, "codes", f"the error ERR-4471-{chr(65 + n % 26)}{n} means that it is too hot")
    wanted = run(
        admin,
        "codes",
        "mend the oven",
        ("the oven is off\nit is cold", "switch the oven on"),
        ("a red light\nERR-4471-B\nand a beep", "look it up"),
    )

    question = {"namespace": "codes", "query": "ERR-4471-B", "kinds": ["note", "trajectory"]}
    similar = admin.post("/v1/retrieve", question)["items"]
    (hit,) = grep(admin, r"ERR-4471-B$", "codes", before=2, after=2)["rows"]

    assert "ERR-4471-B\n" not in "".join(one["text"] + "\n" for one in similar)
    assert (hit["id"], hit["kind"], hit["part"], hit["step"]) == (
        wanted,
        "trajectory",
        "observation",
        1,
    )
    assert (hit["line_number"], hit["line"], hit["version_id"]) == (2, "ERR-4471-B", None)
    assert hit["line"][hit["match_start"] : hit["match_end"]] == "ERR-4471-B"
    assert hit["before"] == ["switch the oven on", "a red light"]
    assert hit["after"] == ["and a beep", "look it up"]


def test_items_runs_and_sessions_are_gone_through_in_this_order(shared_app: App) -> None:
    admin = shared_app.admin
    talk = session(admin, "three", "needle one", "nothing", "needle two")
    ran = run(admin, "three", "needle goal", ("", "needle act"))
    kept = note(admin, "three", "a needle\nin the hay")

    rows = grep(admin, "needle", "three", after=1)["rows"]

    assert [(row["id"], row["part"], row["step"]) for row in rows] == [
        (kept, "text", None),
        (ran, "goal", None),
        (ran, "action", 0),
        (talk, "message", 1),
        (talk, "message", 3),
    ]
    assert rows[0]["after"] == ["in the hay"]
    assert rows[3]["after"] == ["nothing"]
    assert rows[0]["version_id"] == admin.get(f"/v1/memories/{kept}")["version"]["id"]
    for kinds, count in ((["note"], 1), (["trajectory"], 2), (["session"], 2), (["rule"], 0)):
        assert len(grep(admin, "needle", "three", kinds=kinds)["rows"]) == count


def test_only_what_holds_now_is_searched_of_items(shared_app: App) -> None:
    admin = shared_app.admin
    item = note(admin, "now", "needle of before")
    admin.post(f"/v1/memories/{item}/versions", {"body": {"text": "needle of now"}})
    gone = note(admin, "now", "needle that is gone")
    admin.delete(f"/v1/memories/{gone}")

    assert lines(admin, "needle", "now") == ["needle of now"]


def test_times_bound_when_it_was_said(shared_app: App) -> None:
    admin = shared_app.admin
    early, late = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
    note(admin, "times", "needle early", valid_from=early)
    note(admin, "times", "needle late", valid_from=late)
    run(admin, "times", "needle run", created_at=early)

    assert lines(admin, "needle", "times", to=late) == ["needle early", "needle run"]
    assert lines(admin, "needle", "times", **{"from": late}) == ["needle late"]
    assert lines(admin, "needle", "times", **{"from": early, "to": early}) == []


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "東京は日本の首都です",
        "cafe\u0301 and e\u0302\u0323",
        "👩‍👩‍👧 family",
        'a "quoted" \\ backslash',
        "tab\there",
        "100%_sure",
        "ﬁ ligature",
    ],
)
def test_whatever_characters_it_has_a_text_is_found_and_comes_back_unharmed(
    shared_app: App, text: str, literal: bool
) -> None:
    namespace = f"letters/{uuid.uuid4().hex}"
    run(shared_app.admin, namespace, "a goal", (f"before\n{text}\nafter", ""))
    note(shared_app.admin, namespace, text)
    pattern = text if literal else "".join(f"[{c}]" if c in "\\.%" else c for c in text)
    pattern = pattern if literal else pattern.replace("[\\]", r"\\")

    rows = grep(shared_app.admin, pattern, namespace, literal=literal, before=1, after=1)["rows"]

    assert [row["line"] for row in rows] == [text, text]
    assert [row["line"][row["match_start"] : row["match_end"]] for row in rows] == [text, text]
    assert rows[1]["before"] == ["before"]
    assert rows[1]["after"] == ["after"]


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    texts=st.lists(st.text(st.sampled_from('ab\n"\\%_é日'), max_size=12), min_size=1, max_size=4),
    words=st.text(st.sampled_from('ab"\\%_é日'), min_size=1, max_size=3),
    ignore_case=st.booleans(),
)
def test_a_literal_is_found_wherever_it_stands_and_nowhere_else(
    shared_app: App, texts: list[str], words: str, ignore_case: bool
) -> None:
    namespace = f"literal/{uuid.uuid4().hex}"
    for text in texts:
        run(shared_app.admin, namespace, "x", (text, ""))

    found = lines(
        shared_app.admin, words, namespace, literal=True, ignore_case=ignore_case, limit=500
    )

    assert found == [line for text in texts for line in text.split("\n") if words in line]


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_pages_of_any_size_lead_through_every_match_once(shared_app: App, limit: int) -> None:
    admin, namespace = shared_app.admin, f"pages/{limit}"
    for n in range(3):
        note(admin, namespace, "\n".join(f"needle {n}.{m}" for m in range(3)))
        run(admin, namespace, f"needle goal {n}", (f"needle a{n}\nhay\nneedle b{n}", ""))
        session(admin, namespace, f"needle s{n}", "hay", f"needle t{n}\nneedle u{n}")
    whole = grep(admin, "needle", namespace, limit=500, before=1, after=1)
    assert len(whole["rows"]) == 27
    assert whole["next_cursor"] is None

    rows: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = grep(admin, "needle", namespace, limit=limit, before=1, after=1, **cursor)
        assert len(page["rows"]) <= limit
        rows += page["rows"]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert rows == whole["rows"]


def test_a_search_whose_time_runs_out_says_so_and_goes_on_where_it_stopped(
    shared_app: App,
) -> None:
    namespace = "slow"
    for n in range(5):
        note(shared_app.admin, namespace, f"needle {n}\n" + "hay\n" * 9_000 + "needle again")
        session(shared_app.admin, namespace, *[f"needle {n} {m}" for m in range(3)])
    services = shared_app.server.services
    scope = services.access.authenticate(shared_app.admin.key)
    ticks = iter(range(10_000))
    hurried = Grepping(services.store, services.access, clock=lambda: next(ticks), budget_s=0.5)

    asked = Grep(Pattern("needle"), (namespace,))
    found, cursor, calls = [], None, 0
    while True:
        answer = hurried(scope, Grep(asked.pattern, asked.namespaces, cursor=cursor))
        found += [(hit.text.id, hit.line.step, hit.line.number) for hit in answer.hits]
        calls += 1
        assert answer.truncated == (answer.next_cursor is not None)
        cursor = answer.next_cursor
        if cursor is None:
            break

    assert calls > 5
    assert len(found) == len(set(found)) == 25


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+b", r"(.*a){25}z", r"(x+x+)+y"])
def test_a_catastrophic_pattern_returns_within_a_bound(shared_app: App, pattern: str) -> None:
    namespace = f"hostile/{uuid.uuid4().hex}"
    note(shared_app.admin, namespace, "a" * 400_000 + "!")
    run(shared_app.admin, namespace, "x", *[("x" * 1_000 + "\n" + "a" * 1_000, "")] * 100)
    began = time.monotonic()

    reply = shared_app.admin("POST", "/v1/grep", json={"pattern": pattern, "namespace": namespace})

    assert reply.status_code == 200
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "sent",
    [
        {"pattern": "("},
        {"pattern": r"(a)\1"},
        {"pattern": "a{1000}{1000}"},
        {"pattern": r"\pL{900}"},
        {"pattern": ""},
        {"pattern": "x" * 1_001},
        {"pattern": "x", "kinds": ["thought"]},
        {"pattern": "x", "before": 51},
        {"pattern": "x", "limit": 0},
        {"pattern": "x", "from": "2020-01-01"},
        {"pattern": "x", "flags": "i"},
        {"pattern": "x", "cursor": "bm9uZQ"},
        {"pattern": "x", "cursor": "WyJncmVwIiwicnVucyIsWyJhIiwiYiJdLG51bGwsMF0"},
    ],
)
def test_what_cannot_be_asked_is_refused(shared_app: App, sent: dict[str, Any]) -> None:
    reply = shared_app.admin("POST", "/v1/grep", json={"namespace": "any", **sent})

    assert reply.status_code == 422
    assert "detail" in reply.json()


def test_a_long_line_comes_as_the_piece_around_its_match(shared_app: App) -> None:
    note(shared_app.admin, "long", "x" * 5_000 + "needle" + "y" * 5_000)

    (row,) = grep(shared_app.admin, "needle", "long")["rows"]

    assert row["cut"]
    assert len(row["line"]) <= 1_000
    assert row["line"][row["match_start"] : row["match_end"]] == "needle"


def test_no_line_of_another_tenant_or_of_a_namespace_that_only_looks_alike_is_found(
    shared_app: App,
) -> None:
    admin = shared_app.admin
    theirs = admin.with_key("admin", "**", tenant="grep-others")
    own = {}
    for caller, path in (
        (admin, "g/team"),
        (admin, "g/team2"),
        (admin, "g/team/a"),
        (admin, "g/tea"),
        (theirs, "g/team"),
        (theirs, "g/team/a"),
    ):
        whose = "theirs" if caller is theirs else "ours"
        note(caller, path, f"needle item {whose} {path}")
        run(caller, path, f"needle run {whose} {path}")
        own[whose, path] = session(caller, path, f"needle turn {whose} {path}")
    reader = admin.with_key("reader", "g/team/**")

    def found(caller: Caller, namespace: str, **more: Any) -> set[str]:
        return {line.partition(" ")[2] for line in lines(caller, "needle", namespace, **more)}

    def all_of(*places: str) -> set[str]:
        return {f"{what} {place}" for what in ("item", "run", "turn") for place in places}

    assert found(admin, "g/team") == all_of("ours g/team")
    assert found(reader, "g/team") == all_of("ours g/team")
    assert (
        found(reader, "g/team/**") == found(reader, "**") == all_of("ours g/team", "ours g/team/a")
    )
    assert found(theirs, "**") == all_of("theirs g/team", "theirs g/team/a")
    assert (
        reader("POST", "/v1/grep", json={"pattern": "needle", "namespace": "g/team2"}).status_code
        == 403
    )
    page = grep(admin, "needle", "g/**", limit=1)
    other = {"cursor": page["next_cursor"]}
    assert found(reader, "**", **other) <= all_of("ours g/team", "ours g/team/a")
    assert found(theirs, "**", **other) <= all_of("theirs g/team", "theirs g/team/a")


def test_a_cursor_opens_nothing_that_the_question_does_not_name(shared_app: App) -> None:
    """It names the text that was left off at, which the next question may not reach."""
    admin = shared_app.admin
    for make in (note, run, session):
        namespace = f"left/{make.__name__}"
        make(admin, namespace, "needle\nneedle")
        cursor = grep(admin, "needle", namespace, limit=1)["next_cursor"]
        reader = admin.with_key("reader", "left/other")
        admin.post("/v1/namespaces", {"path": "left/other"})

        assert lines(admin, "needle", "left/other", cursor=cursor) == []
        assert lines(reader, "needle", "left/other", cursor=cursor) == []
        assert lines(admin, "needle", namespace, cursor=cursor) == ["needle"]


def test_the_time_of_a_line_is_its_own(shared_app: App) -> None:
    at = datetime(2021, 5, 6, 7, 8, 9, tzinfo=UTC)
    note(shared_app.admin, "when", "needle", valid_from=at.isoformat())

    (row,) = grep(shared_app.admin, "needle", "when")["rows"]

    assert datetime.fromisoformat(row["at"]) == at
