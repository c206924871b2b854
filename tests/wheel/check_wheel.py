"""Run by `make wheel-test` with the Python of an empty environment that holds only the wheel.

Uses nothing but the standard library: pytest is not there.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

FOREIGN_TO_THE_CLIENT = ("fastapi", "torch", "numpy", "sqlalchemy", "typer", "memserver.domain")
PACKAGES = (
    "memserver",
    "memserver_client",
    "memserver_skills",
    "memserver_graph",
    "memserver_trainers",
    "memserver_bench",
)


def check_contents(names: list[str]) -> None:
    """The wheel holds the packages with their type markers, and the data they need."""
    for package in PACKAGES:
        assert f"{package}/py.typed" in names, f"{package} carries no py.typed"
    runs = [name for name in names if name.startswith("memserver/demo/")]
    assert any(name.endswith(".jsonl.gz") for name in runs), "the demo's runs are missing"
    migrations = "memserver/storage/sql/migrations/"
    assert f"{migrations}env.py" in names, "Alembic's env.py is missing"
    assert any(name.startswith(f"{migrations}versions/") for name in names), "no migration"
    strangers = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert strangers == set(PACKAGES), f"the wheel installs {strangers - set(PACKAGES)} too"
    assert any(name.endswith("/LICENSE") for name in names), "the licence is missing"


def check_client_is_light() -> None:
    """Importing the client loads nothing of the server."""
    import memserver_client

    assert memserver_client.Memory
    loaded = [name for name in FOREIGN_TO_THE_CLIENT if name in sys.modules]
    assert not loaded, f"importing memserver_client loads {loaded}"


def check_command_says_what_is_missing() -> None:
    """Without the extra `server` the command names it in one line and exits with 2."""
    command = Path(sys.executable).parent / "memserver"
    ran = subprocess.run([command, "serve"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2, f"memserver exits with {ran.returncode}: {ran.stderr}"
    assert ran.stdout == "", ran.stdout
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert "memserver[server]" in ran.stderr, ran.stderr


def main(wheel: str) -> None:
    """Run every check; the first that fails says what it missed."""
    check_contents(zipfile.ZipFile(wheel).namelist())
    check_client_is_light()
    check_command_says_what_is_missing()
    print(f"{Path(wheel).name}: contents, client and command are as they should be")


if __name__ == "__main__":
    main(sys.argv[1])
