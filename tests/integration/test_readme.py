"""What the README tells a newcomer to type does what it says, against a real server process."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memserver.cli import ServerCommands, build
from memserver_client import Memory

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PROGRAM = [sys.executable, "-c", "from memserver.app import main; main()"]
NAMESPACE = "demo/alfworld"
URL_IN_README = "http://127.0.0.1:8765"


@dataclass(frozen=True)
class Running:
    """A served folder, and its system key."""

    url: str
    key: str


def clean_environment(**more: str) -> dict[str, str]:
    """This process's, without settings that would change what a newcomer sees."""
    kept = {name: value for name, value in os.environ.items() if "MEMSERVER_" not in name}
    return {**kept, "OMP_NUM_THREADS": "1", **more}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("served")
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [*PROGRAM, "serve", "--data", str(folder / "data"), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=log,
            env=clean_environment(),
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, (folder / "log").read_text()
            announced = json.loads(line)
            yield Running(announced["url"], announced["admin_key"])
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture
def memserver(served: Running) -> Callable[..., str]:
    """The command line as a user's shell runs it; gives what it prints on stdout. It runs in this
    process, because a new one each time would mostly measure how long Python takes to import."""

    def no_server(_: object) -> None:
        raise AssertionError("only the running server is asked")

    program = build(ServerCommands(no_server, no_server, no_server, no_server))

    def run(*arguments: str) -> str:
        env = {"MEMSERVER_URL": served.url, "MEMSERVER_API_KEY": served.key}
        done = CliRunner().invoke(program, arguments, env=env)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def python_snippets() -> list[str]:
    return re.findall(r"^```python\n(.+?)^```", README, flags=re.MULTILINE | re.DOTALL)


def typed(snippet: str, served: Running) -> str:
    """What the snippet prints, run as it stands."""
    assert URL_IN_README in snippet
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = compile(snippet.replace(URL_IN_README, served.url), "README.md", "exec")
        exec(code, {"key": served.key})
    return printed.getvalue()


def test_the_snippet_about_runs_runs_as_it_stands(served: Running) -> None:
    printed = typed(python_snippets()[0], served)

    with Memory(served.url, served.key) as memory:
        (run,) = memory.trajectories(namespace=NAMESPACE)
        assert run.outcome is not None
        assert (run.outcome.score, run.outcome.success) == (1.0, True)
        assert [step.action for step in run.steps] == ["go to shelf"]
        (skill,) = memory.items(namespace=NAMESPACE, kind="skill")
    assert printed.startswith(f"skill {skill.title} ")


def test_the_snippet_about_what_is_said_prints_what_it_says(served: Running) -> None:
    (_, snippet) = python_snippets()
    (expected,) = re.findall(r"print\(.+# (.+)$", snippet, flags=re.MULTILINE)

    assert typed(snippet, served) == f"{expected}\n"


def test_the_key_that_the_readme_makes_opens_its_namespaces_alone(
    served: Running,
) -> None:
    (line,) = re.findall(r"^memserver (keys create .+)$", README, flags=re.MULTILINE)
    made = subprocess.run(
        [*PROGRAM, *line.replace("'", "").split()],
        capture_output=True,
        check=False,
        env=clean_environment(MEMSERVER_URL=served.url, MEMSERVER_API_KEY=served.key),
        text=True,
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()

    with Memory(served.url, key) as memory:
        memory.remember("tea", namespace="demo/kitchen")
        with pytest.raises(Exception, match="no grant") as refused:
            memory.remember("tea", namespace="other")
    assert getattr(refused.value, "code", None) == "namespace_forbidden"


def test_real_runs_go_through_the_whole_command_line(
    memserver: Callable[..., str], alfworld_runs: Path, tmp_path: Path
) -> None:
    space = ("--namespace", "real/alfworld")
    arguments = ("import", str(alfworld_runs), *space, "--format", "alfworld-condensed", "--json")
    assert json.loads(memserver(*arguments))["stored"] == 223
    assert json.loads(memserver(*arguments))["existing"] == 223

    distilled = json.loads(memserver("distill", *space, "--json"))
    assert distilled["state"] == "succeeded"

    found = json.loads(memserver("retrieve", "put some towel on cart", *space, "--json"))
    assert found["items"]
    assert all(hit["why"] for hit in found["items"])

    def bank() -> list[str]:
        return sorted(memserver("export", "items", *space).splitlines())

    before = bank()
    plan = json.loads(memserver("consolidate", *space, "--json"))
    assert bank() == before
    applied = json.loads(
        memserver("consolidate", *space, "--apply", "--plan", plan["id"], "--json")
    )
    if applied["change_id"] is not None:
        assert bank() != before
        memserver("undo", applied["change_id"])
    assert bank() == before

    listed = memserver("operations", "list", "--json").splitlines()
    assert {applied["id"], plan["id"], distilled["id"]} <= {json.loads(row)["id"] for row in listed}


def test_exported_runs_can_be_imported_elsewhere(
    memserver: Callable[..., str], tmp_path: Path
) -> None:
    source, copy = tmp_path / "source.jsonl", tmp_path / "copy.jsonl"
    source.write_text(
        "".join(
            json.dumps(
                {
                    "task": {"goal": f"boil {n} größe", "type": "heat"},
                    "steps": [{"observation": "a pot", "action": "heat pot", "reward": 0.5}],
                    "outcome": {"score": 1, "success": True, "source": "judge"},
                    "metadata": {"n": n, "nothing": None},
                }
            )
            + "\n"
            for n in range(3)
        )
    )
    memserver("import", str(source), "-n", "copy/source")
    memserver("export", "trajectories", "-n", "copy/source", "-o", str(copy))

    moved = [json.loads(line)["metadata"] for line in copy.read_text().splitlines()]
    assert sorted(moved, key=lambda run: run["n"]) == [{"n": n, "nothing": None} for n in range(3)]
    # The same runs under the same ids are known wherever they are sent in this tenant.
    again = json.loads(memserver("import", str(copy), "-n", "copy/source", "--json"))
    assert (again["stored"], again["existing"]) == (0, 3)
