"""The promises about the tree that neither ruff nor import-linter can keep."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
PACKAGES = [ROOT / name for name in WHEEL["packages"]]
SOURCES = sorted(path for package in PACKAGES for path in package.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
LINES_AT_MOST = 500


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)} imports by a relative name"
            yield node.module or ""


def files_of(*names: str) -> list[Path]:
    """The files of a module or package, given by its path without the ending."""
    found = [path for name in names for path in (ROOT / name).rglob("*.py")]
    found += [path for name in names if (path := ROOT / f"{name}.py").is_file()]
    return sorted(found)


def outsiders(paths: list[Path], allowed: set[str]) -> list[str]:
    """Imports that are neither the standard library nor under an allowed name."""
    return sorted(
        f"{relative(path)}: {name}"
        for path in paths
        for name in imported(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(name == root or name.startswith(f"{root}.") for root in allowed)
    )


def test_no_file_is_longer_than_500_lines() -> None:
    lengths = {relative(path): len(path.read_text().splitlines()) for path in SOURCES + TESTS}

    assert {name: lines for name, lines in lengths.items() if lines > LINES_AT_MOST} == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {relative(path): set(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES}

    assert [name for name, names in parts.items() if names & NAMES_THAT_SAY_NOTHING] == []


def test_every_module_says_why_it_exists() -> None:
    undocumented = [
        relative(path)
        for path in SOURCES + TESTS
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]

    assert undocumented == []


def test_package_files_only_re_export() -> None:
    def is_re_export(node: ast.stmt) -> bool:
        names = {"__all__", "__version__"}
        return (
            isinstance(node, ast.Import | ast.ImportFrom)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or (
                isinstance(node, ast.Assign)
                and all(isinstance(name, ast.Name) and name.id in names for name in node.targets)
            )
        )

    others = [
        f"{relative(path)}:{node.lineno}"
        for path in SOURCES
        if path.name == "__init__.py"
        for node in ast.parse(path.read_text()).body
        if not is_re_export(node)
    ]

    assert others == []


@pytest.mark.parametrize("package", PACKAGES, ids=relative)
def test_every_package_is_marked_as_typed(package: Path) -> None:
    assert (package / "py.typed").is_file()


def test_the_wire_models_import_only_pydantic_and_the_ids() -> None:
    allowed = {"memserver.wire", "memserver.ids", "pydantic"}

    assert outsiders(files_of("memserver/wire"), allowed) == []


def test_the_ids_import_only_the_standard_library() -> None:
    assert outsiders(files_of("memserver/ids"), set()) == []


def test_the_client_imports_only_what_the_base_install_brings() -> None:
    allowed = {"memserver_client", "memserver", "httpx", "pydantic", "typing_extensions"}

    assert outsiders(files_of("client/memserver_client"), allowed) == []


def test_importing_the_client_loads_nothing_of_the_server() -> None:
    names = "fastapi", "torch", "numpy", "sqlalchemy", "memserver.domain", "memserver.services"
    script = f"import sys, memserver_client; print([n for n in {names!r} if n in sys.modules])"

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"


def test_every_dependency_is_pinned_for_make_setup() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = {canonicalize_name(line.split("==")[0]) for line in lines if "==" in line}
    project = PROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = {canonicalize_name(Requirement(line).name) for lines in groups for line in lines}

    assert wanted - pins == set()


def test_make_and_the_constraints_name_the_same_torch() -> None:
    pinned = re.search(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)

    assert pinned
    assert set(re.findall(r"torch==([\d.]+\d)", (ROOT / "Makefile").read_text())) == {pinned[1]}
