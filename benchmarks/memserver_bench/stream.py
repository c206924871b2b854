"""`memserver-bench stream`: does a memory stay small and true while most of what it hears it has
heard before, and some of it has changed?

A made-up stream of writes goes to `POST /v1/remember`; then the namespace is consolidated, its live
items are counted, and every fact is asked for. Prints one line.
"""

import argparse
import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from memserver_bench.latency import say
from memserver_bench.material import DATA
from memserver_bench.provenance import provenance, sha256_of
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_bench.stream_measure import (
    Answers,
    Live,
    Names,
    answered,
    hit_item,
    live_item,
    lost_facts,
)
from memserver_bench.stream_script import (
    About,
    Form,
    Templates,
    Truth,
    Write,
    read_templates,
    script,
)
from memserver_bench.talking import Client, Refused

TEMPLATES = DATA / "stream_templates.json"
NAMESPACE = "bench/stream"
THREADS = 8
MOST_LIVE, LEAST_ACCURACY, MOST_LOST = 1.1, 0.98, 0
TOGETHER = {Form.TEXT: 1, Form.MESSAGES: 8, Form.FACTS: 8}
"""Writes a call."""
CONSOLIDATED_WITHIN = 1800.0


def run(
    templates: Templates,
    *,
    writes: int,
    seed: int,
    folder: Path,
    threads: int = THREADS,
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The whole benchmark against a server of its own in `folder`."""
    said = list(script(templates, writes, random.Random(f"{seed} stream")))
    truth = Truth()
    for write in said:
        truth.take(write)
    server = ServerProcess(command or default_command(), folder / "data")
    server.spawn()
    try:
        server.ready()
        seconds = tell(server, said, threads)
        with closing(Client(server.url, server.key)) as client:
            client.wait_until_searchable()
            before = len(live_items(client))
            report = consolidate(client)
            client.wait_until_searchable()
            live = live_items(client)
        lost = lost_facts(truth, live)
        answers = ask(server, templates, truth, threads)
    finally:
        server.stop()
    for line in [*(f"lost: {about}" for about in lost), *answers.wrong][:40]:
        say(line)
    facts = max(len(truth.now), 1)
    ratio, accuracy = round(len(live) / facts, 4), answers.accuracy()
    return {
        "bench": "stream",
        "writes": writes,
        "live_ratio": ratio,
        "accuracy": accuracy,
        "lost": len(lost),
        "line_met": ratio <= MOST_LIVE
        and (accuracy or 0) >= LEAST_ACCURACY
        and len(lost) <= MOST_LOST,
        "live": len(live),
        "live_before_consolidation": before,
        "true_facts": len(truth.now),
        "retracted": len(truth.retracted),
        "questions": answers.asked.total(),
        "acts": dict(Counter(write.act.value for write in said)),
        "by_form": {
            form.value: {
                "writes": sum(write.form is form for write in said),
                "accuracy": answers.accuracy(form),
                "lost": sum(truth.now[about].form is form for about in lost),
            }
            for form in Form
        },
        "writes_per_second": round(writes / seconds, 1),
        "seconds": round(seconds, 1),
        "consolidated": report,
    }


def tell(server: ServerProcess, said: Sequence[Write], threads: int) -> float:
    """Sends the writes, those about one entity in their order, and returns the seconds it took."""
    lanes: list[list[Write]] = [[] for _ in range(threads)]
    for write in said:
        named = write.about.entity if write.about else write.said
        lanes[crc32(named.encode()) % threads].append(write)
    done = Progress(len(said))

    def send(lane: Sequence[Write]) -> None:
        with closing(Client(server.url, server.key)) as client:
            for call in calls(lane):
                reply = client.post("/v1/remember?wait=false", body_of(call))
                if reply.status not in (200, 201, 202):
                    raise Refused(f"a write was refused: {call[0]}", reply)
                done.add(len(call))

    started = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(send, lanes))
    return time.monotonic() - started


def calls(lane: Sequence[Write]) -> Iterator[tuple[Write, ...]]:
    """Writes of one form together where the form is of many things, and never one before another
    about the same thing that was said first. A text is one sentence: of several that it could not
    read, a server may well make one note."""
    waiting: dict[Form, list[Write]] = {form: [] for form in Form}
    for write in lane:
        for form, others in waiting.items():
            if form is not write.form and any(one.about == write.about for one in others):
                yield tuple(others)
                waiting[form] = []
        waiting[write.form].append(write)
        if len(waiting[write.form]) == TOGETHER[write.form]:
            yield tuple(waiting[write.form])
            waiting[write.form] = []
    yield from (tuple(others) for others in waiting.values() if others)


def body_of(call: Sequence[Write]) -> dict[str, Any]:
    """What is sent. The messages are an agent's that keeps its transcripts itself, so that only
    what they say is to be remembered."""
    form = call[0].form
    if form is Form.FACTS:
        facts = [
            {"entity": write.about.entity, "key": write.about.attribute, "value": write.value}
            for write in call
            if write.about is not None
        ]
        return {"namespace": NAMESPACE, "facts": facts}
    if form is Form.MESSAGES:
        spoken = []
        for write in call:
            spoken.append({"speaker": write.speaker, "text": write.said})
            if write.chatter:
                spoken.append({"speaker": "assistant", "text": write.chatter})
        return {"namespace": NAMESPACE, "messages": spoken, "keep_turns": False}
    return {"namespace": NAMESPACE, "text": call[0].said}


class Progress:
    """Counts over threads, and says so now and then."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._lock = total, 0, threading.Lock()
        self._started = time.monotonic()

    def add(self, count: int) -> None:
        with self._lock:
            before, self._done = self._done, self._done + count
            if before // 1000 < self._done // 1000:
                seconds = time.monotonic() - self._started
                say(f"{self._done} of {self._total} told after {seconds:.0f} s")


def consolidate(client: Client) -> dict[str, Any]:
    """Asks for it and waits; the operation's report."""
    reply = client.post("/v1/consolidate", {"namespace": NAMESPACE, "apply": True})
    if reply.status not in (200, 201, 202):
        raise Refused("consolidation was refused", reply)
    operation = reply.json()
    deadline = time.monotonic() + CONSOLIDATED_WITHIN
    while operation["state"] not in ("succeeded", "failed", "cancelled"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"consolidation has not ended in {CONSOLIDATED_WITHIN:g} s")
        time.sleep(0.2)
        operation = client.get(f"/v1/operations/{operation['id']}").json()
    if operation["state"] != "succeeded":
        raise RuntimeError(f"consolidation {operation['state']}: {operation['error']}")
    report = operation["report"] or {}
    return {key: value for key, value in report.items() if isinstance(value, int | float | str)}


def live_items(client: Client) -> list[Live]:
    """Everything active that holds now, of every kind."""
    found: list[Live] = []
    query = {"namespace": NAMESPACE, "limit": "500"}
    now = datetime.now(UTC)
    while True:
        reply = client.get(f"/v1/memories?{urlencode(query)}")
        if reply.status != 200:
            raise Refused("memories were not listed", reply)
        page = reply.json()
        for row in page["rows"]:
            ends = row["version"]["valid_to"]
            if ends is None or datetime.fromisoformat(ends) > now:
                found.append(live_item(row["kind"], row["version"]["body"], row["version"]["text"]))
        if page["next_cursor"] is None:
            return found
        query["cursor"] = page["next_cursor"]


def ask(server: ServerProcess, templates: Templates, truth: Truth, threads: int) -> Answers:
    """One question a fact that is asked about, whether it holds or was taken back."""
    asked = {one.name for one in templates.attributes if one.asked}
    names = Names(about.entity for about in (*truth.now, *truth.retracted))
    wanted = sorted(about for about in truth.now if about.attribute in asked)
    gone = sorted(about for about in truth.retracted if about.attribute in asked)
    answers = Answers()
    lock = threading.Lock()
    clients = [Client(server.url, server.key) for _ in range(threads)]
    free = list(clients)

    def one(about: About) -> None:
        query = f"What is {about.entity}'s {about.attribute}?"
        with lock:
            client = free.pop()
        reply = client.post("/v1/retrieve", {"query": query, "namespace": NAMESPACE, "k": 10})
        with lock:
            free.append(client)
        if reply.status != 200:
            raise Refused(f"nothing was retrieved for {query!r}", reply)
        items = [hit_item(hit) for hit in reply.json()["items"]]
        held = truth.now.get(about)
        right = answered(about, held.value if held else None, items, truth, names)
        with lock:
            form = held.form if held else truth.retracted[about]
            answers.asked[form] += 1
            answers.right[form] += right
            if not right:
                found = [item.text for item in items[:3]]
                want = held.value if held else "nothing any more"
                answers.wrong.append(f"{query} → {want}, got {found}")

    try:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, [*wanted, *gone]))
    finally:
        for client in clients:
            client.close()
    return answers


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench stream", description=__doc__)
    parser.add_argument("--templates", type=Path, default=TEMPLATES, help="file of the wordings")
    parser.add_argument("--writes", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=THREADS, help="writers at a time")
    parser.add_argument("--server", default="", help="command of the server, as a JSON list")
    given = parser.parse_args(arguments)
    shared = provenance(seed=given.seed, data_sha256=sha256_of([given.templates]))
    server = json.loads(given.server) if given.server else None
    with tempfile.TemporaryDirectory(prefix="memserver-stream-") as folder:
        yield {
            **run(
                read_templates(given.templates),
                writes=given.writes,
                seed=given.seed,
                folder=Path(folder),
                threads=given.threads,
                command=server,
            ),
            **shared,
        }
