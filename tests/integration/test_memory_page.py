"""docs/memory.md, from a message to a fact and back: typed as it stands, printing what it says."""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memserver_bench.soak_server import ServerProcess
from memserver_client import Memory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-m", "memserver")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerProcess]:
    process = ServerProcess(PROGRAM, tmp_path / "data")
    process.spawn()
    process.ready()
    monkeypatch.setenv("MEMSERVER_URL", process.url)
    monkeypatch.setenv("MEMSERVER_API_KEY", process.key)
    yield process
    process.stop()


def walk() -> list[str]:
    page = (ROOT / "docs" / "memory.md").read_text()
    section = re.split(r"^## ", page, flags=re.MULTILINE)[1]
    return re.findall(r"^```python\n(.+?)^```", section, flags=re.MULTILINE | re.DOTALL)


def promised(code: str) -> list[str]:
    return [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]


@pytest.mark.usefixtures("server")
def test_the_walk_prints_what_the_page_says() -> None:
    blocks = walk()
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for code in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/memory.md", "exec"), names)
        assert printed.getvalue().splitlines() == promised(code)
    assert isinstance(names["memory"], Memory)
    names["memory"].close()
