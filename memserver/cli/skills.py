"""`memserver skill`: skills from outside in, looked at and promoted; skills out."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memserver.cli.output import print_json, remark, say, table
from memserver.cli.session import ApiKey, Json, Namespace, Url, session
from memserver_client import Finding, SkillCard, SkillMoved, SkillsImported

SkillId = Annotated[str, typer.Argument(metavar="ID", help="The skill's id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the change log.")]


class ImportFormat(StrEnum):
    ZIP = "zip"
    MARKDOWN = "markdown"
    SKILLRL = "skillrl"
    JSONL = "jsonl"


class BankFormat(StrEnum):
    SKILLRL = "skillrl"
    JSONL = "jsonl"


class Status(StrEnum):
    ACTIVE = "active"
    QUARANTINED = "quarantined"
    ANY = "any"


def import_skills(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(exists=True, help="A folder, a zip file, a SKILL.md, a bank or JSON lines."),
    ],
    namespace: Namespace,
    format: Annotated[
        ImportFormat | None, typer.Option("--format", help="What it is, where that is not plain.")
    ] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Take skills from outside into quarantine. Nobody is offered one before it is promoted."""
    with session(context).memory(url, api_key) as memory:
        done = memory.import_skills(path, namespace=namespace, format=format)
    if json:
        print_json(done)
    else:
        _show_imported(done)


def export(
    context: typer.Context,
    skill_id: SkillId,
    to: Annotated[Path, typer.Option("--to", help="The zip file to write.")],
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Write a skill as an Agent Skills folder in a zip file."""
    with session(context).memory(url, api_key) as memory:
        size = memory.export_skill(skill_id, to)
    _show_written(to, size, as_json=json)


def bank(
    context: typer.Context,
    namespace: Namespace,
    to: Annotated[Path, typer.Option("--to", help="The file to write.")],
    format: Annotated[
        BankFormat, typer.Option("--format", help="A SkillRL bank, or JSON lines of ours.")
    ] = BankFormat.SKILLRL,
    status: Annotated[
        Status, typer.Option("--status", help="Those in use, in quarantine, or both.")
    ] = Status.ACTIVE,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Write all skills and common mistakes of a namespace as one bank."""
    with session(context).memory(url, api_key) as memory:
        size = memory.export_skills(to, namespace=namespace, format=format, status=status)
    _show_written(to, size, as_json=json)


def show(
    context: typer.Context,
    skill_id: SkillId,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show all that is known of a skill, and why it is offered or is not."""
    with session(context).memory(url, api_key) as memory:
        card = memory.skill_card(skill_id)
    if json:
        print_json(card)
    else:
        _show_card(card)


def promote(
    context: typer.Context,
    skill_id: SkillId,
    reason: Reason,
    allow_tools: Annotated[
        bool,
        typer.Option("--allow-tools", help="Let it declare tools where there is no list of them."),
    ] = False,
    accept_findings: Annotated[
        bool, typer.Option("--accept-findings", help="Let it have what was found in it.")
    ] = False,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Bring a skill out of quarantine into use."""
    with session(context).memory(url, api_key) as memory:
        moved = memory.promote(
            skill_id, reason=reason, allow_tools=allow_tools, accept_findings=accept_findings
        )
    _show_moved(moved, as_json=json)


def quarantine(
    context: typer.Context,
    skill_id: SkillId,
    reason: Reason,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Take a skill out of use until it is promoted."""
    with session(context).memory(url, api_key) as memory:
        moved = memory.quarantine(skill_id, reason=reason)
    _show_moved(moved, as_json=json)


def _show_imported(done: SkillsImported) -> None:
    table(
        ["id", "title", "status", "tools to decide on", "found"],
        (
            [
                one.id,
                one.title,
                f"{one.status}, was there" if one.existing else one.status,
                ", ".join(one.undecided_tools),
                len(one.findings) or "",
            ]
            for one in done.skills
        ),
    )
    for one in done.skills:
        _show_findings(one.title, one.findings)
    for refused in done.refused:
        remark(f"refused {refused.where}: {refused.reason} ({refused.code})")
    if done.change_id is not None:
        remark(f"To take them back: memserver undo {done.change_id}")


def _show_findings(title: str, findings: list[Finding]) -> None:
    for found in findings:
        remark(f"{title}, {found.where}: {found.code}: {found.excerpt}")


def _show_moved(moved: SkillMoved, *, as_json: bool) -> None:
    if as_json:
        print_json(moved)
        return
    say(f"{moved.id} is {moved.status}.")
    remark(f"To take it back: memserver undo {moved.change_id}")


def _show_written(to: Path, size: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(to), "bytes": size})
    else:
        say(f"Wrote {size:,} bytes to {to}.")


def _show_card(card: SkillCard) -> None:
    at = card.whereabouts
    say(card.item.version.text)
    say("")
    say(f"{at.place}: {at.because}")
    if at.change is not None:
        remark(f"since {at.change.at:%Y-%m-%d %H:%M:%S}, by the change {at.change.change_id}")
    if card.tools:
        say(f"declares the tools {', '.join(card.tools)}")
    if card.imported is not None:
        say(f"imported as {card.imported.get('format')} from {card.imported.get('where')}")
    _show_findings(card.item.title, card.findings)
    table(
        ["version", "recorded", "method", "outcomes", "lower bound"],
        (
            [
                one.number,
                f"{one.recorded_at:%Y-%m-%d %H:%M:%S}",
                one.method,
                one.belief.outcomes if one.belief else "",
                f"{one.belief.lower_bound:.2f}" if one.belief and one.belief.outcomes else "",
            ]
            for one in card.versions
        ),
    )
    sources = [run for origin in card.origin.own for run in origin.runs]
    for run in sources[:10]:
        steps = "all steps" if run.whole else f"steps {', '.join(str(s.number) for s in run.steps)}"
        say(f"drawn from the run {run.trajectory_id} ({run.goal}), {steps}")
    for what, shares in (("task", card.by_context), ("agent", card.by_agent)):
        if shares:
            table(
                [what, "uses", "successes", "failures", "last"],
                (
                    [
                        one.name or "(none named)",
                        one.uses,
                        f"{one.successes:g}",
                        f"{one.failures:g}",
                        one.last and f"{one.last:%Y-%m-%d %H:%M:%S}",
                    ]
                    for one in shares
                ),
            )
