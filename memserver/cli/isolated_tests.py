"""Runs a code skill's stored tests in a process of their own, with limits, when somebody asks.

What is held: seconds of processor, memory, size of files, seconds in all, an empty environment, a
folder that goes with the process, and that everything it started ends. What is not: without root
no process can be kept from the network or from files that its user may read. So it is no sandbox
for code that nobody has read."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from memserver.cli.orphans import no_orphans
from memserver.cli.skill_test_driver import DONE, RESULT

DRIVER = Path(__file__).with_name("skill_test_driver.py")
PROGRAM = "skill.py"
SHOWN = 20_000


@dataclass(frozen=True, slots=True)
class Limits:
    seconds: float = 20.0
    cpu_s: int = 10
    memory: int = 512 * 1024 * 1024
    file_bytes: int = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SkillFile:
    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class TestResult:
    __test__ = False

    name: str
    passed: bool
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TestsRun:
    """`ended` says why the process did not come to its end by itself, None where it did."""

    results: tuple[TestResult, ...]
    output: str
    ended: str | None = None

    @property
    def passed(self) -> bool:
        return (
            self.ended is None
            and bool(self.results)
            and all(result.passed for result in self.results)
        )


class UnsafePath(ValueError):
    def __init__(self, path: str) -> None:
        super().__init__(
            f"The skill has a file {path[:120]!r}, which would lie outside its folder."
        )


def run_tests(
    program: str, files: Sequence[SkillFile], *, limits: Limits | None = None
) -> TestsRun:
    """The tests among `files`, with the program beside them as `skill.py`. Raises `UnsafePath`
    before anything is written."""
    limits = limits or Limits()
    placed = [(_inside(file.path), file.content) for file in files]
    with tempfile.TemporaryDirectory(prefix="memserver-skill-") as made:
        folder = Path(made) / "skill"
        folder.mkdir()
        for path, content in [(PurePosixPath(PROGRAM), program.encode()), *placed]:
            target = folder.joinpath(*path.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        with tempfile.TemporaryFile() as output, no_orphans():
            ended = _run(folder, output, limits)
            output.seek(0)
            told = output.read(limits.file_bytes).decode(errors="replace")
    if ended is None and DONE not in told.splitlines():
        ended = "it ended before all of its tests were run"
    return TestsRun(_results(told), _rest(told), ended)


def _inside(path: str) -> PurePosixPath:
    parts = PurePosixPath(path)
    bad = parts.is_absolute() or not parts.parts or "\\" in path or "\0" in path
    if bad or any(part in ("..", ".") for part in path.split("/")) or str(parts) == PROGRAM:
        raise UnsafePath(path)
    return parts


def _run(folder: Path, output: IO[bytes], limits: Limits) -> str | None:
    """Why it did not end by itself. Its output goes to a file without a name, whose size is
    limited too."""
    told = json.dumps([limits.cpu_s, limits.memory, limits.file_bytes])
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", str(DRIVER), str(folder), told],
        cwd=folder,
        env={},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        status = process.wait(limits.seconds)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        # Whatever it started is of its group, and ends with it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if status is None:
        return f"it ran for more than {limits.seconds:g} seconds"
    if status < 0:
        return f"it was ended by {signal.Signals(-status).name}: a limit was reached, or it crashed"
    return None if status == 0 else f"it ended with status {status}"


def _results(told: str) -> tuple[TestResult, ...]:
    found = []
    for line in told.splitlines():
        if line.startswith(RESULT):
            with suppress(ValueError, TypeError, KeyError):
                said = json.loads(line.removeprefix(RESULT))
                name, failure = str(said["name"]), str(said["failure"])
                found.append(TestResult(name, said["passed"] is True, failure))
    return tuple(found)


def _rest(told: str) -> str:
    """What the tested code printed itself."""
    lines = (line for line in told.splitlines() if not line.startswith((RESULT, DONE)))
    return "\n".join(lines).strip("\n")[:SHOWN]
