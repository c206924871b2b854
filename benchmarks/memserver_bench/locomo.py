"""`memserver-bench locomo`: of LoCoMo's questions on long conversations, how much of the evidence
is among the turns that a retrieve hands out. No chat model.

Each conversation is told, session by session, to a namespace of its own on a server of its own, and
each question is asked once a preset. Prints one line a preset.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memserver_bench.latency import say
from memserver_bench.locomo_data import Conversation, Question, Session, read
from memserver_bench.locomo_measure import Answered, figures
from memserver_bench.material import DATA
from memserver_bench.provenance import provenance, sha256_of
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_bench.talking import Client, Refused

FILE = DATA / "locomo_dev.json"
PRESETS = ("dense", "bm25", "rrf", "default")
TEN, TWENTY = 10, 20
TURN_KIND = "note"
"""What turns are kept as. The facts that a conversation states are kept beside them, and would take
places among the ten that the evidence is counted in."""


@dataclass
class Told:
    """A conversation that is stored: which version is which turn."""

    conversation: Conversation
    turns: dict[str, str] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        return f"bench/locomo/{self.conversation.name}"


@dataclass(frozen=True, slots=True)
class Given:
    """The turns that were handed out, best first, and how long that took."""

    turns: Sequence[str]
    seconds: float


def run(
    conversations: Sequence[Conversation],
    presets: Sequence[str],
    folder: Path,
    *,
    command: Sequence[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """A line a preset, against a server of its own in `folder`."""
    server = ServerProcess(command or default_command(), folder / "data")
    server.spawn()
    try:
        server.ready()
        with closing(Client(server.url, server.key)) as client:
            told = [tell(client, conversation) for conversation in conversations]
            client.wait_until_searchable()
            answered: dict[str, list[Answered]] = {preset: [] for preset in presets}
            seconds: dict[str, list[float]] = {preset: [] for preset in presets}
            for one in told:
                say(f"asking about {one.conversation.name}")
                for question in one.conversation.questions:
                    # The first answer waits for the question's vector, which is kept then.
                    _given(client, one, question, preset=presets[0], k=1)
                    for preset in presets:
                        ten = _given(client, one, question, preset=preset, k=TEN)
                        twenty = _given(client, one, question, preset=preset, k=TWENTY)
                        answered[preset].append(
                            Answered(one.conversation.name, question, ten.turns, twenty.turns)
                        )
                        seconds[preset].append(ten.seconds)
    finally:
        server.stop()
    for preset in presets:
        yield {
            "bench": "locomo",
            "preset": preset,
            **figures(answered[preset]),
            "turns": sum(len(one.turns) for one in told),
            "p50_beyond_embedding": round(statistics.median(seconds[preset]) * 1000, 2),
        }


def tell(client: Client, conversation: Conversation) -> Told:
    """Stores every turn; raises `Refused` where one is not kept."""
    say(f"telling {conversation.name}")
    told = Told(conversation)
    for session in conversation.sessions:
        reply = client.post("/v1/remember?wait=false", body_of(told.namespace, session))
        if reply.status not in (200, 201, 202):
            raise Refused(f"a session of {conversation.name} was refused", reply)
        versions = {
            row["message"]: row["version"]
            for row in reply.json()["written"]
            if row["kind"] == TURN_KIND and row["version"] is not None
        }
        if versions.keys() != set(range(len(session.turns))):
            raise Refused(f"not every turn of {session.id} was kept", reply)
        told.turns |= {versions[n]: turn.id for n, turn in enumerate(session.turns)}
    return told


def body_of(namespace: str, session: Session) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "session": str(session.id),
        "at": session.at.isoformat(),
        "messages": [
            {"speaker": turn.speaker, "text": turn.text, "at": session.at.isoformat()}
            for turn in session.turns
        ],
    }


def _given(client: Client, told: Told, question: Question, *, preset: str, k: int) -> Given:
    body = {
        "query": question.text,
        "namespace": told.namespace,
        "kinds": [TURN_KIND],
        "preset": preset,
        "k": k,
    }
    reply = client.post("/v1/retrieve", body)
    if reply.status != 200:
        raise Refused(f"{question.text!r} was not answered", reply)
    turns = [told.turns[item["version_id"]] for item in reply.json()["items"]]
    return Given(turns, reply.seconds)


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench locomo", description=__doc__)
    parser.add_argument("--data", type=Path, default=FILE, help="LoCoMo's conversations as JSON")
    parser.add_argument("--presets", type=_names, default=PRESETS, help=",".join(PRESETS))
    parser.add_argument("--seed", type=int, default=0, help="nothing is left to chance")
    given = parser.parse_args(arguments)
    if not given.data.exists():
        parser.error(f"{given.data} is not there; name LoCoMo's conversations with --data")
    shared = provenance(seed=given.seed, data_sha256=sha256_of([given.data]))
    with tempfile.TemporaryDirectory(prefix="memserver-locomo-") as folder:
        for line in run(read(given.data), given.presets, Path(folder)):
            yield {**line, **shared}


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)
