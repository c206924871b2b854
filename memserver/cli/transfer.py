"""`memserver import`: a file of runs in."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memserver.cli.output import bar, print_json, remark, say
from memserver.cli.parts import NotAnArray, Part, array_parts, line_parts
from memserver.cli.session import ApiKey, Json, Namespace, Url, session
from memserver_client import ApiError, Memory, TrajectoriesAdded, TrajectoriesStored


class Format(StrEnum):
    JSONL = "jsonl"
    ALFWORLD = "alfworld-condensed"


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
