"""A server that is killed again and again while it works loses nothing that it acknowledged."""

import sys
from pathlib import Path

import pytest

from memserver_bench.soak import Soak, run


@pytest.mark.slow
def test_five_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.integration.cheap_server"]

    tally = run(Soak(rounds=5, kill_every=2.0, seed=5, command=command), tmp_path / "data")

    assert tally.kills >= 5
    assert tally.findings.lost == ()
    assert tally.findings.unsearchable == ()
    assert tally.findings.repeated == 0
    assert tally.findings.orphans == 0
    assert tally.findings.unindexed == 0
    assert tally.findings.stuck_operations == 0
    assert tally.findings.failures == ()
    assert tally.ledger.refused == []
    assert tally.server_errors == ()
    # Without these the test would prove little.
    assert len(tally.ledger.writes) > 20
    assert tally.findings.operations["succeeded"] >= 1
