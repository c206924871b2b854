"""docs/command-line.md and docs/client.md say what the program and the client offer, no more and no
less."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

import memserver_client
from memserver.cli import ServerCommands, build
from memserver_client import Memory, MemserverError

ROOT = Path(__file__).resolve().parents[2]
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text()
CLIENT = (ROOT / "docs" / "client.md").read_text()
README = (ROOT / "README.md").read_text()
# Added by the framework to the program itself, for the shells of those who want it.
FRAMEWORK = {"--install-completion", "--show-completion"}


def nothing(_: object) -> None:
    raise AssertionError("no command is run here")


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its full name, the program itself included."""

    def below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        for child, found in getattr(command, "commands", {}).items():
            if hasattr(found, "commands"):
                yield from below(found, f"{name} {child}")
            else:
                yield f"{name} {child}", found

    program = typer.main.get_command(build(ServerCommands(nothing, nothing, nothing, nothing)))
    yield "memserver", program
    yield from below(program, "memserver")


def sections() -> dict[str, str]:
    """The text under each heading, which names a command and may name its arguments."""
    parts = re.split(r"^## (.+)$", COMMAND_LINE, flags=re.MULTILINE)
    return {
        re.sub(r"( [A-Z_]+)+$", "", title): text
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def documented_flags(text: str) -> set[str]:
    rows = re.findall(r"^\| (.+?) \|", text, flags=re.MULTILINE)
    return {flag for row in rows for flag in re.findall(r"`(--[a-z-]+)`", row)}


def flags(command: Any) -> set[str]:
    options = [each for each in command.params if each.param_type_name == "option"]
    names = {name for each in options for name in [*each.opts, *each.secondary_opts]}
    return {name for name in names if name.startswith("--")} - FRAMEWORK


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    shared = "Options of many commands"
    assert set(sections()) - {shared} == {name for name, _ in commands()}


def test_every_flag_is_documented_and_every_documented_flag_exists() -> None:
    shared = documented_flags(sections()["Options of many commands"])
    wrong = {}
    for name, command in commands():
        documented = documented_flags(sections()[name])
        if documented != flags(command) - shared:
            wrong[name] = documented ^ (flags(command) - shared)
    assert wrong == {}


def test_the_readme_names_every_command() -> None:
    named = set(re.findall(r"^\| `(memserver [a-z]+)", README, flags=re.MULTILINE))
    assert named == {" ".join(name.split()[:2]) for name, _ in commands()} - {"memserver"}


def test_every_method_of_the_client_is_documented() -> None:
    public = {
        name
        for name, _ in inspect.getmembers(Memory, inspect.isfunction)
        if not name.startswith("_")
    }
    rows = re.findall(r"^\| (`.+?) \|", CLIENT, flags=re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}

    assert public - {"close"} == documented - {"finish"}


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    """Each line's indentation says whose child it is."""
    drawing = CLIENT.split("## Errors")[1].split("```")[1]
    drawn: dict[str, str] = {}
    path: list[str] = []
    for prefix, name in re.findall(r"^([│├└─ ]*)([A-Z]\w+)", drawing, flags=re.MULTILINE):
        path = [*path[: len(prefix) // 4], name]
        drawn[name] = path[-2] if len(path) > 1 else ""
    tree = {
        name: "" if found is MemserverError else found.__base__.__name__
        for name in memserver_client.__all__
        if isinstance(found := getattr(memserver_client, name), type)
        and issubclass(found, MemserverError)
    }
    assert drawn == tree
