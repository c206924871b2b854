"""Times on the command line: with their offset, since a naive one could mean anything."""

from datetime import datetime

import typer


def moment(text: str | None) -> datetime | None:
    """Raises `BadParameter` for what is no time, or says no offset."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no time such as 2026-01-31T00:00:00Z.") from error
    if time.tzinfo is None:
        raise typer.BadParameter(f"{text!r} says no offset; write 2026-01-31T00:00:00Z for UTC.")
    return time
