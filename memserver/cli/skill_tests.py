"""`memserver skill test`: runs a code skill's stored tests here, on the caller's machine. The
server never runs any of it."""

import base64
import os
from typing import Annotated, Any

import typer

from memserver.cli.isolated_tests import Limits, SkillFile, TestsRun, UnsafePath, run_tests
from memserver.cli.output import complain, print_json, remark, say
from memserver.cli.session import REFUSED, ApiKey, Json, Url, session
from memserver_client import Item

MEGABYTE = 1024 * 1024


def run_stored_tests(
    context: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="ID", help="The skill's id.")],
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, max=3600, help="How long it may take in all.")
    ] = 20,
    cpu: Annotated[
        int, typer.Option("--cpu", min=1, max=3600, help="Seconds of processor at most.")
    ] = 10,
    memory: Annotated[
        int, typer.Option("--memory", min=64, max=65_536, help="Megabytes of memory at most.")
    ] = 512,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Run the tests of a code skill on this machine, in a process of its own with limits. That is
    no sandbox: the code can reach the network and your files. Read it first."""
    with session(context).memory(url, api_key) as server:
        found = server.item(skill)
    refusal = _refusal(found)
    if refusal is not None:
        complain(*refusal)
        raise typer.Exit(REFUSED)
    body = found.version.body
    try:
        files = [_file(file) for file in body.get("files", ())]
        limits = Limits(seconds=seconds, cpu_s=cpu, memory=memory * MEGABYTE)
        ran = run_tests(str(body.get("text", "")), files, limits=limits)
    except UnsafePath as error:
        complain("unsafe_path", str(error))
        raise typer.Exit(REFUSED) from error
    _show(ran, as_json=json)
    if not ran.passed:
        raise typer.Exit(REFUSED)


def _refusal(found: Item) -> tuple[str, str] | None:
    """Why nothing of it is run, as a code and a sentence."""
    if found.kind != "skill" or found.version.body.get("form") != "code":
        return "not_a_code_skill", "Only a skill whose form is code has tests to run."
    if found.status != "active":
        return f"skill_{found.status}", f"It is {found.status}, and nothing of it is run."
    if os.name != "posix":
        return "no_limits", "This system has no limits to run tests with."
    return None


def _file(sent: dict[str, Any]) -> SkillFile:
    content = str(sent["content"])
    raw = base64.b64decode(content) if sent.get("encoding") == "base64" else content.encode()
    return SkillFile(str(sent["path"]), raw)


def _show(ran: TestsRun, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "passed": ran.passed,
                "results": [
                    {"name": one.name, "passed": one.passed, "failure": one.failure}
                    for one in ran.results
                ],
                "ended": ran.ended,
                "output": ran.output,
            }
        )
        return
    for one in ran.results:
        say(f"{'passed' if one.passed else 'FAILED'} {one.name}")
        if one.failure:
            say(one.failure)
    if ran.output:
        remark(ran.output)
    if ran.ended is not None:
        remark(f"The tests did not come to their end: {ran.ended}.")
    elif not ran.results:
        remark("The skill has no tests, so nothing is shown.")
