"""A worker's identity: minted once, kept over restarts."""

from pathlib import Path
from uuid import UUID

import pytest

from memserver.jobs import executor_identity


def test_an_identity_is_minted_once_and_kept(tmp_path: Path) -> None:
    first = executor_identity(tmp_path / "worker")

    assert str(UUID(first)) == first
    assert executor_identity(tmp_path / "worker") == first
    assert executor_identity(tmp_path / "another") != first


@pytest.mark.parametrize("cut_short", ["", "2f0c", "\n"])
def test_a_file_that_was_cut_short_gives_a_new_identity(tmp_path: Path, cut_short: str) -> None:
    path = tmp_path / "worker"
    path.write_text(cut_short)

    identity = executor_identity(path)

    assert executor_identity(path) == identity
    assert [child.name for child in tmp_path.iterdir()] == ["worker"]
