"""The arms: what each offers for a goal within a budget of tokens, as lines that are steps."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memserver_bench.distill.runs import Corpus, Fold, Run
from memserver_bench.distill.slotting import slotted, things
from memserver_bench.talking import Client, Refused
from memserver_skills.sequences import Reference, mean_agreement

NEAREST = 30
POOL = 60
TOGETHER = 50
"""Runs that are sent at once: the server takes bodies of 8 MB."""
WITHIN_S = 1_800
Count = Callable[[str], int]
Lines = tuple[str, ...]


@dataclass(frozen=True)
class Library:
    """A namespace of a server that was taught a fold."""

    client: Client
    namespace: str
    by_id: dict[str, Run]

    def offer(self, goal: str, budget: int) -> str:
        """The best skill for the goal, as an agent would be handed it."""
        return str(self._retrieve(goal, kinds=["skill"], k=1, budget_tokens=budget)["text"])

    def advice(self, goal: str, budget: int) -> str:
        """All that an agent would be handed for the goal, of every kind."""
        return str(self._retrieve(goal, budget_tokens=budget)["text"])

    def nearest(self, goal: str, *, success: bool) -> Run | None:
        """The nearest taught run with this outcome, whatever was distilled."""
        hits = self._retrieve(goal, kinds=["trajectory"], k=NEAREST)["items"]
        runs = (self.by_id[hit["id"]] for hit in hits if hit["id"] in self.by_id)
        return next((run for run in runs if run.success is success and run.actions), None)

    def _retrieve(self, goal: str, **more: Any) -> Any:
        asked = {"query": goal, "namespace": self.namespace, "preset": "default", **more}
        reply = self.client.post("/v1/retrieve", asked)
        if reply.status != 200:
            raise Refused("nothing was retrieved", reply)
        return reply.json()


def taught(client: Client, namespace: str, corpus: Corpus, fold: Fold) -> Library:
    """Imports a fold's runs into a namespace and distils them."""
    path = f"/v1/trajectories/import?namespace={namespace}&format={corpus.format}&wait=true"
    ids: list[str] = []
    for start in range(0, len(fold.taught), TOGETHER):
        reply = client.post_raw(path, corpus.body(fold.taught[start : start + TOGETHER]))
        if reply.status not in (201, 202):
            raise Refused("the runs were not imported", reply)
        ids += reply.json()["ids"]
    client.wait_until_searchable()
    asked = client.post("/v1/distill", {"namespace": namespace})
    if asked.status != 202:
        raise Refused("nothing is distilled", asked)
    done = client.get(f"/v1/operations/{asked.json()['id']}/events?seconds={WITHIN_S}")
    state = client.get(f"/v1/operations/{asked.json()['id']}").json()["state"]
    if state != "succeeded":
        raise Refused(f"the distillation {state}", done)
    client.wait_until_searchable()
    return Library(client, namespace, dict(zip(ids, fold.taught, strict=True)))


def cut(lines: Sequence[str], budget: int, count: Count) -> Lines:
    """As many lines from the start as fit into the budget, numbered as an agent reads them."""
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        if count("\n".join([*kept, f"{number}. {line}"])) > budget:
            break
        kept.append(f"{number}. {line}")
    return tuple(kept)


def bank_text(bank: Path, kind: str | None) -> list[str]:
    """The shipped bank as an agent gets it for a kind of task: what is general, what is said of
    that kind, and the common mistakes, a line each."""
    said = json.loads(bank.read_text())
    general = [f"- {one['title']}: {one['principle']}" for one in said["general_skills"]]
    special = [
        f"- {one['title']}: {one['principle']}"
        for one in said["task_specific_skills"].get(_bank_kind(kind, said), [])
    ]
    return [*special, *general]


def _bank_kind(kind: str | None, said: Any) -> str:
    """The bank names its kinds in its own way: the one that shares most words is meant."""
    words = set((kind or "").split("_"))
    kinds = sorted(said["task_specific_skills"])
    return max(kinds, key=lambda name: len(words & set(name.split("_"))), default="")


def constant(runs: Sequence[Run], heads: frozenset[str], budget: int, count: Count) -> Lines:
    """The fixed text that is best for the taught runs, chosen greedily, line by line and each at
    its best place, as long as one more raises the mean score over the runs and fits."""
    done = [Reference(slotted(run.actions, things(run, heads))) for run in runs]
    held = Counter(line for run in runs for line in set(slotted(run.actions, things(run, heads))))
    pool = [line for line, times in held.most_common(POOL) if times > 1]
    chosen: Lines = ()
    best = 0.0
    while True:
        tries = [
            (*chosen[:place], line, *chosen[place:])
            for line in pool
            for place in range(len(chosen) + 1)
        ]
        # F1 times order is 2·LCS over both lengths.
        value, lines = max(((mean_agreement(one, done), one) for one in tries), default=(0.0, ()))
        if value <= best or count("\n".join(lines)) > budget:
            return chosen
        best, chosen = value, lines
