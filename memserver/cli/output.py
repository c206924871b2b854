"""What a command prints: tables for people or JSON for machines on stdout, all else on stderr."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from memserver_client import Operation

M = TypeVar("M", bound=BaseModel)

PIPE_COLUMNS = 200


def print_json(value: BaseModel | Mapping[str, Any]) -> None:
    """One object, one line."""
    if isinstance(value, BaseModel):
        line = value.model_dump_json()
    else:
        line = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(line + "\n")


def say(sentence: str) -> None:
    """A result for people."""
    _stdout().print(_safe(sentence), soft_wrap=True)


def remark(sentence: str) -> None:
    """Something beside the result."""
    Console(stderr=True).print(_safe(sentence), soft_wrap=True, style="dim")


def complain(code: str, message: str) -> None:
    """Why a command failed, as one line that begins with the stable code."""
    sys.stderr.write(f"{code}: {_safe(' '.join(message.split()))}\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    shown = Table(header_style="bold", box=None, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold", no_wrap=column == "id")
    for row in rows:
        shown.add_row(*(_safe("" if cell is None else str(cell)) for cell in row))
    _stdout().print(shown)


def print_rows(
    rows: Iterable[M],
    columns: Mapping[str, Callable[[M], object]],
    *,
    as_json: bool,
) -> None:
    """A list: JSON lines as they come, or a table."""
    if as_json:
        for row in rows:
            print_json(row)
        return
    table(list(columns), ([cell(row) for cell in columns.values()] for row in rows))


def report(values: Mapping[str, Any]) -> None:
    """A report whose keys the command does not know: plain values as they are, others as JSON."""
    plain = (str, int, float, bool, type(None))
    table(
        ["what", "result"],
        (
            (
                key.replace("_", " "),
                value if isinstance(value, plain) else json.dumps(value, ensure_ascii=False),
            )
            for key, value in values.items()
        ),
    )


# --- progress ----------------------------------------------------------------------------


@contextmanager
def bar(doing: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr, where that is a terminal; call it with how far things are."""
    with _progress() as progress:
        task = progress.add_task(doing, total=total)

        def reached(done: int) -> None:
            progress.update(task, completed=done)

        yield reached


@contextmanager
def operation_bar() -> Iterator[Callable[[Operation], None]]:
    """The same for an operation, which says itself what it does and how much there is."""
    with _progress() as progress:
        task: TaskID = progress.add_task("waiting", total=None)

        def seen(operation: Operation) -> None:
            now = operation.progress
            progress.update(
                task,
                description=str(_safe(now.doing or operation.state)),
                completed=now.done,
                total=now.total or None,
            )

        yield seen


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _stdout() -> Console:
    console = Console()
    # A pipe has no width; the usual guess of 80 columns would fold every row.
    return console if console.is_terminal else Console(width=PIPE_COLUMNS)


def _safe(text: str) -> Text:
    """Text as text: what an agent stored may hold markup, or escape sequences that would move a
    terminal's cursor."""
    return Text(
        "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    )
