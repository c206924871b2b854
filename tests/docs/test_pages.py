"""Every page points at things that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(ROOT / "deploy").rglob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    local = [link for link in links if not re.match(r"[a-z]+:", link)]

    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_make_targets_exist(page: Path) -> None:
    commands = re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), flags=re.MULTILINE)

    assert set(commands) - TARGETS == set()


def test_decisions_are_numbered_without_gaps() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))

    assert [page.name[:4] for page in pages] == [f"{n + 1:04}" for n in range(len(pages))]


def test_every_decision_says_when_to_revisit_it() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    parts = ("**Context.**", "**Decision.**", "**Consequences.**", "**Revisit when**")

    assert [
        page.name for page in pages if not all(part in page.read_text() for part in parts)
    ] == []
