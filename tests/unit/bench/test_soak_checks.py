"""The soak's checks find what they are there to find, on a server that did everything wrong."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from memserver_bench.soak_checks import check
from memserver_bench.soak_load import NOTES, RUNS, Acknowledged, Ledger


class ScriptedServer:
    """Answers as a server with these contents would."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.hidden: set[str] = set()
        self.operations: list[dict[str, Any]] = []
        self.index = {"lag": 0, "skipped": 0, "orphans": 0, "missing": 0}

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        if path == "/v1/retrieve":
            assert body is not None
            hits = [
                {"id": name}
                for name, text in self.texts.items()
                if body["query"] in text and name not in self.hidden
            ]
            return httpx.Response(200, json={"items": hits})
        name = path.rsplit("/", 1)[1]
        found = name in self.texts
        return httpx.Response(200 if found else 404, json={"text": self.texts.get(name, "")})

    def read(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        assert path == "/health/ready"
        return {"index": self.index}

    def rows(self, path: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        if path == "/v1/operations":
            return self.operations
        return [{"version": {"text": text}} for text in self.texts.values()]


@pytest.fixture
def server() -> ScriptedServer:
    server = ScriptedServer()
    server.texts = {"run": "put some bcd on cart", "note": "fgh is to be kept"}
    server.operations = [{"id": "done", "state": "succeeded", "error": None}]
    return server


RUN = Acknowledged("/v1/trajectories", "run", "bcd", RUNS)
NOTE = Acknowledged("/v1/memories", "note", "fgh", NOTES)


def ledger(*operations: str) -> Ledger:
    return Ledger(writes=[RUN, NOTE], operations=["done", *operations])


def test_a_server_that_kept_everything_is_found_blameless(server: ScriptedServer) -> None:
    found = check(server, ledger(), patience=0.0)

    assert (found.lost, found.unsearchable, found.repeated) == ((), (), 0)
    assert (found.orphans, found.unindexed, found.stuck_operations) == (0, 0, 0)
    assert found.operations == {"succeeded": 1}


def test_a_write_that_is_gone_or_holds_something_else_is_lost(server: ScriptedServer) -> None:
    del server.texts["run"]
    server.texts["note"] = "something else"

    assert check(server, ledger(), patience=0.0).lost == (RUN, NOTE)


def test_a_write_that_no_retrieve_finds_is_unsearchable(server: ScriptedServer) -> None:
    server.hidden = {"run"}

    found = check(server, ledger(), patience=0.0)

    assert found.unsearchable == (RUN,)
    assert found.lost == ()


def test_a_note_that_is_there_twice_was_repeated(server: ScriptedServer) -> None:
    server.texts["twin"] = server.texts["note"]

    assert check(server, ledger(), patience=0.0).repeated == 1


def test_documents_in_only_one_of_sql_and_index_are_orphans(server: ScriptedServer) -> None:
    server.index = {"lag": 1, "skipped": 2, "orphans": 3, "missing": 4}

    found = check(server, ledger(), patience=0.0)

    assert (found.orphans, found.unindexed) == (7, 3)


def test_an_operation_that_runs_on_or_is_not_there_is_stuck(server: ScriptedServer) -> None:
    server.operations += [
        {"id": "endless", "state": "running", "error": None},
        {"id": "bad", "state": "failed", "error": "busy: the encoder"},
    ]

    found = check(server, ledger("endless", "bad", "vanished"), patience=0.0)

    assert found.stuck_operations == 2
    assert found.failures == ("busy: the encoder",)
