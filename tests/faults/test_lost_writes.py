"""Lost and phantom writes: an answer of success means stored and found, then and later; and where
a part of the server has died, answers are refusals that come at once."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pytest

from memserver.domain.errors import Unavailable
from memserver.domain.ports import Hit, Leg
from memserver.ids import uuid7
from memserver.jobs import Dispatcher
from memserver.services.indexing import Indexer
from memserver.storage.encoders import BatchingEncoder
from memserver.storage.index.edge import EdgeIndex
from memserver.storage.sql.engines import Engines
from memserver.storage.sql.group_commit import GroupCommit
from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import App, on_both_databases, start_app, wait_for

NS = "writes"
SOON_S = 60.0
PROMPT_S = 5.0
"""Much less than the ten seconds for which a write waits to be searchable."""
thread_dies = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def found(app: App, text: str, **more: Any) -> list[str]:
    """The ids that a retrieve of the text hands out, best first."""
    ask = {"query": text, "namespace": NS, "k": 50, **more}
    return [hit["id"] for hit in app.admin.post("/v1/retrieve", ask)["items"]]


def note(text: str) -> dict[str, Any]:
    return {"namespace": NS, "body": {"text": text}}


def run(goal: str) -> dict[str, Any]:
    return {"namespace": NS, "task": {"goal": goal}}


# --- success reported, nothing stored; acknowledged, not found until a watcher has run --------


@on_both_databases("app")
def test_success_means_stored_and_found_by_every_route_that_writes(app: App) -> None:
    admin, kinds = app.admin, {"kinds": ["note", "skill", "fact", "trajectory"]}
    memory = admin.post("/v1/memories", note("a copper kettle"))
    skill = admin.post("/v1/skills", {"namespace": NS, "body": {"when": "a tin whistle"}})
    one = admin.post("/v1/trajectories", run("a silver spoon"))
    two = admin.post(
        "/v1/trajectories/batch",
        {"namespace": NS, "trajectories": [{"task": {"goal": g}} for g in ("jar", "vase")]},
    )
    line = b'{"task": {"goal": "a wooden ladder"}}\n'
    imported = admin.post(f"/v1/trajectories/import?namespace={NS}", content=line)
    newer = admin.post(f"/v1/memories/{memory['id']}/versions", {"body": {"text": "an iron pot"}})
    gone = admin.delete(f"/v1/skills/{skill['id']}")
    told = (memory, skill, one, two, imported, newer, gone)
    assert [reply["searchable"] for reply in told] == [True] * len(told)
    assert found(app, "tin whistle", **kinds).count(skill["id"]) == 0
    undone = admin.post(f"/v1/changes/{gone['change_id']}/undo")
    assert undone["searchable"] is True

    for text, id_, path in (
        ("iron pot", memory["id"], "memories"),
        ("tin whistle", skill["id"], "skills"),
        ("silver spoon", one["id"], "trajectories"),
        ("jar", two["ids"][0], "trajectories"),
        ("vase", two["ids"][1], "trajectories"),
        ("wooden ladder", imported["ids"][0], "trajectories"),
    ):
        assert found(app, text, **kinds)[0] == id_, text
        assert admin.get(f"/v1/{path}/{id_}")["id"] == id_
        assert id_ in {row["id"] for row in admin.rows(f"/v1/{path}", namespace=NS)}


def test_a_write_is_found_in_the_very_next_moment_while_others_write(app: App) -> None:
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            app.admin.post("/v1/trajectories", run("something else"))

    with ThreadPoolExecutor(2) as pool:
        noise = [pool.submit(disturb) for _ in range(2)]
        try:
            for number in range(25):
                made = app.admin.post("/v1/memories", note(f"word{number}"))
                assert made["searchable"] is True
                assert found(app, f"word{number}")[0] == made["id"]
        finally:
            stop.set()
        for one in noise:
            one.result()


def test_there_is_no_moment_at_which_what_was_acknowledged_is_not_found(app: App) -> None:
    """While it is told anew itself, while its neighbours change and go, and while the whole index
    is rebuilt."""
    fact = {"entity": "door", "key": "code", "value": "0"}
    made = app.admin.post("/v1/memories", {"namespace": NS, "kind": "fact", "body": fact})
    others = [app.admin.post("/v1/memories", note(f"other note {n}"))["id"] for n in range(12)]
    missed: list[list[str]] = []
    looks = [0]
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            looks[0] += 1
            hits = found(app, "door code", kinds=["fact"])
            if hits != [made["id"]]:
                missed.append(hits)

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            for value in range(1, 13):
                told = {**fact, "value": str(value)}
                app.admin.post("/v1/memories", {"namespace": NS, "kind": "fact", "body": told})
            for other in others:
                body = {"body": {"text": f"door code {other}"}}
                app.admin.post(f"/v1/memories/{other}/versions", body)
                app.admin.delete(f"/v1/memories/{other}")
            rebuilt = app.admin.post("/v1/reindex")
            assert wait_for(app.admin, rebuilt)["state"] == "succeeded"
        finally:
            stop.set()
        looking.result()
    assert missed == []
    assert looks[0] > 10


def test_what_is_told_anew_while_a_retrieve_searches_is_found_by_it(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = {"entity": "gate", "key": "code", "value": "1"}
    made = app.admin.post("/v1/memories", {"namespace": NS, "kind": "fact", "body": fact})
    search, told = EdgeIndex.search, threading.Event()

    def told_meanwhile(self: EdgeIndex, legs: Sequence[Leg]) -> list[list[Hit]]:
        hits = search(self, legs)
        if not told.is_set():
            told.set()
            anew = {**fact, "value": "2"}
            app.admin.post("/v1/memories", {"namespace": NS, "kind": "fact", "body": anew})
        return hits

    monkeypatch.setattr(EdgeIndex, "search", told_meanwhile)

    assert found(app, "gate code", kinds=["fact"]) == [made["id"]]
    assert told.is_set()


# --- part of a batch fails to embed and vanishes ----------------------------------------------


class Choosy(HashEncoder):
    """An encoder that has no vector for some texts, and may be out of order altogether."""

    broken = False

    def encode(self, texts: Any) -> npt.NDArray[np.float32]:
        if self.broken:
            raise Unavailable("The model does not answer.")
        if any("poison" in text for text in texts):
            raise ValueError("poison")
        return super().encode(texts)


@pytest.fixture
def choosy(tmp_path: Path) -> Iterator[tuple[App, Choosy]]:
    with ExitStack() as stack:
        encoder = Choosy()
        yield start_app(stack, tmp_path / "data", encoder=encoder, wait_s=1.0), encoder


def test_a_batch_of_which_a_part_cannot_be_embedded_keeps_the_rest_and_says_so(
    choosy: tuple[App, Choosy],
) -> None:
    app, _ = choosy
    runs = [{"task": {"goal": goal}} for goal in ("a red jar", "poison", "a blue vase")]
    reply = app.admin(
        "POST", "/v1/trajectories/batch", json={"namespace": NS, "trajectories": runs}
    )
    stored = reply.json()

    assert (reply.status_code, stored["stored"], stored["searchable"]) == (202, 3, False)
    assert len(app.admin.rows("/v1/trajectories", namespace=NS)) == 3
    hits = found(app, "jar vase poison", kinds=["trajectory"])
    assert sorted(hits) == sorted([stored["ids"][0], stored["ids"][2]])
    health = app.admin.get("/health/ready", audit=True)["index"]
    assert (health["skipped"], health["missing"]) == (1, 1)
    again = app.admin("POST", "/v1/trajectories", json={**run("poison"), "id": stored["ids"][1]})
    assert (again.json()["existing"], again.json()["searchable"]) == (True, False)
    later = app.admin("POST", "/v1/memories", json=note("fine again"))
    assert (later.status_code, later.json()["searchable"]) == (201, True)


def test_a_write_that_cannot_be_embedded_is_not_called_searchable(
    choosy: tuple[App, Choosy],
) -> None:
    app, _ = choosy
    reply = app.admin("POST", "/v1/memories", json=note("poison"))
    assert (reply.status_code, reply.json()["searchable"]) == (202, False)

    item = reply.json()["id"]
    assert app.admin.get(f"/v1/memories/{item}")["version"]["text"] == "poison"
    mended = app.admin("POST", f"/v1/memories/{item}/versions", json={"body": {"text": "a cure"}})
    assert (mended.status_code, mended.json()["searchable"]) == (201, True)
    assert found(app, "a cure") == [item]


def test_what_is_written_while_the_encoder_fails_is_found_once_it_works(
    choosy: tuple[App, Choosy],
) -> None:
    app, encoder = choosy
    encoder.broken = True
    reply = app.admin("POST", "/v1/memories", json=note("a green apple"))
    assert (reply.status_code, reply.json()["searchable"]) == (202, False)
    ready = app.anonymous("GET", "/health/ready")
    assert (ready.status_code, ready.json()["index"]["problem"]) == (
        503,
        "The model does not answer.",
    )

    encoder.broken = False
    until(lambda: app.anonymous("GET", "/health/ready").status_code == 200)
    assert found(app, "a green apple") == [reply.json()["id"]]
    assert app.audit()["missing"] == 0


# --- the ingest worker dies while requests are still accepted ---------------------------------


def die(*_: Any) -> NoReturn:
    """Ends the thread that calls it."""
    raise SystemExit


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def stopped(app: App) -> list[str]:
    names: list[str] = app.anonymous("GET", "/health/ready").json()["stopped"]
    return names


def promptly(request: Callable[[], Any]) -> Any:
    started = time.monotonic()
    reply = request()
    assert time.monotonic() - started < PROMPT_S
    return reply


@thread_dies
def test_a_writer_that_dies_leaves_nobody_hanging_and_refuses_from_then_on(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = app.admin.post("/v1/memories", note("kept"))
    # The thread waits inside the real method; once it has work in hand, it dies of the next one.
    gate, entered = threading.Event(), threading.Event()

    def hold_and_die(*_: Any) -> NoReturn:
        entered.set()
        assert gate.wait(SOON_S)
        raise SystemExit

    monkeypatch.setattr(Engines, "lock", hold_and_die)
    writes = app.server.services.store._writes  # type: ignore[attr-defined]
    with ThreadPoolExecutor(12) as pool:
        first = pool.submit(app.admin, "POST", "/v1/memories", json=note("in hand"))
        assert entered.wait(SOON_S)
        waiting = [
            pool.submit(app.admin, "POST", "/v1/memories", json=note(f"waiting {n}"))
            for n in range(8)
        ]
        until(lambda: writes._queue.qsize() >= 8)
        gate.set()
        replies = [promptly(one.result) for one in (first, *waiting)]

    assert {(r.status_code, r.json()["code"]) for r in replies} == {(503, "unavailable")}
    until(lambda: stopped(app) == ["store"])
    for method, path, body in (
        ("POST", "/v1/memories", note("too late")),
        ("POST", "/v1/trajectories", run("too late")),
        ("DELETE", f"/v1/memories/{kept['id']}", None),
        ("POST", "/v1/distill", {"namespace": NS}),
        ("POST", "/v1/retrieve", {"namespace": NS, "query": "kept"}),
        ("POST", "/v1/keys", {"role": "reader", "grants": ["**"]}),
    ):
        refused = promptly(lambda m=method, p=path, b=body: app.admin(m, p, json=b))
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable"), path
    rows = app.admin.rows("/v1/memories", namespace=NS)
    assert [row["id"] for row in rows] == [kept["id"]]
    assert app.anonymous.get("/health/live") == {"live": True}


@thread_dies
def test_a_writer_that_has_died_can_still_be_closed(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GroupCommit, "_run_batch", die)
    assert app.admin("POST", "/v1/memories", json=note("x")).status_code == 503
    promptly(app.server.services.store.close)  # type: ignore[attr-defined]


@thread_dies
def test_an_indexer_that_dies_leaves_no_write_and_no_rebuild_waiting(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Indexer, "_wait", die)
    reply = promptly(lambda: app.admin("POST", "/v1/memories", json=note("durable")))

    # It may be flushed, or not any more, before the indexer comes to wait again.
    assert (reply.status_code, reply.json()["searchable"]) in ((202, False), (201, True))
    until(lambda: stopped(app) == ["indexer"])
    again = promptly(lambda: app.admin("POST", "/v1/memories", json=note("durable too")))
    assert (again.status_code, again.json()["searchable"]) == (202, False)
    rebuild: Future[int] = app.server.services.indexer.rebuild()
    with pytest.raises(Unavailable):
        rebuild.result(PROMPT_S)
    assert len(app.admin.rows("/v1/memories", namespace=NS)) == 2


@thread_dies
def test_no_work_is_accepted_that_nothing_would_start(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = wait_for(app.admin, app.admin.post("/v1/consolidate", {"namespace": NS}))
    monkeypatch.setattr(Dispatcher, "look", die)
    until(lambda: stopped(app) == ["dispatcher"])

    for path, body in (
        ("/v1/distill", {"namespace": NS}),
        ("/v1/consolidate", {"namespace": NS, "apply": True}),
        ("/v1/reindex", None),
    ):
        refused = app.admin("POST", path, **({} if body is None else {"json": body}))
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert [row["id"] for row in app.admin.rows("/v1/operations")] == [accepted["id"]]
    written = app.admin.post("/v1/memories", note("this needs no dispatcher"))
    assert written["searchable"] is True


@thread_dies
def test_an_encoder_that_dies_leaves_no_query_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", encoder=BatchingEncoder(HashEncoder()))
        app.admin.post("/v1/memories", note("a lamp"))
        assert len(found(app, "a lamp")) == 1
        monkeypatch.setattr(BatchingEncoder, "_take", die)
        # The thread waits inside the real method, and takes this one still.
        app.admin("POST", "/v1/retrieve", json={"query": "one more", "namespace": NS})
        until(lambda: stopped(app) == ["encoder"])
        ask = {"query": "another", "namespace": NS}
        refused = promptly(lambda: app.admin("POST", "/v1/retrieve", json=ask))
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")


# --- data erased or ephemeral at restart, a misspelt setting silently falls back --------------


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MEMSERVER_DATABSE_URL", "postgresql://x/y", "MEMSERVER_DATABASE_URL"),
        ("MEMSERVER_DATA_DIR", "/elsewhere", "MEMSERVER_DATA"),
        ("MEMSERVER_PORT", "eighty", "MEMSERVER_PORT"),
    ],
)
def test_a_misspelt_setting_stops_the_start_and_touches_nothing(
    tmp_path: Path, name: str, value: str, said: str
) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "tests.integration.cheap_server", "serve", "--data", str(data)]
    ended = subprocess.run(
        command,
        env={"PATH": "/usr/bin", "HF_HUB_OFFLINE": "1", name: value},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode != 0
    assert said in ended.stderr.splitlines()[-1]
    assert not data.exists()


# --- found at once, gone seconds later --------------------------------------------------------


def test_what_is_found_at_once_is_found_later_whatever_happens_around_it(tmp_path: Path) -> None:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data", flush_every_s=0.05)
        key = app.admin.key
        made = [app.admin.post("/v1/memories", note(f"word{n}"))["id"] for n in range(5)]
        app.admin.post("/v1/trajectories", run("word0"))

        def all_found(again: App) -> None:
            assert [found(again, f"word{n}")[0] for n in range(5)] == made
            assert len(found(again, "word0", kinds=["trajectory"])) == 1

        all_found(app)
        time.sleep(0.3)  # several flushes
        all_found(app)
        for _ in range(3):
            app.admin.post("/v1/memories", {**note("word1 word1"), "namespace": "neighbours"})
        for verb, more in (("distill", {}), ("consolidate", {"apply": True})):
            sent = {"namespace": "neighbours", **more}
            wait_for(app.admin, app.admin.post(f"/v1/{verb}", sent))
        for row in app.admin.rows("/v1/memories", namespace="neighbours"):
            app.admin.delete(f"/v1/memories/{row['id']}")
        all_found(app)
        assert wait_for(app.admin, app.admin.post("/v1/reindex"))["state"] == "succeeded"
        all_found(app)
    for _ in range(2):
        with ExitStack() as stack:
            again = start_app(stack, tmp_path / "data", key=key)
            all_found(again)
            audit = again.audit()
            assert (audit["missing"], audit["orphans"]) == (0, 0)


# --- parallel writers corrupt a store ---------------------------------------------------------


@on_both_databases("app")
def test_parallel_writers_lose_double_and_mix_up_nothing(app: App) -> None:
    """Eight writers: things of their own, the same thing, and versions of one item."""
    shared = app.admin.post("/v1/memories", note("version 0"))["id"]
    same_id = str(uuid7())

    def write(writer: int) -> list[str]:
        mine = []
        for number in range(8):
            mine.append(app.admin.post("/v1/memories", note(f"writer{writer} n{number}"))["id"])
            app.admin.post("/v1/memories", note(f"told by all {number}"))
            app.admin.post("/v1/trajectories", {**run("the same run"), "id": same_id})
            body = {"body": {"text": f"version of {writer}, {number}"}}
            app.admin.post(f"/v1/memories/{shared}/versions", body)
        return mine

    with ThreadPoolExecutor(8) as pool:
        written = [id_ for ids in pool.map(write, range(8)) for id_ in ids]

    rows = {row["id"]: row for row in app.admin.rows("/v1/memories", namespace=NS)}
    assert len(rows) == 64 + 8 + 1
    assert set(written) <= set(rows)
    texts = [row["version"]["text"] for row in rows.values()]
    assert len(set(texts)) == len(texts)
    assert [row["id"] for row in app.admin.rows("/v1/trajectories", namespace=NS)] == [same_id]
    history = app.admin.get(f"/v1/memories/{shared}/history")["versions"]
    assert [version["number"] for version in history] == list(range(65, 0, -1))
    positions = [row["position"] for row in app.admin.rows("/v1/changes", namespace=NS)]
    assert positions == list(range(positions[0], positions[0] - (64 + 8 + 1 + 1 + 64), -1))
    assert app.audit() | {"applied": 0} == {
        "applied": 0, "lag": 0, "skipped": 0, "problem": None, "missing": 0, "orphans": 0,
    }  # fmt: skip
