"""docs/reference.md says what the code says: nothing is missing there, and nothing is left over."""

import re
from collections.abc import Iterator
from pathlib import Path

from memserver.domain.errors import MemserverError

REFERENCE = (Path(__file__).resolve().parents[2] / "docs" / "reference.md").read_text()


def section(title: str) -> str:
    """The text under a heading of the second level."""
    parts = re.split(r"^## (.+)$", REFERENCE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def first_cells(text: str) -> list[str]:
    """What stands in backticks at the start of each table row."""
    return re.findall(r"^\| `([^`]+)`", text, flags=re.MULTILINE)


def family(error: type[MemserverError]) -> Iterator[type[MemserverError]]:
    """An error and all that derive from it, as far as the server's own code goes."""
    if error.__module__.startswith("memserver"):
        yield error
    for child in error.__subclasses__():
        yield from family(child)


def test_every_error_code_is_documented_once() -> None:
    documented = first_cells(section("Error codes"))

    assert sorted(documented) == sorted({error.code for error in family(MemserverError)})


def test_no_two_errors_share_a_code() -> None:
    errors = list(family(MemserverError))

    assert len({error.code for error in errors}) == len(errors)
