"""`memserver import` and `memserver export`: runs in, runs and memories out, as JSON lines."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from memserver.cli.output import bar, print_json, remark, say
from memserver.cli.parts import NotAnArray, Part, array_parts, line_parts
from memserver.cli.session import ApiKey, Json, Namespace, Url, session
from memserver_client import ApiError, Memory, TrajectoriesAdded, TrajectoriesStored


class Format(StrEnum):
    JSONL = "jsonl"
    ALFWORLD = "alfworld-condensed"


class What(StrEnum):
    ITEMS = "items"
    TRAJECTORIES = "trajectories"


def import_runs(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    namespace: Namespace,
    format: Annotated[Format, typer.Option("--format", help="What the file is.")] = Format.JSONL,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Store a file of runs. A run without an id gets one from its content, so that importing the
    same file again stores nothing twice."""
    with session(context).memory(url, api_key) as memory:
        receipts: list[TrajectoriesStored] = []
        try:
            with bar("importing", file.stat().st_size) as reached:
                for part in _parts(file, format):
                    receipts.append(_send(memory, part, namespace, format, receipts))
                    reached(part.end)
        except NotAnArray as error:
            raise typer.BadParameter(f"{file.name} cannot be read: {error}.") from error
        stored = TrajectoriesAdded.merged(receipts)
    if json:
        print_json(stored)
        return
    say(
        f"Stored {stored.stored} runs in {namespace}; {stored.existing} were there before, "
        f"{stored.credited} memories were credited."
    )
    if not stored.searchable:
        remark("They are durable, and will be found by retrieve in a while.")


def _parts(file: Path, format: Format) -> Iterator[Part]:
    with file.open("rb") as opened:
        if format is Format.JSONL:
            yield from line_parts(opened)
        else:
            yield from array_parts(opened.read())


def _send(
    memory: Memory,
    part: Part,
    namespace: str,
    format: Format,
    before: list[TrajectoriesStored],
) -> TrajectoriesStored:
    try:
        return memory.import_trajectories(part.content, namespace=namespace, format=format)
    except ApiError as error:
        runs = sum(len(receipt.ids) for receipt in before)
        if not runs:
            raise
        raise type(error)(
            error.problem.model_copy(update={"detail": _whereabouts(error, part, runs)})
        ) from error


def _whereabouts(error: ApiError, part: Part, runs: int) -> str:
    """The server knows a line by its number in the part; people know it by the file's."""
    detail = error.detail.removesuffix(" Nothing was stored.")
    line = error.problem.extra.get("line")
    if isinstance(line, int):
        detail = detail.replace(f"Line {line} ", f"Line {part.first_line + line - 1} ", 1)
    return (
        f"{detail} The {runs} runs before line {part.first_line} are stored; "
        "import the file again once it is mended."
    )


def export(
    context: typer.Context,
    namespace: Namespace,
    what: Annotated[What, typer.Option("--what", help="What to write.")] = What.ITEMS,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", dir_okay=False, help="A file, not stdout.")
    ] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Write all memories and skills, or all runs, of a namespace as JSON lines. Runs come in the
    form that `memserver import` reads."""
    if what is What.TRAJECTORIES and "*" in namespace:
        raise typer.BadParameter("Runs are exported from one namespace at a time.")
    with session(context).memory(url, api_key) as memory, _opened(output) as stream:
        count = 0
        with bar("exporting", None) as reached:
            for line in _lines(memory, what, namespace):
                stream.write(line + "\n")
                count += 1
                reached(count)
    if output is not None:
        if json:
            print_json({"rows": count, "output": str(output)})
        else:
            say(f"Wrote {count} {what} to {output}.")


def _lines(memory: Memory, what: What, namespace: str) -> Iterator[str]:
    if what is What.ITEMS:
        for item in memory.items(namespace=namespace):
            yield item.model_dump_json()
    else:
        for run in memory.trajectories(namespace=namespace):
            yield run.model_dump_json(exclude={"namespace"})


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    """A file that appears under its name only when it is whole; or stdout."""
    if output is None:
        yield sys.stdout
        return
    unfinished = output.with_name(f"{output.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        os.replace(unfinished, output)
    finally:
        unfinished.unlink(missing_ok=True)
