"""How time and memory of distilling grow with the number of runs, each size in a process of its
own. Memory is read as Linux tells it."""

import math
import multiprocessing
import random
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Outcome, Step, Task, Trajectory
from memserver_bench.distill.runs import Corpus, Run
from memserver_skills.distillers import DISTILLERS, USUAL
from memserver_skills.experience import Experience

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def measured(corpus: Corpus, sizes: Sequence[int], *, seed: int) -> Iterator[Mapping[str, Any]]:
    """A line a size, and at the end the exponents of time and memory over the sizes."""
    points = []
    for size in sizes:
        found = _in_a_process(corpus, size, seed)
        points.append(found)
        yield {"runs": size, **found}
    if len(points) > 1:
        yield {
            "exponent_time": _slope(sizes, [point["seconds"] for point in points]),
            "exponent_memory": _slope(sizes, [max(point["growth_mb"], 0.1) for point in points]),
        }


def _in_a_process(corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_distil, (corpus, size, seed))


def _distil(corpus: Corpus, size: int, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    drawn = list(corpus.runs) + [
        rng.choice(corpus.runs) for _ in range(max(0, size - len(corpus.runs)))
    ]
    runs = [_trajectory(run, number) for number, run in enumerate(drawn[:size])]
    _forget_peak()
    before = _peak_mb()
    seconds: dict[str, float] = {}
    made = 0
    for method in USUAL:
        started = time.process_time()
        made += len(DISTILLERS[method](Experience(runs)))
        seconds[method] = round(time.process_time() - started, 3)
    return {
        "seconds": round(sum(seconds.values()), 3),
        "by_method": seconds,
        "growth_mb": round(_peak_mb() - before, 1),
        "items": made,
    }


def _trajectory(run: Run, number: int) -> Trajectory:
    return Trajectory(
        id=uuid.UUID(int=number + 1),
        namespace=Namespace(1, uuid.UUID(int=1), "bench"),
        task=Task(run.goal, run.type, template_id=run.template),
        agent="",
        steps=tuple(Step(action=action) for action in run.actions),
        outcome=Outcome(float(run.success), run.success),
        used=None,
        created_at=BEGIN + timedelta(minutes=number),
        mistakes=run.mistakes,
    )


def _peak_mb() -> float:
    """The most memory that was resident since `_forget_peak`. Not `ru_maxrss`, which a process has
    from the one that started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not tell how much memory a process had at most")


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Least squares in logarithms."""
    xs, ys = [math.log(size) for size in sizes], [math.log(value) for value in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return round(above / sum((x - mean_x) ** 2 for x in xs), 3)
