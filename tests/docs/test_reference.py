"""docs/reference.md says what the code says: nothing is missing there, and nothing is left over."""

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from memserver.api.build import build_api
from memserver.api.problems import HTTP_CODES, status_of
from memserver.app.settings import OF_OTHERS, PREFIX, Settings
from memserver.domain.errors import MemserverError
from memserver_skills.distillers import DISTILLERS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
NOTHING = NOT_A_REPLY = "—"
PACKAGES = "memserver", "client", "skills", "graph", "trainers", "benchmarks"


def section(title: str) -> str:
    """The text under a heading of the second level."""
    parts = re.split(r"^## (.+)$", REFERENCE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def rows(text: str) -> list[list[str]]:
    """The cells of the table rows whose first cell is in backticks."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines]


def differences(documented: Iterable[str], real: Iterable[str]) -> dict[str, list[str]]:
    """What the page lacks and what it has too much, each as often as it does."""
    page, code = Counter(documented), Counter(real)
    return {
        "missing in the page": sorted((code - page).elements()),
        "only in the page": sorted((page - code).elements()),
    }


NONE = differences([], [])


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


def test_every_setting_is_documented_with_its_default() -> None:
    defaults = {
        PREFIX + name.upper(): NOTHING if field.default is None else str(field.default)
        for name, field in Settings.model_fields.items()
    }
    defaults |= dict.fromkeys(OF_OTHERS, NOTHING)

    assert {row[0]: row[1] for row in rows(section("Settings"))} == defaults


def test_no_module_reads_a_variable_that_is_not_documented() -> None:
    """Whole names only: what a module puts together from the prefix is a setting."""
    named = {
        name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r"[\"'](MEMSERVER_[A-Z_]*[A-Z])[\"']", path.read_text())
    }

    assert named - {row[0] for row in rows(section("Settings"))} == set()


def test_every_route_is_documented() -> None:
    paths = build_api(cast(Any, SimpleNamespace(access=None, gate=None))).openapi()["paths"]
    routes = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]

    assert differences([row[0] for row in rows(section("Routes"))], routes) == NONE


def test_every_way_of_distilling_has_its_row() -> None:
    page = (ROOT / "docs" / "skills.md").read_text()
    made = page.split("\n## How skills are made\n")[1].split("\n## ")[0]
    assert differences([name for name, *_ in rows(made)], list(DISTILLERS)) == NONE


def test_every_error_code_of_the_server_is_documented_once() -> None:
    documented = [row[0] for row in rows(section("Error codes"))]
    raised = [code for _, _, code in SERVER_ERRORS]

    assert differences(documented, [*raised, *HTTP_CODES.values(), "http_error"]) == NONE


def test_every_error_code_of_the_client_is_documented_once() -> None:
    documented = [row[0] for row in rows(section("Error codes of the client"))]

    assert differences(documented, {code for _, _, code in CLIENT_ERRORS}) == NONE


def test_the_documented_status_is_the_one_that_is_sent() -> None:
    documented = {row[0]: row[1] for row in rows(section("Error codes"))}
    wrong = {}
    for path, name, code in SERVER_ERRORS:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        error = getattr(importlib.import_module(module), name)
        is_reply = issubclass(error, MemserverError)
        sent = str(status_of(error.__new__(error))) if is_reply else NOT_A_REPLY
        if documented.get(code, sent) not in (sent, NOT_A_REPLY):
            wrong[code] = f"documented {documented[code]}, sent {sent}"

    assert wrong == {}
