"""Chat models: whatever one answers, or whether it does, ingest goes on; what it may cost is
bounded; text comes through it as it was; and nobody else hears of anything."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from memserver_bench.soak_server import ServerProcess
from tests.fakes.chat_endpoint import Answer, ChatEndpoint, Reply
from tests.faults.conftest import environment
from tests.faults.watched_server import is_outside
from tests.integration.conftest import App, Caller, start_app

WATCHED = [sys.executable, "-m", "tests.faults.watched_server"]
LONG = (
    "We would like to let you know that the release has been delayed by one week, because the "
    "tests of the new search were not finished in time and nothing is shipped untested."
)
SHORT = "The release is a week late: the tests of the search were not finished."
GOOD = '{"findings": [{"number": 1, "holds": true, "instruction": "Be brief."}]}'
ODD = "你好 🧑‍🚀 e\u0301 é ﷽ ‏עברית ｶﾀｶﾅ"


@dataclass(frozen=True)
class Desk:
    """A namespace of an app whose chat model is an endpoint over real HTTP."""

    app: App
    endpoint: ChatEndpoint
    namespace: str = field(default_factory=lambda: f"n-{uuid4().hex[:12]}")

    @property
    def caller(self) -> Caller:
        return self.app.admin

    def says(self, *script: Reply | Answer) -> "Desk":
        """The same, where the model answers by this script from now on."""
        self.endpoint.script = list(script)
        self.endpoint.asked.clear()
        return self

    def edit(self, context: str = "email to the team") -> Any:
        body = {"namespace": self.namespace, "context": context, "before": LONG, "after": SHORT}
        return self.caller.post("/v1/preferences/edits", body)

    def report(self, text: str = "it drops the table of orders") -> Any:
        situation = {"action": "drop table", "text": text}
        body = {"namespace": self.namespace, "label": "harmful", "situation": situation}
        return self.caller.post("/v1/guardrails/reports", body)

    def usage(self) -> Any:
        return self.caller.get("/v1/models/usage")


@contextmanager
def opened(data: Path, *script: Reply | Answer, **settings: Any) -> Iterator[Desk]:
    with ExitStack() as stack:
        endpoint = stack.enter_context(ChatEndpoint(*script))
        app = start_app(stack, data, chat_url=endpoint.url, chat_model="m", **settings)
        yield Desk(app, endpoint)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    data = tmp_path_factory.mktemp("models") / "data"
    with opened(data, Reply(GOOD), chat_tokens_a_day=100_000_000) as desk:
        yield desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    return Desk(shared.app, shared.endpoint)


# --- what a model answers ----------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        f"```json\n{GOOD}\n```",
        f"Sure, here it is:\n{GOOD}\nAnything else?",
        f"<think>maybe {{this}}?</think>{GOOD}",
    ],
)
def test_a_fence_or_talk_around_the_answer_does_not_matter(desk: Desk, said: str) -> None:
    reply = desk.says(Reply(said)).edit()

    assert reply["by"] == "model"
    assert [one["statement"] for one in reply["preferences"]] == ["Be brief."]
    assert len(desk.endpoint.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        Reply(""),
        Reply("I am sorry, I cannot do that."),
        Reply('{"findings": [{"number": 1, "ho', finish="length"),
        Reply('{"findings": "none"}'),
        Reply("[1, 2, 3]"),
        Reply('{"findings": [{"number": 1, "holds": true, "instruction": "a\\u0000b"}]}'),
        Reply(body=b"<html>502</html>"),
        Reply(body=b""),
        Reply(body=b'{"choices": null}'),
        Reply(status=400),
        Reply(status=401),
    ],
)
def test_an_answer_without_the_form_crashes_nothing_and_rules_answer(
    desk: Desk, said: Reply
) -> None:
    reply = desk.says(said).edit()
    kept = desk.report()

    assert reply["by"] == "rules"
    assert reply["reason"] in ("model: unfit", "model: unavailable")
    assert [one["statement"] for one in reply["preferences"]] == ["Keep it short."]
    assert reply["searchable"]
    assert kept["guards"][0]["made"]
    assert len(desk.endpoint.asked) <= 4


def test_a_repair_is_asked_for_once_and_never_with_the_same_words(desk: Desk) -> None:
    desk.says(Reply("no JSON today")).edit()

    first, second = desk.endpoint.questions()
    assert first != second
    assert "no complete JSON object" in second


def test_a_repair_that_helps_is_taken(desk: Desk) -> None:
    cut = Reply('{"findings": [{"numb', finish="length")

    reply = desk.says(cut, Reply(GOOD)).edit()

    assert [one["statement"] for one in reply["preferences"]] == ["Be brief."]


def test_an_endpoint_that_is_down_for_a_moment_is_tried_again_and_not_for_ever(
    desk: Desk,
) -> None:
    busy = Reply(status=429, headers={"Retry-After": "0"})
    assert desk.says(busy, Reply(GOOD)).edit()["by"] == "model"

    before = desk.usage()["tokens"]
    failed = desk.says(Reply(status=503)).edit("a letter to the council")

    assert failed["reason"] == "model: unavailable"
    assert len(desk.endpoint.asked) == 3
    assert desk.usage()["tokens"] == before


# --- what it may cost --------------------------------------------------------------------


def test_what_is_spent_stays_within_the_days_budget_whoever_asks_at_once(tmp_path: Path) -> None:
    """Sixteen clients that would need several times what there is."""
    most = 20_000

    def dear(body: dict[str, Any]) -> Reply:
        asked = sum(len(one["content"].encode()) for one in body["messages"])
        return Reply(GOOD, tokens=asked + body["max_tokens"])

    with opened(tmp_path / "data", dear, chat_tokens_a_day=most) as desk:
        with ThreadPoolExecutor(16) as threads:
            letters = [f"letter {n * 7919} to x{n * 31}" for n in range(32)]
            replies = list(threads.map(desk.edit, letters))

        usage = desk.usage()
        assert 0 < len(desk.endpoint.asked) < len(letters)
        assert usage["calls"] == len(desk.endpoint.asked)
        assert usage["tokens"] <= most
        assert {reply["reason"] for reply in replies} == {None, "model: budget spent"}


def test_a_spent_budget_is_said_and_asks_nobody_until_the_next_day(tmp_path: Path) -> None:
    with opened(tmp_path / "data", Reply(GOOD), chat_tokens_a_day=100) as desk:
        replies = [desk.edit(), desk.report(), desk.report("it drops the index of letters")]

        usage = desk.usage()
        metrics = desk.caller("GET", "/metrics").text
        assert desk.endpoint.asked == []
        assert {reply["reason"] for reply in replies} >= {"model: budget spent"}
        assert {reply["by"] for reply in replies} == {"rules"}
        assert (usage["configured"], usage["tokens_a_day"], usage["left"]) == (True, 100, 100)
        assert usage["renewed_at"][:10] > usage["day"]
        assert 'memserver_model_questions_total{outcome="budget spent"}' in metrics


def test_one_tenants_spending_leaves_anothers_budget_whole(desk: Desk) -> None:
    other = desk.caller.with_key("admin", "**", tenant=f"t-{uuid4().hex[:8]}")
    before = desk.usage()["tokens"]

    desk.says(Reply(GOOD, tokens=900)).edit()

    assert desk.usage()["tokens"] == before + 900
    assert other.get("/v1/models/usage")["tokens"] == 0


def test_nothing_that_reads_asks_a_model(desk: Desk) -> None:
    desk.says(Reply(GOOD))
    where = {"namespace": desk.namespace}
    desk.caller.post("/v1/memories", {**where, "kind": "note", "body": {"text": "a lamp"}})
    desk.caller.post("/v1/retrieve", {**where, "query": "a lamp"})
    desk.caller.post("/v1/preferences/for", {**where, "context": "a lamp"})
    asked = {**where, "situation": {"action": "x", "text": "a lamp"}}
    desk.caller.post("/v1/guardrails/check", asked)

    assert desk.endpoint.asked == []


def test_without_a_model_all_of_it_works_and_says_so(app: App) -> None:
    body = {"namespace": "n", "context": "email", "before": LONG, "after": SHORT}
    reply = app.admin.post("/v1/preferences/edits", body)

    assert (reply["by"], reply["reason"]) == ("rules", None)
    usage = app.admin.get("/v1/models/usage")
    assert (usage["configured"], usage["model"], usage["tokens"]) == (False, None, 0)


# --- what becomes of text ----------------------------------------------------------------


def echoing(body: dict[str, Any]) -> Reply:
    """A model that words everything with the last line it was given."""
    told = body["messages"][-1]["content"].rpartition("Situation: ")[2]
    return Reply(f'{{"rule": "{told}", "when": "{told}"}}')


def test_text_is_asked_to_stay_in_its_language(desk: Desk) -> None:
    desk.says(echoing).report("Der Agent löscht die Tabelle der Bestellungen")

    system = desk.endpoint.asked[0]["messages"][0]["content"]
    assert "language and script" in system
    assert "translate nothing" in system
    (rule,) = desk.caller.rows("/v1/memories", namespace=desk.namespace, kind="rule")
    assert rule["version"]["body"]["text"] == "Der Agent löscht die Tabelle der Bestellungen"


def test_every_character_goes_to_the_model_and_comes_back_as_it_was(desk: Desk) -> None:
    item = desk.says(echoing).report(ODD)["guards"][0]["id"]

    assert ODD in desk.endpoint.questions()[0]
    told = desk.caller.get(f"/v1/memories/{item}")["version"]
    assert told["body"]["text"].encode() == ODD.encode()
    assert told["title"].encode() == ODD.encode()
    found = desk.caller.post("/v1/retrieve", {"namespace": desk.namespace, "query": ODD})
    assert ODD in found["text"]


# --- who else hears of it ----------------------------------------------------------------


@pytest.mark.slow
def test_a_server_talks_to_nobody_that_it_was_not_told_of(tmp_path: Path) -> None:
    """The real one, with its real encoder, over a start, writes, reads, long work and a stop."""
    heard = tmp_path / "heard"
    server = ServerProcess(WATCHED, tmp_path / "data")
    try:
        with environment(WATCH_INTO=str(heard), HF_HUB_OFFLINE="0", DO_NOT_TRACK="0"):
            server.spawn()
            server.ready()
        headers = {"Authorization": f"Bearer {server.key}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=60) as http:
            run = {"namespace": "n", "task": {"goal": "mend a lamp"}, "steps": [{"action": "mend"}]}
            sent = {
                "/v1/trajectories": {**run, "outcome": {"score": 1.0, "success": True}},
                "/v1/memories": {"namespace": "n", "kind": "note", "body": {"text": "a lamp"}},
                "/v1/retrieve": {"namespace": "n", "query": "a lamp"},
                "/v1/preferences/edits": {
                    "namespace": "n",
                    "context": "email",
                    "before": LONG,
                    "after": SHORT,
                },
                "/v1/distill": {"namespace": "n"},
                "/v1/consolidate": {"namespace": "n"},
            }
            for path, body in sent.items():
                assert http.post(path, json=body).status_code < 300, path
    finally:
        server.stop()

    assert not heard.exists(), heard.read_text()


def test_whoever_is_talked_to_would_have_been_written_down(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    talk = (
        "import socket, sys; from pathlib import Path;"
        "from tests.faults.watched_server import watch;"
        "watch(Path(sys.argv[1])); s = socket.socket(); s.setblocking(False);"
        "s.connect_ex(('192.0.2.1', 9)); s.close();"
        "t = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); t.close();"
        "socket.getaddrinfo('127.0.0.1', 80)"
    )
    subprocess.run([sys.executable, "-c", talk, str(heard)], check=True, timeout=60)

    assert heard.read_text() == "socket.connect 192.0.2.1\n"
    assert is_outside("telemetry.example")
    assert not is_outside("127.0.0.1")
    assert not is_outside(socket.inet_ntop(socket.AF_INET6, b"\0" * 15 + b"\1"))
