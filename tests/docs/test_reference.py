"""docs/reference.md says what the code says: nothing is missing there, and nothing is left over."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from memserver.api.problems import HTTP_CODES, status_of
from memserver.domain.errors import MemserverError

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
NOT_A_REPLY = "—"


def section(title: str) -> str:
    """The text under a heading of the second level."""
    parts = re.split(r"^## (.+)$", REFERENCE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def rows(text: str) -> list[list[str]]:
    """The cells of the table rows whose first cell is in backticks."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines]


def error_classes(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Every class under a folder that sets its own `code`: its file, its name, the code."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                for line in node.body:
                    names = line.targets if isinstance(line, ast.Assign) else []
                    names = [line.target] if isinstance(line, ast.AnnAssign) else names
                    if any(isinstance(name, ast.Name) and name.id == "code" for name in names):
                        value = getattr(line, "value", None)
                        if isinstance(value, ast.Constant) and isinstance(value.value, str):
                            yield path, node.name, value.value


SERVER_ERRORS = list(error_classes(ROOT / "memserver"))
CLIENT_ERRORS = list(error_classes(ROOT / "client" / "memserver_client"))


def test_every_error_code_of_the_server_is_documented_once() -> None:
    documented = [row[0] for row in rows(section("Error codes"))]
    raised = [code for _, _, code in SERVER_ERRORS]

    assert sorted(documented) == sorted([*raised, *HTTP_CODES.values(), "http_error"])


def test_every_error_code_of_the_client_is_documented_once() -> None:
    documented = [row[0] for row in rows(section("Error codes of the client"))]

    assert sorted(documented) == sorted({code for _, _, code in CLIENT_ERRORS})


def test_the_documented_status_is_the_one_that_is_sent() -> None:
    documented = {row[0]: row[1] for row in rows(section("Error codes"))}
    wrong = {}
    for path, name, code in SERVER_ERRORS:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        error = getattr(importlib.import_module(module), name)
        assert issubclass(error, MemserverError)
        sent = str(status_of(error.__new__(error)))
        if documented[code] not in (sent, NOT_A_REPLY):
            wrong[code] = f"documented {documented[code]}, sent {sent}"

    assert wrong == {}
