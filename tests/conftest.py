"""What tests of every kind share: no model hub, temporary files in memory, and real inputs that
lie beside the checkout."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REAL_INPUTS = ROOT.parent / "shared" / "data"

# Before any test module can import a library that reads it.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# An index writes 65 MB when it is made, and syncs hundreds of times until it is closed. Nothing
# here needs what outlives a loss of power: a killed process loses nothing that is in memory.
MEMORY = Path("/dev/shm")
OURS = "memserver-tests-"
ROOM = 2 * 1024**3


def pytest_configure(config: pytest.Config) -> None:
    """Temporary files go to memory where there is room, and nobody names another place."""
    if "TMPDIR" in os.environ or "PYTEST_XDIST_WORKER" in os.environ or not _has_room():
        return
    for left in MEMORY.glob(f"{OURS}*"):
        if not Path(f"/proc/{left.name.removeprefix(OURS)}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = MEMORY / f"{OURS}{os.getpid()}"
    folder.mkdir(mode=0o700)
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    # Whatever a test starts, and each process of the tests, inherits it.
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that hold a slow test come first, so that no process is left with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)


def _has_room() -> bool:
    try:
        fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = int(fields["MemAvailable"].split()[0]) * 1024
        return os.access(MEMORY, os.W_OK) and min(free, shutil.disk_usage(MEMORY).free) > ROOM
    except (OSError, KeyError, ValueError):
        return False


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def alfworld_runs() -> Path:
    """223 condensed ALFWorld runs (aiming-lab/SkillRL, MIT), which are no part of the project."""
    path = REAL_INPUTS / "alfworld_trajectories.json"
    if not path.is_file():
        pytest.skip(f"needs the ALFWorld runs, which are no part of the project: no {path.name}")
    return path
