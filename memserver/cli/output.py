"""What a command prints: tables for people or JSON for machines on stdout, all else on stderr."""

import json
import re
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
MOST_PARTS = 8
MOST_RECORDS = 50
_COMMANDS = re.compile("[\x7f-\x9f]")


def print_json(value: BaseModel | Mapping[str, Any]) -> None:
    """One object, one line."""
    if isinstance(value, BaseModel):
        line = value.model_dump_json()
    else:
        line = json.dumps(value, ensure_ascii=False)
    write_json(line + "\n")


def write_json(text: str) -> None:
    """JSON as it is, but for what JSON leaves unescaped and some terminals take for commands."""
    sys.stdout.write(_COMMANDS.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


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
    """A report whose keys the command does not know, cut to what a person reads: long lists and
    mappings are counted, and a list of like records becomes a table of its own."""
    records = {key: value for key, value in values.items() if _are_records(value)}
    table(
        ["what", "result"],
        ((_words(key), _brief(value)) for key, value in values.items()),
    )
    for value in records.values():
        columns = list(value[0])
        table(
            [_words(column) for column in columns],
            ([_brief(record.get(column)) for column in columns] for record in value[:MOST_RECORDS]),
        )


def _are_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _words(key: str) -> str:
    return key.replace("_", " ")


def _brief(value: object) -> str:
    if isinstance(value, Mapping):
        if len(value) > MOST_PARTS:
            return f"{len(value)} (listed by --json)"
        return ", ".join(f"{_words(str(key))} {_brief(part)}" for key, part in value.items())
    if isinstance(value, list):
        if len(value) > MOST_PARTS or _are_records(value):
            shown = _are_records(value) and len(value) <= MOST_RECORDS
            return f"{len(value)}" if shown else f"{len(value)} (listed by --json)"
        return ", ".join(_brief(part) for part in value)
    return "" if value is None else str(value)


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
