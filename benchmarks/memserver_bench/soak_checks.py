"""What must hold after the soak, asked of the server itself: nothing acknowledged is lost, the
index and SQL agree, and all long work has ended."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from memserver_bench.soak_load import ENDED, NOTES, Acknowledged, Ledger, until

SETTLES_WITHIN = 90.0


class Caller(Protocol):
    """What the checks ask of a `soak_server.Caller`."""

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> httpx.Response: ...

    def read(self, path: str, params: Mapping[str, Any] | None = None) -> Any: ...

    def rows(self, path: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]: ...


@dataclass(frozen=True)
class Findings:
    """`lost` writes are gone by id, `unsearchable` ones are not found by retrieve, `repeated`
    ones were stored twice; `orphans` are documents in only one of SQL and index."""

    lost: tuple[Acknowledged, ...]
    unsearchable: tuple[Acknowledged, ...]
    repeated: int
    orphans: int
    unindexed: int
    stuck_operations: int
    operations: dict[str, int]
    failures: tuple[str, ...]


def check(caller: Caller, ledger: Ledger, *, patience: float = SETTLES_WITHIN) -> Findings:
    """Waits `patience` seconds for what is on its way, then looks at all that was acknowledged."""
    until(lambda: not _unfinished(caller), patience)
    operations = caller.rows("/v1/operations")
    # An operation that was accepted and is not there at all is as bad as one that never ends.
    missing = set(ledger.operations) - {operation["id"] for operation in operations}
    until(lambda: bool(caller.read("/health/ready")["index"]["lag"] == 0), patience)
    index = caller.read("/health/ready", {"audit": "true"})["index"]
    return Findings(
        lost=tuple(write for write in ledger.writes if not _is_there(caller, write)),
        unsearchable=tuple(write for write in ledger.writes if not _is_found(caller, write)),
        repeated=_repeated(caller, ledger.writes),
        orphans=index["orphans"] + index["missing"],
        unindexed=index["lag"] + index["skipped"],
        stuck_operations=len(missing) + len(_unfinished(caller)),
        operations=dict(Counter(operation["state"] for operation in operations)),
        failures=tuple(str(row["error"]) for row in operations if row["state"] == "failed"),
    )


def _unfinished(caller: Caller) -> list[str]:
    return [row["id"] for row in caller.rows("/v1/operations") if row["state"] not in ENDED]


def _is_there(caller: Caller, write: Acknowledged) -> bool:
    response = caller.send("GET", f"{write.path}/{write.id}")
    return response.is_success and write.word in response.text


def _is_found(caller: Caller, write: Acknowledged) -> bool:
    kind = "note" if write.namespace == NOTES else "trajectory"
    response = caller.send(
        "POST",
        "/v1/retrieve",
        {"query": write.word, "namespace": write.namespace, "kinds": [kind], "k": 10},
    )
    return response.is_success and any(item["id"] == write.id for item in response.json()["items"])


def _repeated(caller: Caller, writes: Iterable[Acknowledged]) -> int:
    """Notes beyond the first with one word: repeats that their key should have stopped."""
    words = Counter(
        row["version"]["text"].split()[0]
        for row in caller.rows("/v1/memories", {"namespace": NOTES})
    )
    return sum(max(0, words[write.word] - 1) for write in writes if write.namespace == NOTES)
