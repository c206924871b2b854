"""docs/promises.md names tests that exist, and every test of a class of fault has a place there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text()
FAULTS = ROOT / "tests" / "faults"
ROW = re.compile(r"^\| (?!class of fault|---)(.+) \|$", flags=re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py(?:::\w+)+)`")
CHECKS_OF_CHECKS = {
    "tests/faults/test_isolation.py::test_the_same_requests_reach_what_is_ones_own",
}
"""They show that another test proves something, and promise nothing by themselves."""


def named_in(path: Path) -> Iterator[str]:
    """The names of a file's tests, as pytest spells them."""
    where = path.relative_to(ROOT).as_posix()
    for node in ast.parse(path.read_text()).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        within = f"::{node.name}" if isinstance(node, ast.ClassDef) else ""
        for each in inner:
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
                yield f"{where}{within}::{each.name}"


def test_every_test_that_the_page_names_exists() -> None:
    named = set(TEST.findall(PAGE))
    files = {ROOT / name.split("::")[0] for name in named}
    real = {test for path in files if path.is_file() for test in named_in(path)}

    assert named - real == set()


def test_every_class_of_fault_has_a_promise_and_a_test() -> None:
    rows = [row.split(" | ") for row in ROW.findall(PAGE)]

    assert len(rows) > 20
    assert [row for row in rows if len(row) != 3 or not TEST.search(row[2])] == []


def test_every_test_of_a_class_of_fault_is_named_on_the_page() -> None:
    tests = {test for path in FAULTS.glob("test_*.py") for test in named_in(path)}

    assert tests - set(TEST.findall(PAGE)) - CHECKS_OF_CHECKS == set()
