"""What the soak asks of the server while it is being killed: writers, and one who distils,
consolidates, cancels and takes back. All that was acknowledged is written down."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memserver_bench.soak_server import Caller

RUNS = "soak/runs"
"""The namespace of runs, and of what is distilled from them and consolidated."""
NOTES = "soak/notes"
"""The namespace of memories; consolidation must leave them alone, so it is not asked for here."""

PLACES = ("shelf", "cart", "drawer", "sofa", "sink")
ENDED = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True)
class Acknowledged:
    """A write that the server said was done. `word` occurs in it and in nothing else."""

    path: str
    id: str
    word: str
    namespace: str


@dataclass
class Ledger:
    """What all threads together saw; appends are atomic."""

    writes: list[Acknowledged] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Answers that no kill explains."""
    undone: int = 0
    cancelled: int = 0


class Writer:
    """Stores runs and notes, one after another, until it is told to stop."""

    def __init__(self, caller: Caller, ledger: Ledger, rng: random.Random) -> None:
        self._caller = caller
        self._ledger = ledger
        self._rng = rng

    def work(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            self._rng.choice((self._store_run, self._store_batch, self._store_note))()

    def _store_run(self) -> None:
        """Its own id makes a repeat harmless, so it may do without a key."""
        word = self._word()
        run = self._run(word)
        key = self._rng.choice((None, str(self._uuid())))
        self._write("/v1/trajectories", {**run, "namespace": RUNS}, [(run["id"], word)], key=key)

    def _store_batch(self) -> None:
        words = [self._word() for _ in range(self._rng.randint(2, 8))]
        runs = [self._run(word) for word in words]
        self._write(
            "/v1/trajectories/batch",
            {"namespace": RUNS, "trajectories": runs},
            [(run["id"], word) for run, word in zip(runs, words, strict=True)],
            key=str(self._uuid()),
        )

    def _store_note(self) -> None:
        """The server mints its id, so only the key tells a repeat from a second note."""
        word = self._word()
        body = {"namespace": NOTES, "kind": "note", "body": {"text": f"{word} is to be kept"}}
        answer = self._send("/v1/memories", body, key=str(self._uuid()))
        if answer is not None:
            self._ledger.writes.append(Acknowledged("/v1/memories", answer["id"], word, NOTES))

    def _write(
        self, path: str, body: dict[str, Any], ids: list[tuple[str, str]], *, key: str | None
    ) -> None:
        if self._send(path, body, key=key) is not None:
            self._ledger.writes.extend(
                Acknowledged("/v1/trajectories", run_id, word, RUNS) for run_id, word in ids
            )

    def _send(self, path: str, body: dict[str, Any], *, key: str | None) -> dict[str, Any] | None:
        wait = self._rng.choice(("true", "false"))
        response = self._caller.send("POST", path, body, params={"wait": wait}, key=key)
        if response.is_success:
            answer: dict[str, Any] = response.json()
            return answer
        self._ledger.refused.append(f"POST {path}: {response.text[:300]}")
        return None

    def _run(self, word: str) -> dict[str, Any]:
        place, success = self._rng.choice(PLACES), self._rng.random() < 0.7
        actions = [f"go to {place}", f"take {word}", f"put {word} on {place}"]
        return {
            "id": str(self._uuid()),
            "task": {"goal": f"put some {word} on {place}", "type": "pick_and_place"},
            "agent": "soak",
            "steps": [
                {"observation": f"you see a {place}", "action": action}
                for action in actions[: 3 if success else 2]
            ],
            "outcome": {"score": float(success), "success": success},
        }

    def _word(self) -> str:
        return "".join(self._rng.choices("bcdfghklmnprstvz", k=12))

    def _uuid(self) -> UUID:
        return UUID(int=self._rng.getrandbits(128), version=4)


class Operator:
    """Asks for long work, sometimes stops it and starts it again, and takes changes back."""

    def __init__(self, caller: Caller, ledger: Ledger, rng: random.Random) -> None:
        self._caller = caller
        self._ledger = ledger
        self._rng = rng

    def work(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            self._take_back(self._long("/v1/distill", {"namespace": RUNS}, stopping))
            self._say_twice()
            consolidate = {"namespace": RUNS, "apply": True}
            self._take_back(self._long("/v1/consolidate", consolidate, stopping))

    def _say_twice(self) -> None:
        """Two rules that differ by a space, so that there is something to consolidate."""
        text = f"never leave number {self._rng.getrandbits(40)} on the {self._rng.choice(PLACES)}"
        for when in ("tidying up", "tidying up "):
            body = {"text": text, "when": when}
            self._post("/v1/memories", {"namespace": RUNS, "kind": "rule", "body": body})

    def _take_back(self, change: str | None) -> None:
        """Half of the time. Where later changes touched the same rows, it is rightly refused."""
        if change is not None and self._rng.random() < 0.5:
            undone = self._post(f"/v1/changes/{change}/undo", may_conflict=True)
            self._ledger.undone += undone is not None

    def _long(self, path: str, body: dict[str, Any], stopping: threading.Event) -> str | None:
        """Sees one operation to its end, unless the soak ends first. Gives its change."""
        operation = self._post(path, body)
        if operation is None:
            return None
        self._ledger.operations.append(operation["id"])
        here = f"/v1/operations/{operation['id']}"
        if self._rng.random() < 0.25:
            self._ledger.cancelled += self._post(f"{here}/cancel", may_conflict=True) is not None
        operation = self._ended(here, stopping)
        if operation["state"] == "cancelled":
            self._post(f"{here}/retry")
            operation = self._ended(here, stopping)
        change: str | None = operation["change_id"]
        return change if operation["state"] == "succeeded" else None

    def _ended(self, here: str, stopping: threading.Event) -> dict[str, Any]:
        while True:
            operation: dict[str, Any] = self._caller.read(here)
            if operation["state"] in ENDED or stopping.is_set():
                return operation
            stopping.wait(0.1)

    def _post(
        self, path: str, body: dict[str, Any] | None = None, *, may_conflict: bool = False
    ) -> dict[str, Any] | None:
        key = str(UUID(int=self._rng.getrandbits(128), version=4))
        response = self._caller.send("POST", path, body, key=key)
        if response.is_success:
            answer: dict[str, Any] = response.json()
            return answer
        if not (may_conflict and response.status_code == 409):
            self._ledger.refused.append(f"POST {path}: {response.text[:300]}")
        return None


def until(true: Callable[[], bool], seconds: float) -> bool:
    """Whether `true()` came to hold within `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
