"""Stored tests of code skills: run only when asked, here, with limits; and nothing of what is in
quarantine."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memserver.cli.isolated_tests import Limits, SkillFile, UnsafePath, run_tests
from tests.unit.cli.conftest import ID

PROGRAM = "def actions(name):\n    yield 'greet ' + name\n"
TEST = "from skill import actions\n\ndef test_greets():\n    assert list(actions('x')) == {}\n"


def ran(code: str, **limits: Any) -> Any:
    return run_tests(PROGRAM, [SkillFile("test_it.py", code.encode())], limits=Limits(**limits))


def test_tests_that_hold_pass_and_others_say_where_they_fail() -> None:
    good, bad = (
        SkillFile(f"tests/test_{name}.py", TEST.format(wanted).encode())
        for name, wanted in (("good", "['greet x']"), ("bad", "['no']"))
    )

    both = run_tests(PROGRAM, [good, bad])

    assert run_tests(PROGRAM, [good]).passed
    assert not both.passed
    assert {one.name: one.passed for one in both.results} == {
        "tests/test_bad.py::test_greets": False,
        "tests/test_good.py::test_greets": True,
    }
    assert "AssertionError" in both.results[0].failure


def test_a_skill_without_tests_does_not_pass() -> None:
    assert not run_tests(PROGRAM, []).passed
    assert not ran("import os\nos._exit(0)").passed


def test_who_leaves_half_way_does_not_pass_by_what_went_well_before() -> None:
    code = "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\ndef test_c(): assert 0\n"

    assert not ran(code).passed


def test_what_a_test_prints_hides_no_result() -> None:
    run = ran("def test_a():\n    print('half a line', end='')")

    assert (run.passed, run.output) == (True, "half a line")


def test_what_a_test_does_to_files_outside_its_folder_does_not_reach_its_output() -> None:
    code = "import os, pathlib\ndef test_a():\n"
    code += "    [os.remove(p) for p in pathlib.Path('..').glob('o*')]"

    assert ran(code).ended is None


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="others cannot start any"
)
def test_a_process_that_leaves_its_group_ends_as_well() -> None:
    code = (
        "import os, time\n"
        "def test_a():\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os.setsid()\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "    print(child)\n"
    )
    run = ran(code)

    assert run.passed
    assert not Path(f"/proc/{int(run.output)}").exists()


def test_what_goes_on_for_ever_is_ended_with_all_that_it_started() -> None:
    code = "import time\ndef test_waits():\n    time.sleep(60)"
    began = time.monotonic()

    run = ran(code, seconds=0.5)

    assert run.ended == "it ran for more than 0.5 seconds"
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "code",
    [
        "def test_memory():\n    bytearray(10 ** 9)",
        "def test_file():\n    open('big', 'wb').write(b'x' * 10 ** 6)",
    ],
)
def test_memory_and_files_are_limited(code: str) -> None:
    assert not ran(code, memory=200 * 2**20, file_bytes=10**5).passed


def test_it_sees_an_empty_environment_and_nothing_of_memserver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMSERVER_API_KEY", "secret")
    code = (
        "import os, sys\n"
        "def test_environment():\n    assert 'MEMSERVER_API_KEY' not in os.environ\n"
        "def test_alone():\n"
        "    assert sys.flags.isolated\n"
        "    assert not any(name.startswith('memserver') for name in sys.modules)\n"
        "def test_folder():\n    assert 'memserver-skill-' in os.getcwd()\n"
    )

    run = ran(code)

    assert run.passed, run.results
    assert len(run.results) == 3


def test_the_folder_is_gone_afterwards() -> None:
    run = ran("import os\ndef test_where():\n    print('in', os.getcwd())")

    [line] = [line for line in run.output.splitlines() if line.startswith("in ")]
    assert not Path(line.removeprefix("in ")).exists()


@pytest.mark.parametrize(
    "path", ["../test_x.py", "/tmp/test_x.py", "a/../../test_x.py", "a\\b.py", "", "skill.py", "."]
)
def test_no_file_lies_outside_the_folder_or_in_the_programs_place(path: str) -> None:
    with pytest.raises(UnsafePath):
        run_tests(PROGRAM, [SkillFile(path, b"")])


def item(*, status: str = "active", form: str = "code", wanted: str = "['greet x']") -> Any:
    at = "2026-01-01T00:00:00Z"
    body = {
        "when": "greeting",
        "form": form,
        "text": PROGRAM,
        "files": [{"path": "test_it.py", "content": TEST.format(wanted), "encoding": "utf-8"}],
    }
    version = {
        "id": ID,
        "item_id": ID,
        "number": 1,
        "title": "Greet",
        "body": body,
        "text": "Greet",
        "method": "api",
        "sources": [],
        "task_type": None,
        "metadata": {},
        "parent": None,
        "valid_from": at,
        "valid_to": None,
        "recorded_at": at,
    }
    return {
        "id": ID,
        "namespace": "demo",
        "kind": "skill",
        "title": "Greet",
        "status": status,
        "created_at": at,
        "merged_into": None,
        "version": version,
    }


def test_the_command_runs_the_tests_of_a_skill(run, server):  # type: ignore[no-untyped-def]
    server.answers[f"GET /v1/memories/{ID}"] = item()

    result = run("skill", "test", ID, "--json")

    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["passed"] is True


def test_a_failing_test_is_told_and_is_the_exit_status(run, server):  # type: ignore[no-untyped-def]
    server.answers[f"GET /v1/memories/{ID}"] = item(wanted="['no']")

    result = run("skill", "test", ID)

    assert result.exit_code == 1
    assert "FAILED test_it.py::test_greets" in result.stdout


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"status": "quarantined"}, "skill_quarantined"),
        ({"status": "archived"}, "skill_archived"),
        ({"form": "workflow"}, "not_a_code_skill"),
    ],
)
def test_what_is_not_in_use_or_no_program_is_refused(run, server, tmp_path, changed, code):  # type: ignore[no-untyped-def]
    marked = tmp_path / "ran"
    sent = item(**changed)
    sent["version"]["body"]["text"] = f"open({os.fspath(marked)!r}, 'w').close()\n{PROGRAM}"
    server.answers[f"GET /v1/memories/{ID}"] = sent

    result = run("skill", "test", ID)

    assert result.exit_code == 1
    assert result.stderr.startswith(f"{code}:")
    assert not marked.exists()
