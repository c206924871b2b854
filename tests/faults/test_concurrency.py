"""Concurrency, against a real server process on each database: many clients at once, requests that
are cut off in the middle, and a great deal to delete."""

import json
import os
import random
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from memserver.ids import uuid7
from memserver_bench.soak_server import ServerProcess
from memserver_bench.talking import Client
from memserver_client import Memory
from tests.faults.conftest import Key
from tests.integration.conftest import on_both_databases

CLIENTS = 64
EACH = 6
LIVE_WITHIN_S = 0.1
DELETED = 200
DELETED_WITHIN_S = 15.0
"""On a machine of one's own, where it takes about four."""
AT_ONCE_S = 10.0


@pytest.fixture
def key(server: ServerProcess) -> Iterator[Key]:
    """The system key."""
    with Key(server) as opened:
        yield opened


@dataclass
class Ledger:
    """What was acknowledged, by all clients together."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    kept: dict[str, str] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    operations: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


class Busy:
    """One client: reads and writes in an order drawn from its number."""

    def __init__(self, server: ServerProcess, ledger: Ledger, number: int) -> None:
        self._ledger = ledger
        self._number = number
        self._rng = random.Random(number)
        self._key = Key(server)
        self._mine: list[tuple[str, str]] = []

    def work(self) -> None:
        with self._key:
            for turn in range(EACH):
                act = self._rng.choice(ACTS)
                act(self, turn)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        reply = self._key(method, path, **({} if body is None else {"json": body}))
        with self._ledger.lock:
            self._ledger.answers[(f"{method} {path.split('/')[2]}", reply.status_code)] += 1
            if reply.status_code >= 500:
                self._ledger.faults.append(f"{method} {path}: {reply.status_code} {reply.text}")
        return reply

    def remember(self, turn: int) -> None:
        text = f"note {self._number} {turn}"
        reply = self.send("POST", "/v1/memories", {"namespace": "busy", "body": {"text": text}})
        if reply.status_code < 300:
            made = reply.json()
            self._mine.append((made["id"], made["change_id"]))
            with self._ledger.lock:
                self._ledger.kept[made["id"]] = text

    def run(self, turn: int) -> None:
        sent = {"namespace": "busy", "task": {"goal": f"run {turn}"}, "id": str(uuid7())}
        sent |= {"outcome": {"score": 1.0, "success": True}}
        if self.send("POST", "/v1/trajectories", sent).status_code < 300:
            with self._ledger.lock:
                self._ledger.runs.add(str(sent["id"]))

    def retrieve(self, turn: int) -> None:
        reply = self.send("POST", "/v1/retrieve", {"query": f"note {turn}", "namespace": "busy"})
        if reply.status_code == 200 and self._rng.random() < 0.5:
            about = {"retrieval_id": reply.json()["retrieval_id"], "score": 1.0}
            self.send("POST", "/v1/feedback", about)

    def forget(self, _: int) -> None:
        if self._mine:
            id_, _change = self._mine.pop()
            if self.send("DELETE", f"/v1/memories/{id_}").status_code < 300:
                with self._ledger.lock:
                    self._ledger.deleted.add(id_)

    def undo(self, _: int) -> None:
        if self._mine:
            id_, change = self._mine.pop()
            if self.send("POST", f"/v1/changes/{change}/undo").status_code < 300:
                with self._ledger.lock:
                    self._ledger.deleted.add(id_)

    def distill(self, _: int) -> None:
        if self._number % 8:
            return
        reply = self.send("POST", "/v1/distill", {"namespace": "busy"})
        if reply.status_code < 300:
            with self._ledger.lock:
                self._ledger.operations.add(reply.json()["id"])

    def look(self, _: int) -> None:
        kind = self._rng.choice(["memories", "trajectories", "changes"])
        self.send("GET", f"/v1/{kind}?namespace=busy&limit=20")
        self.send("GET", "/v1/operations?limit=20")


ACTS = (
    *[Busy.remember] * 4, *[Busy.run] * 2, *[Busy.retrieve] * 4,
    Busy.forget, Busy.undo, Busy.distill, *[Busy.look] * 2,
)  # fmt: skip


@pytest.mark.slow
@on_both_databases("server")
def test_sixty_four_clients_at_once_meet_no_lock_no_fault_and_lose_nothing(
    server: ServerProcess, key: Key
) -> None:
    ledger, stop = Ledger(), threading.Event()

    def listen() -> list[float]:
        client = Client(server.url, server.key)
        took = []
        while not stop.is_set():
            took.append(client.get("/health/live").seconds)
            time.sleep(0.02)
        client.close()
        return took

    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        listening = pool.submit(listen)
        try:
            clients = [pool.submit(Busy(server, ledger, n).work) for n in range(CLIENTS)]
            for one in clients:
                one.result()
        finally:
            stop.set()
        live = listening.result()

    assert ledger.faults == []
    assert {status for _, status in ledger.answers if status >= 400} <= {404, 409, 429}
    assert len(ledger.kept) > CLIENTS
    assert statistics.median(live) < LIVE_WITHIN_S, f"{statistics.median(live):.3f} s"
    for operation in ledger.operations:
        assert _ended(key, operation)["state"] == "succeeded"
    _until_indexed(key)
    notes = {row["id"]: row["version"]["text"] for row in _notes(key)}
    assert notes == {id_: t for id_, t in ledger.kept.items() if id_ not in ledger.deleted}
    runs = {row["id"] for row in key.rows("/v1/trajectories", namespace="busy", limit=500)}
    assert runs == ledger.runs
    audit = key.get("/health/ready", audit=True)
    assert (audit["index"]["missing"], audit["index"]["orphans"]) == (0, 0)
    assert audit["stopped"] == []
    assert audit["decisions_dropped"] == 0


@on_both_databases("server")
def test_many_who_write_one_item_at_once_deadlock_nowhere_and_all_count(
    server: ServerProcess, key: Key
) -> None:
    made = key.post("/v1/memories", {"namespace": "one", "body": {"text": "the one item"}})
    kept = key.post("/v1/memories", {"namespace": "one", "body": {"text": "never rewritten"}})

    def write(number: int) -> list[int]:
        version = {"body": {"text": f"version of {number}"}}
        run = {
            "namespace": "one",
            "task": {"goal": "x"},
            "outcome": {"score": 1.0, "success": True},
            "used": [kept["version_id"], made["version_id"]],
        }
        return [
            key("POST", f"/v1/memories/{made['id']}/versions", json=version).status_code,
            key("POST", "/v1/trajectories", json=run).status_code,
        ]

    with ThreadPoolExecutor(16) as pool:
        answers = [code for codes in pool.map(write, range(32)) for code in codes]

    assert set(answers) <= {201, 202}
    history = key.get(f"/v1/memories/{made['id']}/history")["versions"]
    assert [version["number"] for version in history] == list(range(33, 0, -1))
    belief = key.get(f"/v1/memories/{kept['id']}")["version"]["belief"]
    assert belief["outcomes"] == 32


@on_both_databases("server")
def test_one_client_may_be_used_by_many_threads(server: ServerProcess) -> None:
    with Memory(server.url, server.key) as memory:

        def use(number: int) -> bool:
            stored = memory.remember(f"thread {number} was here", namespace="threads", kind="note")
            found = memory.retrieve(f"thread {number} was here", namespace="threads", k=50)
            return stored.id in {hit.id for hit in found.items}

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(use, range(48)))
        texts = {item.version.text for item in memory.items(namespace="threads")}
    assert texts == {f"thread {number} was here" for number in range(48)}


@on_both_databases("server")
@pytest.mark.parametrize("where", ["waiting", "in the body", "before the body", "in a stream"])
def test_a_request_that_is_cut_off_wedges_nothing(
    server: ServerProcess, key: Key, where: str
) -> None:
    namespace = f"cut/{where.replace(' ', '-')}"
    operation = key.post("/v1/consolidate", {"namespace": namespace})["id"]
    note = {"namespace": namespace, "body": {"text": "cut off " * 20_000}}
    body = json.dumps(note).encode()
    stream = f"GET /v1/operations/{operation}/events?seconds=60"
    sent = {
        "waiting": ("POST /v1/memories", body, len(body)),
        "in the body": ("POST /v1/memories", body[:70_000], len(body)),
        "before the body": ("POST /v1/memories", b"", len(body)),
        "in a stream": (stream, b"", 0),
    }
    for _ in range(40):
        line, part, length = sent[where]
        _send_and_leave(server, line, part, length)

    started = time.monotonic()
    made = key.post("/v1/memories", {"namespace": namespace, "body": {"text": "afterwards"}})
    ask = {"namespace": namespace, "query": "afterwards"}
    hits = key.post("/v1/retrieve", ask)["items"]
    assert time.monotonic() - started < AT_ONCE_S
    assert made["searchable"] is True
    assert made["id"] in {hit["id"] for hit in hits}
    # What arrived whole may be stored, once; half a request stores nothing.
    rows = [row for row in _notes(key, namespace) if row["id"] != made["id"]]
    assert len(rows) <= (1 if where == "waiting" else 0)
    assert key.get("/health/ready")["stopped"] == []


@pytest.mark.slow
def test_deleting_two_hundred_items_one_by_one_takes_seconds(
    server: ServerProcess, key: Key
) -> None:
    def remember(number: int) -> str:
        note = {"namespace": "many", "body": {"text": f"item {number} of many"}}
        made: str = key.post("/v1/memories", note, params={"wait": False})["id"]
        return f"/v1/memories/{made}"

    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(remember, range(DELETED // 2)))
    runs = [{"task": {"goal": f"item {number} of many"}} for number in range(DELETED // 2)]
    batch = key.post("/v1/trajectories/batch", {"namespace": "many", "trajectories": runs})
    rows += [f"/v1/trajectories/{id_}" for id_ in batch["ids"]]
    _until_indexed(key)
    client = Client(server.url, server.key)
    started = time.monotonic()
    for row in rows:
        assert client._send("DELETE", row, b"", {}).status == 200
    took = time.monotonic() - started
    client.close()

    print(f"{DELETED} items deleted, each waited for, in {took:.1f} s")
    # As many times longer as there are others who want each of the machine's cores.
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert took < DELETED_WITHIN_S * crowd
    assert _notes(key, "many") == []
    ask = {"namespace": "many", "query": "item of many", "kinds": ["note", "trajectory"]}
    assert key.post("/v1/retrieve", ask)["items"] == []


def _notes(key: Key, namespace: str = "busy") -> list[Any]:
    return key.rows("/v1/memories", namespace=namespace, kind="note", limit=500)


def _until_indexed(key: Key) -> None:
    deadline = time.monotonic() + 60
    while key("GET", "/health/ready").json()["index"]["lag"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _ended(key: Key, operation: str) -> Any:
    deadline = time.monotonic() + 60
    while True:
        found = key.get(f"/v1/operations/{operation}")
        if found["state"] in ("succeeded", "failed", "cancelled"):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def _send_and_leave(server: ServerProcess, line: str, part: bytes, length: int) -> None:
    """Sends a request, or the beginning of one, and hangs up without reading an answer."""
    address = urlsplit(server.url)
    assert address.hostname is not None
    assert address.port is not None
    head = (
        f"{line} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {server.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    with closing(socket.create_connection((address.hostname, address.port), timeout=20)) as peer:
        peer.sendall(head.encode() + part)
        if line.startswith("GET"):
            assert peer.recv(64).startswith(b"HTTP/1.1 200")
