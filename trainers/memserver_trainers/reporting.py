"""What a person sees of a run: a progress bar on stderr where that is a terminal, event files for
TensorBoard where they are asked for."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.progress import TimeRemainingColumn as Remaining

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


@dataclass(frozen=True)
class Reporter:
    """`values` of a step go to the event files, the step itself to the bar."""

    progress: Progress
    task: TaskID
    events: "SummaryWriter | None"

    def step(self, step: int, values: Mapping[str, float]) -> None:
        shown = " ".join(f"{name} {value:.4f}" for name, value in values.items())
        self.progress.update(self.task, completed=step, shown=shown)
        self.record(step, values)

    def record(self, step: int, values: Mapping[str, float | None]) -> None:
        for name, value in values.items():
            if self.events and value is not None:
                self.events.add_scalar(name, value, step)


@contextmanager
def reporting(
    recipe: str, report_to: str, *, out: Path, start: int, total: int
) -> Iterator[Reporter]:
    """A reporter of the steps from `start` to `total`; what it holds open is closed at the end."""
    events = None
    if report_to == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        # Events of steps that a killed run took after its last checkpoint are taken out.
        events = SummaryWriter(str(out / "events"), purge_step=start)
    console = Console(file=sys.stderr)
    progress = Progress(
        TextColumn(recipe),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}"),
        Remaining(),
        console=console,
        disable=not console.is_terminal,
    )
    try:
        with progress:
            yield Reporter(
                progress, progress.add_task(recipe, total=total, completed=start, shown=""), events
            )
    finally:
        if events:
            events.close()
