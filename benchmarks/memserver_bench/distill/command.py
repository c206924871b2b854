"""The command: a line an arm and budget, over folds of goals that the server never saw; then, where
failures have steps, whether the wrong one is named; then how the work grows."""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

from memserver_bench.distill import arms, growth
from memserver_bench.distill.failures import Wrong, wrong_steps
from memserver_bench.distill.runs import Corpus, Fold, Run, folds
from memserver_bench.distill.scoring import Told, interval, means
from memserver_bench.distill.slotting import heads_of, slotted, things
from memserver_bench.floor import Encoding
from memserver_bench.latency import say
from memserver_bench.material import DATA, RUNS, SKILLS
from memserver_bench.provenance import provenance, sha256_of
from memserver_bench.soak_server import ServerProcess, default_command
from memserver_bench.talking import Client
from memserver_skills.steps_score import score_steps, step_lines

BUDGETS = (200, 500)
SIZES = (223, 2_000, 20_000)
OURS = "ours"


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench distill", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA / RUNS, help="runs, condensed format")
    parser.add_argument("--bank", type=Path, default=None, help="a bank; by default, beside them")
    parser.add_argument("--seed", type=int, default=1, help="how goals are dealt into folds")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="growth; empty: none")
    parser.add_argument("--recorded", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args(arguments)
    bank = given.bank or given.data.with_name(SKILLS)
    read = [file for file in (given.data, bank) if file.exists()]
    if given.data not in read:
        yield {"bench": "distill", "skipped": f"{given.data} is not there", "seed": given.seed}
        return
    shared = {"bench": "distill", **provenance(seed=given.seed, data_sha256=sha256_of(read))}
    corpora = [Corpus.condensed(given.data), *([Corpus.recorded()] if given.recorded else [])]
    for corpus in corpora:
        # What the bank says is of the environment that it was made from.
        own = bank if bank in read and corpus is corpora[0] else None
        for line in compared(corpus, bank=own, seed=given.seed):
            yield {**shared, "data": corpus.name, **line}
    sizes = [int(size) for size in given.sizes.split(",") if size]
    for line in growth.measured(corpora[0], sizes, seed=given.seed):
        yield {**shared, "data": corpora[0].name, **line}


def compared(corpus: Corpus, *, bank: Path | None, seed: int) -> Iterator[Mapping[str, Any]]:
    """Every arm over all folds, against one server."""
    heads = heads_of(run for run in corpus.runs if run.success)
    count = Encoding().encoder.count_tokens
    told: dict[tuple[int, str], list[Told]] = defaultdict(list)
    named: dict[tuple[int, str], list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="memserver-distill-") as folder:
        server = ServerProcess(default_command(), Path(folder) / "data")
        try:
            server.spawn()
            server.ready()
            for number, fold in enumerate(folds(corpus.runs, seed=seed)):
                fixed = {
                    budget: arms.constant(fold.successes, heads, budget, count)
                    for budget in BUDGETS
                }
                say(f"{corpus.name}, fold {number}: {len(fold.taught)} runs are taught")
                # One a fold, since the server hangs up on a client that says nothing for long.
                with closing(Client(server.url, server.key)) as client:
                    name = f"distill/{corpus.name}/fold-{number}"
                    library = arms.taught(client, name, corpus, fold)
                    for budget in BUDGETS:
                        _tell(told, library, fold, fixed[budget], bank, heads, budget, count)
                        _name(named, library, fold, heads, budget, count)
        finally:
            server.stop()
    yield from _lines(told, seed)
    for (budget, arm), hits in named.items():
        yield {"arm": arm, "budget": budget, "named": round(fmean(hits), 4), "n": len(hits)}


def _tell(
    told: dict[tuple[int, str], list[Told]],
    library: arms.Library,
    fold: Fold,
    fixed: arms.Lines,
    bank: Path | None,
    heads: frozenset[str],
    budget: int,
    count: arms.Count,
) -> None:
    for run in fold.held_out:
        if not (run.success and run.actions):
            continue
        slots = things(run, heads)
        near = library.nearest(run.goal, success=True)
        raw = () if near is None else arms.cut(near.actions, budget, count)
        offered = {
            OURS: slotted(step_lines(library.offer(run.goal, budget)), slots),
            # An agent that replays a run puts its own things in place of the run's.
            "nearest_raw": () if near is None else slotted(raw, things(near, heads)),
            "nearest_raw_as_it_was": slotted(raw, slots),
            "constant": fixed,
        }
        if bank is not None:
            lines = arms.bank_text(bank, run.type)
            offered["bank"] = slotted(arms.cut(lines, budget, count), slots)
        done = slotted(run.actions, slots)
        for arm, said in offered.items():
            told[budget, arm].append(Told(run.goal, score_steps(said, done)))


def _name(
    named: dict[tuple[int, str], list[bool]],
    library: arms.Library,
    fold: Fold,
    heads: frozenset[str],
    budget: int,
    count: arms.Count,
) -> None:
    failures = [run for run in fold.held_out if not run.success]
    good = [run for run in fold.held_out if run.success]
    wrong: list[Wrong] = wrong_steps(failures, good, heads)
    for one in wrong:
        text = library.advice(one.run.goal, budget)
        named[budget, OURS].append(one.is_named(text))
        named[budget, f"{OURS}_as_advice"].append(one.is_warned_of(text))
        near: Run | None = library.nearest(one.run.goal, success=False)
        lines = () if near is None else arms.cut(near.actions, budget, count)
        named[budget, "nearest_raw_failure"].append(one.is_named("\n".join(lines)))


def _lines(
    told: Mapping[tuple[int, str], Sequence[Told]], seed: int
) -> Iterator[Mapping[str, Any]]:
    for (budget, arm), found in told.items():
        line: dict[str, Any] = {"arm": arm, "budget": budget, **means(found), "n": len(found)}
        if arm != OURS:
            ours = told[budget, OURS]
            low, high = interval(
                [one.result.score for one in ours],
                [one.result.score for one in found],
                [one.goal for one in found],
                seed=seed,
            )
            line |= {"ci_vs_ours": [low, high], "line_met": low > 0}
        yield line
