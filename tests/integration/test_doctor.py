"""The doctor says what is wrong and what to do, tells no secret, and leaves no trace."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memserver.app.doctor import examine
from memserver.app.opening import utc_now
from memserver.app.settings import Settings
from memserver.cli import DoctorOptions, Finding, Health
from memserver.domain.operations import State
from memserver.domain.ports import DocumentKey, Encoder
from memserver.storage.index import EdgeIndex
from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import App, asked_database, on_both_databases, start_app

NS = "checked"
SECRET_TEXT = "the safe opens with nineteen"
PASSWORD = "not-to-be-told"


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def cheap_encoder(_: Settings) -> Encoder:
    return HashEncoder()


def looked_at(data: Path | None, *, runs: bool = False, **given: Any) -> dict[str, Finding]:
    """What was found by check. A trace that is left fails here."""
    options = DoctorOptions(data=data, database_url=None, url=None, api_key=None)
    how = {"make_encoder": cheap_encoder, **given}
    before = content(data) if data is not None and data.is_dir() else {}
    found = examine(replace(options, **how.pop("options", {})), **how)
    if data is not None and not runs:
        assert (content(data) if data.is_dir() else {}) == before
    assert SECRET_TEXT not in repr(found)
    assert PASSWORD not in repr(found)
    states = [Health.OK, Health.WARNING, Health.PROBLEM]
    worst: dict[str, Finding] = {}
    for finding in found:
        if finding.state is not Health.OK:
            assert finding.help or "encoder" in finding.says, finding
        other = worst.get(finding.check)
        if other is None or states.index(finding.state) > states.index(other.state):
            worst[finding.check] = finding
    return worst


def not_ok(found: dict[str, Finding]) -> dict[str, Health]:
    return {name: each.state for name, each in found.items() if each.state is not Health.OK}


def use(app: App) -> None:
    for n in range(3):
        app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": f"{SECRET_TEXT} {n}"}})
    app.admin.post("/v1/trajectories", {"namespace": NS, "task": {"goal": "open the safe"}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that a server has worked on and left."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with ExitStack() as stack:
        use(start_app(stack, data))
    return data


def test_a_healthy_folder_is_found_healthy_and_left_as_it_is(folder: Path) -> None:
    found = looked_at(folder)

    assert not_ok(found) == {}
    assert set(found) == {
        "versions", "settings", "address", "data folder", "disk", "database", "keys",
        "operations", "model", "index",
    }  # fmt: skip
    assert "holds what the database says" in found["index"].says


def test_a_folder_after_kill_9_is_looked_at_without_touching_its_log(tmp_path: Path) -> None:
    """Copied while the server runs: the write-ahead log is there, and nobody has it open."""
    killed = tmp_path / "killed"
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data")
        use(app)
        until_flushed(app)
        shutil.copytree(tmp_path / "data", killed)
    killed.chmod(0o700)
    assert (killed / "memserver.db-wal").stat().st_size

    assert not_ok(looked_at(killed)) == {}

    (killed / "memserver.db-shm").unlink()
    assert not_ok(looked_at(killed)) == {"database": Health.WARNING}


def until_flushed(app: App) -> None:
    deadline = time.monotonic() + 20
    while True:
        with app.server.services.store.reading() as reader:
            mark, head = reader.mark("index"), reader.head_position()
        if mark is not None and mark[0] == head:
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("planted", ["orphan", "missing"])
def test_an_index_that_differs_from_the_database_is_a_problem(folder: Path, planted: str) -> None:
    with closing(EdgeIndex(folder / "index", dimension=64)) as index:
        if planted == "missing":
            index.delete_documents([sorted(index.documents())[0]])
    if planted == "orphan":
        with closing(sqlite3.connect(folder / "memserver.db")) as database, database:
            database.execute(
                "UPDATE item SET status = 'deleted' WHERE id = (SELECT id FROM item LIMIT 1)"
            )

    found = looked_at(folder)

    assert not_ok(found) == {"index": Health.PROBLEM}
    expected = (
        "1 documents are missing, 0" if planted == "missing" else "0 documents are missing, 1"
    )
    assert found["index"].says.startswith(expected)
    assert found["index"].help == "memserver reindex --offline"


def test_an_index_that_cannot_be_loaded_is_said_to_be_built_again(folder: Path) -> None:
    for path in (folder / "index").rglob("*"):
        if path.is_file():
            path.write_bytes(b"garbage" * 100)

    found = looked_at(folder)

    assert not_ok(found) == {"index": Health.WARNING}
    assert not list(folder.glob("index.aside*"))


def test_a_missing_folder_is_a_problem_and_is_not_made(tmp_path: Path) -> None:
    found = looked_at(tmp_path / "nowhere")

    assert not_ok(found) == {"data folder": Health.PROBLEM}
    assert str(tmp_path / "nowhere") in found["data folder"].says
    assert not (tmp_path / "nowhere").exists()


def test_an_empty_folder_has_no_database_yet(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)

    assert not_ok(looked_at(tmp_path)) == {"database": Health.WARNING}


def test_a_folder_that_others_may_read_is_a_warning(folder: Path) -> None:
    folder.chmod(0o755)

    found = looked_at(folder)

    assert not_ok(found) == {"data folder": Health.WARNING}
    assert found["data folder"].help.startswith("chmod 700")


def test_every_misspelt_setting_is_a_problem_with_the_nearest_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSERVER_WRKERS", "3")
    monkeypatch.setenv("MEMSERVER_DATTA", "x")
    options = DoctorOptions(data=folder, database_url=None, url=None, api_key=None)
    said = [found.says for found in examine(options, make_encoder=cheap_encoder)]

    assert not_ok(looked_at(folder)) == {"settings": Health.PROBLEM}
    assert any("MEMSERVER_WRKERS" in each and "MEMSERVER_WORKERS" in each for each in said)
    assert any("MEMSERVER_DATTA" in each and "MEMSERVER_DATA?" in each for each in said)


def test_a_setting_that_does_not_fit_is_named_without_its_value(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSERVER_PORT", PASSWORD)

    found = looked_at(folder)

    assert not_ok(found) == {"settings": Health.PROBLEM}
    assert "MEMSERVER_PORT" in found["settings"].says


def test_a_database_that_is_none_is_a_problem(folder: Path) -> None:
    (folder / "memserver.db").write_bytes(b"no database at all" * 1000)

    assert not_ok(looked_at(folder))["database"] is Health.PROBLEM


def test_a_damaged_page_is_a_problem(folder: Path) -> None:
    path = folder / "memserver.db"
    raw = bytearray(path.read_bytes())
    for start in range(8 * 4096, len(raw), 2 * 4096):
        raw[start : start + 512] = b"\xee" * 512
    path.write_bytes(raw)

    assert not_ok(looked_at(folder))["database"] is Health.PROBLEM


@pytest.mark.parametrize(("schema", "state"), [("0001", "warning"), ("9999", "problem")])
def test_an_older_schema_is_brought_up_to_date_and_a_newer_one_is_a_problem(
    folder: Path, schema: str, state: str
) -> None:
    with closing(sqlite3.connect(folder / "memserver.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = ?", (schema,))

    found = looked_at(folder)

    assert not_ok(found) == {"database": Health(state)}
    assert schema in found["database"].says


def test_a_server_without_a_key_that_can_administer_is_a_problem(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "memserver.db")) as database, database:
        database.execute("UPDATE api_key SET revoked_at = created_at")

    assert not_ok(looked_at(folder)) == {"keys": Health.PROBLEM}


def test_another_encoder_than_the_indexs_is_a_problem_by_both_names(folder: Path) -> None:
    other = HashEncoder(dimension=96, name="other")

    found = looked_at(folder, make_encoder=lambda _: other)

    assert not_ok(found) == {"model": Health.PROBLEM, "index": Health.WARNING}
    assert HashEncoder().fingerprint in found["model"].says
    assert other.fingerprint in found["model"].says


def test_a_model_that_cannot_be_loaded_is_a_problem(folder: Path) -> None:
    def broken(_: Settings) -> Encoder:
        raise OSError(f"{PASSWORD}: no such file")

    assert not_ok(looked_at(folder, make_encoder=broken))["model"] is Health.PROBLEM


def test_an_operation_that_a_stopped_server_left_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with ExitStack() as stack:
        app = start_app(stack, data)
        monkeypatch.setattr(app.jobs, "submit", lambda *_: None)
        asked = app.admin.post("/v1/distill", {"namespace": NS})

    found = looked_at(data)

    assert not_ok(found) == {"operations": Health.WARNING}
    assert asked["id"] in found["operations"].says


# --- a server that runs ------------------------------------------------------------------


@pytest.fixture
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[App]:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with ExitStack() as stack:
        app = start_app(stack, data, database_url=asked_database(request))
        use(app)
        yield app


def asked(app: App, *, key: str | None, remote: bool = False, **given: Any) -> dict[str, Finding]:
    """The server is asked as one that holds the folder, or as one that is only known by its URL."""

    def reach(url: str, api_key: str | None) -> TestClient:
        http = TestClient(app.server.api, base_url=url, raise_server_exceptions=False)
        if api_key:
            http.headers["Authorization"] = f"Bearer {api_key}"
        return Started(http)  # type: ignore[return-value]

    options = {"api_key": key, "database_url": app.server.settings.database_url}
    if remote:
        options["url"] = "http://server.test"
    data = None if remote else app.server.settings.data
    return looked_at(data, options=options, reach=reach, runs=True, **given)


class Started:
    """A client whose block does not start the app a second time."""

    def __init__(self, http: TestClient) -> None:
        self._http = http

    def __enter__(self) -> TestClient:
        return self._http

    def __exit__(self, *_: object) -> None:
        pass


@on_both_databases("running")
def test_a_running_server_is_asked_and_its_database_read(running: App) -> None:
    found = asked(running, key=running.admin.key)

    assert not_ok(found) == {}
    assert {"server", "database", "your key", "index", "decisions"} <= set(found)
    assert "holds what the database says" in found["index"].says


def test_a_server_known_by_its_url_is_asked_only(running: App) -> None:
    found = asked(running, key=running.admin.key, remote=True)

    assert not_ok(found) == {}
    assert "database" not in found
    assert "operations" in found


def test_a_planted_orphan_of_a_running_server_is_a_problem(running: App) -> None:
    index = running.server.services.indexer._index
    key: DocumentKey = sorted(index.documents())[0]
    index.delete_documents([key])

    for remote in (True, False):
        found = asked(running, key=running.admin.key, remote=remote)
        assert not_ok(found) == {"index": Health.PROBLEM}
        assert found["index"].help == "memserver reindex"


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLING])
def test_an_operation_that_comes_no_further_is_a_problem(
    running: App, monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    monkeypatch.setattr(running.jobs, "submit", lambda *_: None)
    distill = running.admin.post("/v1/distill", {"namespace": NS})
    store = running.server.services.store
    with store.reading() as reader:
        (operation,) = reader.unfinished_operations()
    store.write(lambda tx: tx.put_operation(replace(operation, state=state)))

    def later() -> Any:
        return utc_now() + timedelta(hours=2)

    for remote in (True, False):
        assert not_ok(asked(running, key=running.admin.key, remote=remote)) == {}
        found = asked(running, key=running.admin.key, remote=remote, clock=later)
        assert not_ok(found) == {"operations": Health.PROBLEM}
        assert distill["id"] in found["operations"].says


def test_a_key_that_may_not_or_does_not_exist_is_told(running: App) -> None:
    reader = running.admin.with_key("reader", "**").key

    states = {
        name: asked(running, key=key, remote=True)["your key"].state
        for name, key in {"none": None, "reader": reader, "unknown": PASSWORD}.items()
    }
    assert states == {
        "none": Health.WARNING,
        "reader": Health.WARNING,
        "unknown": Health.PROBLEM,
    }


def test_a_server_that_does_not_answer_is_a_problem(tmp_path: Path) -> None:
    found = looked_at(None, options={"url": "http://127.0.0.1:1"})

    assert not_ok(found) == {"server": Health.PROBLEM}
    assert "127.0.0.1:1" in found["server"].says
    assert os.listdir(tmp_path) == []
