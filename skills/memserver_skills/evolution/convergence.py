"""How fast a library still changes: the share of it that changes with each new run.

Yunjue takes the slowing of a library's evolution for the sign that it has what its stream of tasks
needs: where the same tasks come again, nothing new is written of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class Changed(Protocol):
    """One change, in order: how many runs came with it, and which items it touched."""

    @property
    def runs(self) -> int: ...

    @property
    def items(self) -> frozenset[UUID]: ...


@dataclass(frozen=True, slots=True)
class Window:
    """So many runs on end, the items that changed with or after them, and how large the library
    was at the end. `share` is the part of the library that changed for each run."""

    runs: int
    changed: int
    library: int

    @property
    def share(self) -> float:
        if not self.runs or not self.library:
            return 0.0
        return self.changed / self.library / self.runs


def convergence(changes: Iterable[Changed], *, window: int) -> tuple[Window, ...]:
    """Windows of `window` runs or more (runs that came in one change stay together), the last one
    of what is left. What changes after a run belongs to its window until the next run comes; what
    changed before any run counts for the size of the library alone."""
    done: list[Window] = []
    library: set[UUID] = set()
    changed: set[UUID] = set()
    runs = 0
    for one in changes:
        if one.runs and runs >= window:
            done.append(Window(runs, len(changed), len(library)))
            changed, runs = set(), 0
        runs += one.runs
        library |= one.items
        if runs:
            changed |= one.items
    if runs:
        done.append(Window(runs, len(changed), len(library)))
    return tuple(done)


def has_converged(windows: Sequence[Window], *, below: float) -> bool:
    """Whether the newest window changed less of the library a run than that."""
    return bool(windows) and windows[-1].share < below
