"""`memserver export`: memories, runs and decisions out, for other servers and for trainers."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memserver.cli.dataset_folder import Dataset, OtherSchema, write_dataset
from memserver.cli.moments import moment
from memserver.cli.output import bar, complain, print_json, remark, say, write_json
from memserver.cli.row_files import Format, Row, arriving_file, open_rows
from memserver.cli.session import REFUSED, ApiKey, Json, Namespace, Url, session
from memserver.services.exporting.lines import line_of
from memserver_client import Memory


class What(StrEnum):
    ITEMS = "items"
    TRAJECTORIES = "trajectories"
    DECISIONS = "decisions"


class Split(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Asked:
    """Which rows, and what becomes of their text."""

    what: What
    namespace: str
    split: Split | None
    since: datetime | None
    text: bool
    redact: bool

    def rows(self, memory: Memory) -> Iterator[Row]:
        match self.what:
            case What.ITEMS:
                return memory.export_items(
                    namespace=self.namespace, text=self.text, redact=self.redact
                )
            case What.TRAJECTORIES:
                return memory.export_trajectories(
                    namespace=self.namespace,
                    since=self.since,
                    split=self.split,
                    text=self.text,
                    redact=self.redact,
                )
            case What.DECISIONS:
                return memory.export_decisions(
                    namespace=self.namespace, since=self.since, split=self.split, text=self.text
                )


def export(
    context: typer.Context,
    what: Annotated[What, typer.Argument(help="What to write.")],
    namespace: Namespace,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file, or for decisions a folder; not stdout."),
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.JSONL,
    split: Annotated[
        Split | None, typer.Option("--split", help="Only the tasks of one split.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Nothing older, such as 2026-01-31T00:00:00Z.")
    ] = None,
    no_text: Annotated[bool, typer.Option("--no-text", help="Leave out all free text.")] = False,
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Leave secrets and personal data in the text.")
    ] = False,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Write all memories and skills of a namespace, or its runs in the form that `memserver
    import` reads, or the decisions that trainers learn from. Keys, tokens, addresses and numbers
    of known shapes are redacted."""
    asked = Asked(what, namespace, split, moment(since), text=not no_text, redact=not no_redact)
    _check(asked, output, format)
    if no_redact:
        remark("Nothing is redacted: the rows may hold secrets and personal data.")
    with session(context).memory(url, api_key) as memory:
        if output is None:
            for row in asked.rows(memory):
                write_json(line_of(row).decode())
        elif what is What.DECISIONS:
            _tell_of_folder(_write_folder(memory, asked, output, format), output, as_json=json)
        else:
            _tell_of_file(_write_file(memory, asked, output, format), output, asked, as_json=json)


def _check(asked: Asked, output: Path | None, format: Format) -> None:
    """What does not go together is a misuse, known before anything is asked."""
    items, decisions = asked.what is What.ITEMS, asked.what is What.DECISIONS
    for wrong, reason in (
        (items and (asked.split or asked.since), "Items have no split and are exported whole."),
        (decisions and not asked.redact, "The queries of decisions are always redacted."),
        (not items and "*" in asked.namespace, "One namespace at a time, unless it is for items."),
        (not (asked.text or asked.redact), "--no-text leaves nothing for --no-redact."),
        (format is Format.PARQUET and output is None, "Parquet needs --output."),
        (
            output is not None and decisions and output.exists() and not _is_empty(output),
            f"{output} is there already, and not an empty folder.",
        ),
        (
            output is not None and not decisions and output.is_dir(),
            f"{output} is a folder.",
        ),
        (
            output is not None and not output.absolute().parent.is_dir(),
            f"There is no folder for {output}.",
        ),
    ):
        if wrong:
            raise typer.BadParameter(reason)


def _write_file(memory: Memory, asked: Asked, output: Path, format: Format) -> int:
    count = 0
    with (
        arriving_file(output) as unfinished,
        closing(open_rows(unfinished, format, asked.what)) as file,
        bar("exporting", None) as reached,
    ):
        for count, row in enumerate(asked.rows(memory), 1):
            file.write(row, line_of(row))
            reached(count)
    return count


def _write_folder(memory: Memory, asked: Asked, output: Path, format: Format) -> Dataset:
    vectors = memory.export_vectors(namespace=asked.namespace, since=asked.since, split=asked.split)
    with bar("exporting", None) as reached:
        try:
            return write_dataset(
                output,
                asked.rows(memory),
                vectors,
                format=format,
                namespace=asked.namespace,
                split=asked.split,
                since=None if asked.since is None else asked.since.isoformat(),
                reached=reached,
            )
        except OtherSchema as error:
            complain("other_feature_schema", str(error))
            raise typer.Exit(REFUSED) from error


def _tell_of_file(count: int, output: Path, asked: Asked, *, as_json: bool) -> None:
    if as_json:
        print_json({"rows": count, "output": str(output)})
    else:
        say(f"Wrote {count} {asked.what} to {output}.")


def _tell_of_folder(written: Dataset, output: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "rows": written.rows,
                "vectors": written.vectors,
                "sha256": written.sha256,
                "output": str(output),
            }
        )
    else:
        say(f"Wrote {written.rows} decisions and {written.vectors} vectors to {output}.")


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())
