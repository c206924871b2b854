"""What a server kept is all there when it is started again, whatever became of the index."""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memserver.app import opening, reindexing
from memserver.app.opening import open_parts
from memserver.app.settings import Settings, read_settings
from memserver.domain.errors import DataInUse, EncoderChanged
from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import App, start_app, wait_for

NS = "restart"
TEXTS = [f"the {color} key opens door {n}" for n, color in enumerate(("red", "blue", "green"))]
SOON_S = 20.0


@dataclass(frozen=True)
class Used:
    """A data folder that a server has worked on and left, and what it answered then."""

    data: Path
    key: str
    seen: dict[str, Any]

    def start(self, stack: ExitStack, **how: Any) -> App:
        return start_app(stack, self.data, key=self.key, **how)


def seen(app: App) -> dict[str, Any]:
    """All that anyone can read, and what is found."""
    texts = {
        text: app.admin.post("/v1/retrieve", {"namespace": NS, "query": text}) for text in TEXTS
    }
    return {
        "memories": app.admin.rows("/v1/memories", namespace=NS),
        "runs": app.admin.rows("/v1/trajectories", namespace=NS),
        "changes": app.admin.rows("/v1/changes", namespace=NS),
        "operations": app.admin.rows("/v1/operations"),
        "found": {text: [hit["text"] for hit in reply["items"]] for text, reply in texts.items()},
    }


def wait_until_ready(app: App) -> None:
    deadline = time.monotonic() + SOON_S
    while app.anonymous("GET", "/health/ready").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def used(tmp_path: Path) -> Used:
    data = tmp_path / "data"
    with ExitStack() as stack:
        app = start_app(stack, data)
        for text in TEXTS:
            app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
        app.admin.post("/v1/trajectories", {"namespace": NS, "task": {"goal": "open the door"}})
        wait_for(app.admin, app.admin.post("/v1/distill", {"namespace": NS}))
        first = app.server.first_key
        assert first is not None
        found = seen(app)
        assert all(hits[0] == text for text, hits in found["found"].items())
        return Used(data, first.secret, found)


def test_a_second_start_prints_no_key_and_everything_is_still_there_and_found(used: Used) -> None:
    with ExitStack() as stack:
        again = used.start(stack)

        assert again.server.first_key is None
        assert seen(again) == used.seen
        added = again.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "one more"}})
        assert added["searchable"] is True
        assert again.audit() | {"applied": 0} == {
            "applied": 0,
            "lag": 0,
            "skipped": 0,
            "problem": None,
            "missing": 0,
            "orphans": 0,
        }


def test_a_corrupted_index_is_set_aside_and_built_again_from_sql(used: Used) -> None:
    shard = [path for path in (used.data / "index").rglob("*") if path.is_file()]
    assert shard
    for path in shard:
        path.write_bytes(b"garbage" * 100)
    with ExitStack() as stack:
        again = used.start(stack)
        wait_until_ready(again)

        assert seen(again) == used.seen
        assert (again.audit()["missing"], again.audit()["orphans"]) == (0, 0)
    assert [path.name for path in used.data.glob("index.aside-*")] == ["index.aside-1"]


def test_an_index_folder_that_is_gone_is_built_again_from_sql(used: Used) -> None:
    (used.data / "index").rename(used.data / "elsewhere")
    with ExitStack() as stack:
        again = used.start(stack)
        wait_until_ready(again)

        assert seen(again) == used.seen


class TestAnotherEncoder:
    @pytest.fixture
    def other(self, monkeypatch: pytest.MonkeyPatch) -> HashEncoder:
        """What the settings now name: another model, with longer vectors."""
        encoder = HashEncoder(dimension=96, name="other")
        for module in (opening, reindexing):
            monkeypatch.setattr(module, "open_encoder", lambda _: encoder)
        return encoder

    def settings(self, used: Used) -> Settings:
        return read_settings(data=used.data)

    def test_it_is_refused_by_name_before_anything_is_touched(
        self, used: Used, other: HashEncoder
    ) -> None:
        before = files(used.data)
        with pytest.raises(EncoderChanged) as refused:
            open_parts(self.settings(used))

        assert HashEncoder().fingerprint in str(refused.value)
        assert other.fingerprint in str(refused.value)
        assert files(used.data) == before
        with ExitStack() as stack:
            assert seen(used.start(stack)) == used.seen

    def test_an_offline_reindex_makes_it_the_encoder(self, used: Used, other: HashEncoder) -> None:
        done = reindexing.reindex_offline(self.settings(used))

        assert (done.documents, done.skipped, done.encoder) == (4, 0, other.fingerprint)
        with ExitStack() as stack:
            again = used.start(stack, encoder=other)
            assert again.anonymous("GET", "/health/ready").status_code == 200
            assert seen(again) == used.seen
        with pytest.raises(EncoderChanged), ExitStack() as stack:
            used.start(stack)

    def test_an_offline_reindex_waits_for_no_server(self, used: Used, other: HashEncoder) -> None:
        with ExitStack() as stack:
            used.start(stack)
            with pytest.raises(DataInUse):
                reindexing.reindex_offline(self.settings(used))


def files(folder: Path) -> dict[str, bytes]:
    """What a folder holds, without SQLite's lists of readers."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }
