"""Killed at any moment, the embedded index has every point that it acknowledged."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memserver.domain.ports import DocumentKey
from memserver.storage.index import EdgeIndex
from tests.contract.index.points import DIMENSION, key, sparse

ROUNDS = 3


def upsert_until_killed(folder: Path, first: int, root: Path) -> list[int]:
    """What the process acknowledged before it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.contract.index.upserting_process", str(folder), str(first)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    assert process.stdout
    acknowledged = [int(process.stdout.readline()) for _ in range(5)]
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in process.stdout.read().splitlines(keepends=True)[:-1]]
    process.stdout.close()
    process.wait()
    return acknowledged


def kept(acknowledged: list[int]) -> set[DocumentKey]:
    documents = {key(number + n) for number in acknowledged for n in range(7)}
    return documents - {key(number) for number in acknowledged if number % 3 == 0}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_no_acknowledged_point_is_lost_by_a_kill(tmp_path: Path, root: Path) -> None:
    acknowledged: list[int] = []
    for _ in range(ROUNDS):
        first = acknowledged[-1] + 700 if acknowledged else 0
        acknowledged += upsert_until_killed(tmp_path / "shard", first, root)

        index = EdgeIndex(tmp_path / "shard", dimension=DIMENSION)
        there = index.documents()
        last = acknowledged[-1]
        hits = index.search([sparse(f"c{last + 1}")])[0]
        index.close()

        assert index.resets == ()
        assert kept(acknowledged) - there == set()
        assert not {key(number) for number in acknowledged if number % 3 == 0} & there
        assert [hit.document.int for hit in hits] == [last + 1]
    assert len(acknowledged) > ROUNDS * 5
