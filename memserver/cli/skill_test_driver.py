"""Runs inside the process that a skill's tests are given, and nowhere else: takes its limits, then
calls every function `test_…` of every file `test_….py`. Standard library only, and run by path
(`python -I skill_test_driver.py FOLDER LIMITS`), so that nothing of memserver is in reach."""

import json
import runpy
import sys
import traceback
from pathlib import Path

RESULT = "result: "
DONE = "all tests were run"


def limit(cpu_s: int, memory: int, file_bytes: int) -> None:
    """Hard limits, which the process cannot raise again. Only POSIX has them, and commands that
    import this for its constants run elsewhere too."""
    import resource

    for kind, most in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        # No other process may be started; the kernel does not hold root to it.
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (most, most))


def run(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    for path in sorted(folder.rglob("test_*.py")):
        name = path.relative_to(folder).as_posix()
        try:
            found = runpy.run_path(str(path))
        except BaseException:
            tell(name, traceback.format_exc(limit=-3))
            continue
        for test, call in found.items():
            if test.startswith("test_") and callable(call):
                try:
                    call()
                except BaseException:
                    tell(f"{name}::{test}", traceback.format_exc(limit=-3))
                else:
                    tell(f"{name}::{test}", "")


def tell(name: str, failure: str) -> None:
    line = json.dumps({"name": name, "passed": not failure, "failure": failure[-2_000:]})
    # A line of its own, whatever the test printed before it.
    print(f"\n{RESULT}{line}", flush=True)


if __name__ == "__main__":
    limit(*json.loads(sys.argv[2]))
    run(Path(sys.argv[1]))
    print(f"\n{DONE}", flush=True)
