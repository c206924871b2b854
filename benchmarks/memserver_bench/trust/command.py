"""`memserver-bench trust`: clean transitions of the real bank beside mutants of them, judged by the
server's own verifier. One line a half: what it was tuned on, and what it was not."""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memserver_bench.material import DATA
from memserver_bench.provenance import provenance, sha256_of
from memserver_bench.trust.bank import read_bank
from memserver_bench.trust.clean import Half, Transition, transitions
from memserver_bench.trust.mutants import Harm, Mutant, mutants
from memserver_skills.pieces import Piece
from memserver_skills.verify import Stated, Verdict, verify

SEEDS = {Half.TUNED: 1, Half.HELD_OUT: 1001}
PAIRS, CLEAN = 0.9, 0.95


@dataclass(frozen=True)
class Judged:
    """One transition with its mutants."""

    twin: Transition
    verdict: Verdict
    mutants: tuple[tuple[Mutant, Verdict], ...]


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench trust", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA / "alfworld_skills.json")
    parser.add_argument("--bank", type=Path, default=None, help="runs, for skills and facts")
    parser.add_argument("--transitions", type=int, default=350, help="clean ones a half")
    parser.add_argument("--seed", type=int, default=None, help="in place of each half's own")
    given = parser.parse_args(arguments)
    files = [file for file in (given.data, given.bank) if file is not None]
    bank = read_bank(given.data, given.bank)
    for half in Half:
        seed = SEEDS[half] if given.seed is None else given.seed
        made = judged(bank, half=half, seed=seed, count=given.transitions)
        line = summary(made)
        yield {
            "bench": "trust",
            "half": str(half),
            **line,
            **provenance(seed=seed, data_sha256=sha256_of(files)),
        }


def judged(bank: Sequence[Piece], *, half: Half, seed: int, count: int) -> list[Judged]:
    made = []
    for number, twin in enumerate(transitions(bank, seed=seed, count=count, half=half)):
        names = {piece.name for piece in twin.region}
        rest = [piece for piece in bank if piece.name not in names]
        stays = Stated(rest)
        verdict = verify(twin.region, twin.replacement, stays=stays)
        harmed = [
            (mutant, verify(twin.region, mutant.replacement, stays=stays))
            for mutant in mutants(twin, rest, seed=f"{seed} {half} {number}")
        ]
        made.append(Judged(twin, verdict, tuple(harmed)))
    return made


def caught(twin: Verdict, mutant: Verdict) -> bool:
    """The mutant is refused, and scored below its twin."""
    return not mutant.passes and mutant.score < twin.score


def summary(made: Sequence[Judged]) -> dict[str, object]:
    pairs: Counter[tuple[Harm, bool]] = Counter()
    ways: Counter[tuple[str, bool]] = Counter()
    clean: Counter[tuple[str, bool]] = Counter()
    for one in made:
        clean[one.twin.kind, one.verdict.passes] += 1
        for mutant, verdict in one.mutants:
            hit = caught(one.verdict, verdict)
            pairs[mutant.harm, hit] += 1
            ways[mutant.how, hit] += 1
    accuracy = _share(pairs)
    passed = _share(clean)
    return {
        "pairs": pairs.total(),
        "pair_accuracy": round(accuracy, 4),
        "clean": clean.total(),
        "clean_pass": round(passed, 4),
        "gate": {"pair_accuracy": PAIRS, "clean_pass": CLEAN},
        "gate_met": accuracy >= PAIRS and passed >= CLEAN,
        "by_harm": {str(harm): _counted(pairs, harm) for harm in Harm},
        "by_mutation": {how: _counted(ways, how) for how in sorted({how for how, _ in ways})},
        "by_transition": {kind: _counted(clean, kind) for kind in sorted({k for k, _ in clean})},
    }


def _share(counts: Counter[tuple[str, bool]] | Counter[tuple[Harm, bool]]) -> float:
    hits = sum(count for (_, hit), count in counts.items() if hit)
    return hits / counts.total() if counts.total() else 0.0


def _counted(counts: Counter[tuple[str, bool]] | Counter[tuple[Harm, bool]], name: str) -> str:
    good = sum(count for (kind, hit), count in counts.items() if kind == name and hit)
    whole = sum(count for (kind, _), count in counts.items() if kind == name)
    return f"{good} of {whole}"
