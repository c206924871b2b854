"""A server of one's own in a process of its own, for as long as a with-block lasts."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class ServerDidNotStart(RuntimeError):
    def __init__(self, status: int | None) -> None:
        super().__init__(f"The server ended with status {status} before it was ready.")


@dataclass(frozen=True, slots=True)
class Hosted:
    """`admin_key` is None where the data folder has been used before."""

    url: str
    admin_key: str | None
    process: subprocess.Popen[str]


@contextmanager
def hosted(data: Path, **settings: str) -> Iterator[Hosted]:
    """Starts `memserver serve` on a free port and stops it in the end. `settings` are
    MEMSERVER_ variables by their lower-case names; none are taken from the environment."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("MEMSERVER_")}
    own |= {f"MEMSERVER_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "memserver", "serve"]
    process = subprocess.Popen(
        [*command, "--data", str(data), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env=own,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise ServerDidNotStart(process.wait(timeout=30))
        ready = json.loads(line)
        yield Hosted(ready["url"], ready["admin_key"], process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
