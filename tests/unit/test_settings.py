"""A setting that is misspelt, or does not fit, stops the start with one line that says why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memserver.app.settings import InvalidSetting, Settings, UnknownSetting, read_settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MEMSERVER_"):
            monkeypatch.delenv(name)


def test_settings_come_from_the_environment_and_are_overridden_by_what_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMSERVER_PORT", "9000")
    monkeypatch.setenv("MEMSERVER_WORKERS", "4")
    settings = read_settings(port=9001, workers=None, data=None)

    assert (settings.port, settings.workers, settings.data) == (9001, 4, Path("memserver-data"))


def test_what_the_client_and_the_tests_read_is_no_unknown_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("URL", "API_KEY", "TEST_QDRANT_URL"):
        monkeypatch.setenv(f"MEMSERVER_{name}", "http://127.0.0.1")

    assert read_settings() == Settings()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("MEMSERVER_DATABSE_URL", " Did you mean MEMSERVER_DATABASE_URL?"),
        ("MEMSERVER_PROT", " Did you mean MEMSERVER_PORT?"),
        ("MEMSERVER_QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ", ""),
    ],
)
def test_an_unknown_variable_is_refused_and_the_nearest_name_suggested(
    monkeypatch: pytest.MonkeyPatch, name: str, nearest: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(UnknownSetting) as refused:
        read_settings()

    assert str(refused.value) == f"There is no setting {name}.{nearest}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "abc"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("WORKERS", "0"),
        ("WAIT_S", "0"),
        ("WAIT_S", "nan"),
        ("WAIT_S", "inf"),
        ("FLUSH_EVERY_S", "60"),
        ("INHERITED_SHARE", "1.5"),
        ("BODY_LIMIT", "1e9"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"MEMSERVER_{name}", value)
    with pytest.raises(InvalidSetting) as refused:
        read_settings()

    told = str(refused.value)
    assert told.startswith(f"MEMSERVER_{name} cannot be used: ")
    assert "\n" not in told


def test_a_refused_value_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSERVER_PORT", "my-secret")
    with pytest.raises(InvalidSetting) as refused:
        read_settings()

    assert "my-secret" not in str(refused.value)


@pytest.mark.parametrize("command", [["serve"], ["reindex", "--offline"]])
@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("MEMSERVER_PORT", "abc", "invalid_setting: MEMSERVER_PORT cannot be used: "),
        ("MEMSERVER_PROT", "80", "unknown_setting: There is no setting MEMSERVER_PROT. Did you "),
    ],
)
def test_a_command_prints_one_line_and_leaves_nothing_behind(
    tmp_path: Path, command: list[str], name: str, value: str, line: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "memserver", *command],
        env={**os.environ, name: value},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith(line)
    assert ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
