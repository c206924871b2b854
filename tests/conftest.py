"""What tests of every kind share: no model hub, and real inputs that lie beside the checkout."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REAL_INPUTS = ROOT.parent / "shared" / "data"

# Before any test module can import a library that reads it.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


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
