"""`memserver demo` shows what it claims to, on the recorded runs and the real encoder."""

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_bank_beats_the_nearest_run_and_undo_puts_it_back() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "memserver", "demo", "--json"],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    shown = json.loads(told.stdout)

    assert shown["f1_bank"] > shown["f1_nearest_run"] > shown["f1_constant"] > 0
    assert shown["items_consolidated"] < shown["items_before"] == shown["items_undone"]
    assert shown["f1_undone"] == shown["f1_fed_back"]
    # A smaller bank must not say less.
    assert shown["f1_consolidated"] >= shown["f1_fed_back"] - 0.02
