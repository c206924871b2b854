"""docs/policies.md, typed command by command: from outcomes to a policy that serves, and back."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memserver_bench.soak_server import ServerProcess
from memserver_client import Memory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "policies.md").read_text()
CHEAP = (sys.executable, "-m", "tests.integration.cheap_server")
NAMESPACE = "team/agents"


def steps() -> list[tuple[str, str]]:
    """The commands of each numbered section, by its heading."""
    sections = re.split(r"^## (\d\. .+)$", PAGE, flags=re.MULTILINE)
    return [
        (heading, "\n".join(re.findall(r"^```sh\n(.+?)^```", text, flags=re.M | re.S)))
        for heading, text in zip(sections[1::2], sections[2::2], strict=True)
    ]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerProcess]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    process = ServerProcess(CHEAP, tmp_path / "data")
    process.spawn()
    process.ready()
    yield process
    process.stop()


def test_the_page_leads_to_a_better_policy_and_back(server: ServerProcess, tmp_path: Path) -> None:
    serves, fleets = {}, {}
    with Memory(server.url, server.key) as memory:
        for heading, commands in steps():
            output = typed(commands, server, tmp_path)
            fleets[heading[0]] = re.findall(r'"success": ([0-9.]+)', output)
            serves[heading[0]] = memory.policy_status(namespace=NAMESPACE).serves
        (policy,) = memory.policies(namespace=NAMESPACE)

    assert [serves[number] for number in "1234567"] == [*["fixed-1"] * 5, str(policy.id), "fixed-1"]
    assert policy.state == "retired"
    assert policy.reason == "the way back works"
    before, after = float(fleets["1"][0]), float(fleets["6"][0])
    assert after > before + 0.3


def typed(commands: str, server: ServerProcess, folder: Path) -> str:
    """What a shell prints for the commands. Variables of one section are there in the next."""
    kept = folder / "variables"
    kept.touch()
    script = "\n".join(
        ["set -euo pipefail", f'. "{kept}"', commands, f'set | grep ^POLICY= > "{kept}" || true']
    )
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "MEMSERVER_URL": server.url,
            "MEMSERVER_API_KEY": server.key,
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, json.dumps([ran.stdout[-2000:], ran.stderr[-2000:]], indent=1)
    return ran.stdout
