"""`memserver backup` and `memserver restore`: the whole server as one file, while it runs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from memserver.cli.archive_transfer import TransferFailed, download, upload
from memserver.cli.output import bar, complain, print_json, remark, say
from memserver.cli.session import REFUSED, ApiKey, Json, Url, session
from memserver.domain.backups import Manifest, check
from memserver.domain.errors import InvalidBackup

OWNER_ONLY = 0o600


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(dir_okay=False, help="Where to; replaced if there.")],
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Save everything that the server keeps in one file, as it is now. Wants the system key."""
    with _refusals(), session(context).http(url, api_key) as http, _whole(file) as unfinished:
        with bar("receiving", None) as reached:
            download(http, unfinished, reached=reached)
        size = unfinished.tell()
        manifest = _checked(unfinished)
    rows = sum(manifest.rows.values())
    if json:
        print_json(
            {
                "output": str(file),
                "bytes": size,
                "rows": rows,
                "position": manifest.position,
                "created_at": manifest.created_at.isoformat(),
            }
        )
        return
    say(f"Saved {rows} rows, up to change {manifest.position}, to {file} ({size} bytes).")
    remark("Keep it as safe as the server's data folder: it holds all content, and can be read.")


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where that takes away what is there.")
    ] = False,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Put a backup in place of everything that the server keeps. Wants the system key."""
    with (
        _refusals(),
        session(context).http(url, api_key) as http,
        file.open("rb") as archive,
        bar("sending", file.stat().st_size) as reached,
    ):
        told = upload(http, archive, replace=replace, reached=reached)
    if json:
        print_json(told)
        return
    rows = sum(told["rows"].values())
    say(f"Restored {rows} rows, up to change {told['position']}, as of {told['created_at']}.")
    say(told["keys"])
    if not told["searchable"]:
        remark("The index is still being built: memserver doctor says when it is whole.")


def _checked(archive: BinaryIO) -> Manifest:
    try:
        return check(archive)
    except InvalidBackup:
        raise TransferFailed(
            InvalidBackup.code, "What arrived is no whole backup; nothing was saved. Try again."
        ) from None


@contextmanager
def _whole(file: Path) -> Iterator[BinaryIO]:
    """A file that its owner alone may read, and that has its name only when it is whole."""
    unfinished = file.with_name(f"{file.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with open(descriptor, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, file)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except TransferFailed as error:
        complain(error.code, str(error))
        raise typer.Exit(REFUSED) from error
    except OSError as error:
        complain("file_failed", f"{error.strerror}: {error.filename or 'the file'}")
        raise typer.Exit(REFUSED) from error
