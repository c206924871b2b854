"""The loop, told to a person: runs in, skills out, retrieved, judged, consolidated, undone."""

import json
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from memserver.demo import measure
from memserver.demo.hosted import hosted
from memserver.demo.measure import Offer
from memserver.demo.recorded import Recorded, load
from memserver_client import Memory

NAMESPACE = "demo/scienceworld"
SHOWN = 8
SHORT = 64


@dataclass(frozen=True, slots=True)
class Shown:
    """What the demo found; printed as tables, or as one JSON line. `f1_bank` is measured before
    any feedback: feedback on the held-out tasks tells of their answers, so what is measured after
    it (`f1_fed_back` and the rest) is to be compared with itself only."""

    runs: int
    successes: int
    ingest_s: float
    distill_s: float
    held_out: int
    f1_constant: float
    f1_nearest_run: float
    f1_bank: float
    f1_fed_back: float
    f1_consolidated: float
    f1_undone: float
    items_before: int
    items_consolidated: int
    items_undone: int
    seconds: float


def play(*, as_json: bool) -> None:
    """Runs the demo on a server and a folder of its own, and leaves nothing behind."""
    console = Console(stderr=as_json)
    started = time.monotonic()
    recorded = load()
    with tempfile.TemporaryDirectory(prefix="memserver-demo-") as folder:
        console.print("Starting a server on a free port …")
        with (
            hosted(Path(folder)) as server,
            Memory(server.url, api_key=server.admin_key) as memory,
        ):
            shown = _loop(memory, recorded, console, started)
    if as_json:
        print(json.dumps(asdict(shown)))


def _loop(memory: Memory, recorded: Recorded, console: Console, started: float) -> Shown:
    begun = time.monotonic()
    memory.add_trajectories(recorded.training, namespace=NAMESPACE)
    ingest_s = time.monotonic() - begun
    successes = len(recorded.training_successes)
    console.print(
        f"1. {len(recorded.training)} runs in, {successes} of them successes: durable and "
        f"searchable after {ingest_s:.1f} s."
    )
    begun = time.monotonic()
    memory.distill(namespace=NAMESPACE, wait=True)
    distill_s = time.monotonic() - begun
    before = _count(memory)
    kinds = ", ".join(f"{count} {kind}s" for kind, count in sorted(before.items()))
    console.print(f"2. Distilled in {distill_s:.1f} s: {kinds}.")

    offered = measure.bank(memory, NAMESPACE, recorded)
    constant = measure.mean_f1(measure.constant_text(recorded))
    raw = measure.mean_f1(measure.nearest_run(memory, NAMESPACE, recorded))
    console.print(f"3. Retrieved for {len(offered)} tasks that were never seen:")
    console.print(_retrieved(offered))

    told = [
        memory.feedback(retrieval_id=o.retrieval_id, score=o.f1, source="judge")
        for o in offered
        if o.retrieval_id
    ]
    console.print(f"4. Outcomes fed back: {sum(t.credited for t in told)} skills credited.")

    fed_back = measure.mean_f1(measure.bank(memory, NAMESPACE, recorded))
    plan = memory.consolidate(namespace=NAMESPACE, wait=True)
    done = memory.consolidate(namespace=NAMESPACE, apply=True, plan=plan.id, wait=True)
    after = _count(memory)
    consolidated = measure.mean_f1(measure.bank(memory, NAMESPACE, recorded))
    if done.change_id is not None:
        memory.undo(done.change_id)
    back = _count(memory)
    undone = measure.mean_f1(measure.bank(memory, NAMESPACE, recorded))
    rules = Counter(action["rule"] for action in (plan.report or {})["actions"])
    console.print(
        "5. Consolidated by a plan that was read first ("
        + (", ".join(f"{n} {rule.replace('_', ' ')}" for rule, n in rules.items()) or "nothing")
        + "), then undone."
    )
    shown = Shown(
        runs=len(recorded.training),
        successes=successes,
        ingest_s=round(ingest_s, 2),
        distill_s=round(distill_s, 2),
        held_out=len(offered),
        f1_constant=round(constant, 4),
        f1_nearest_run=round(raw, 4),
        f1_bank=round(measure.mean_f1(offered), 4),
        f1_fed_back=round(fed_back, 4),
        f1_consolidated=round(consolidated, 4),
        f1_undone=round(undone, 4),
        items_before=before.total(),
        items_consolidated=after.total(),
        items_undone=back.total(),
        seconds=round(time.monotonic() - started, 1),
    )
    console.print(_figures(shown))
    console.print(f"Done in {shown.seconds:.0f} s.")
    return shown


def _count(memory: Memory) -> Counter[str]:
    return Counter(item.kind for item in memory.items(namespace=NAMESPACE))


def _retrieved(offers: list[Offer]) -> Table:
    table = Table("held-out task", "what was retrieved", "why", "F1 of steps", expand=True)
    every = max(1, len(offers) // SHOWN)
    for offer in offers[::every][:SHOWN]:
        table.add_row(_short(offer.goal), _short(offer.title), offer.why, f"{offer.f1:.2f}")
    return table


def _figures(shown: Shown) -> Table:
    table = Table("", "items", "mean F1 of steps", title=f"{shown.held_out} held-out tasks")
    table.add_row("constant text", "-", f"{shown.f1_constant:.3f}")
    table.add_row("nearest raw run", "-", f"{shown.f1_nearest_run:.3f}")
    table.add_row("distilled bank", str(shown.items_before), f"{shown.f1_bank:.3f}")
    table.add_row("with feedback on them", str(shown.items_before), f"{shown.f1_fed_back:.3f}")
    table.add_row("consolidated", str(shown.items_consolidated), f"{shown.f1_consolidated:.3f}")
    table.add_row("after undo", str(shown.items_undone), f"{shown.f1_undone:.3f}")
    return table


def _short(text: str) -> str:
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
