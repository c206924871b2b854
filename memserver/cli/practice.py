"""`memserver practice`: goals to try before tasks come, and which runs of them enter memory."""

import json as json_text
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from memserver.cli.output import complain, print_json, print_rows, remark, say, table
from memserver.cli.session import REFUSED, ApiKey, Json, Namespace, Url, session
from memserver_client import PracticeDecided, PracticeGoal


class State(StrEnum):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


def propose(
    context: typer.Context,
    namespace: Namespace,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many goals at most.")] = 5,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Decides between goals of equal worth.")
    ] = 0,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Make up goals that are new, possible, and neither sure to be reached nor sure to fail."""
    with session(context).memory(url, api_key) as memory:
        found = memory.propose_practice(namespace=namespace, k=k, seed=seed)
    if json:
        print_json(found)
        return
    table(
        ["id", "goal", "score", "novelty", "p", "feasibility", "redundancy"],
        (
            [
                one.id,
                one.goal,
                f"{one.why.score:.3f}",
                f"{one.why.novelty:.2f}",
                f"{one.why.p:.2f}",
                f"{one.why.feasibility:.2f}",
                f"{one.why.redundancy:.2f}",
            ]
            for one in found.proposals
        ),
    )
    if not found.proposals:
        remark("There is nothing new to try; it takes runs whose goals have something in common.")


def validate(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, help='JSON lines: {"proposal": ID, "run": {…}}.'
        ),
    ],
    namespace: Namespace,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Have runs of proposed goals judged, one a line. What is let in is stored as a run; of what is
    not only the proposer learns."""
    sent = list(_lines(file))
    decided: list[PracticeDecided] = []
    with session(context).memory(url, api_key) as memory:
        for one in sent:
            done = memory.validate_practice(one["proposal"], one["run"], namespace=namespace)
            decided.append(done)
            if json:
                print_json(done)
            else:
                say(f"{_word(done)}: {done.proposal.goal}{_because(done.proposal)}")
    accepted = sum(one.accepted for one in decided)
    remark(f"{accepted} of {len(decided)} runs are in memory.")


def list_practice(
    context: typer.Context,
    namespace: Namespace,
    state: Annotated[State | None, typer.Option("--state", help="All of them, without.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 100,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """List what was proposed, oldest first, and what became of it."""
    with session(context).memory(url, api_key) as memory:
        found = memory.practice(namespace=namespace, state=None if state is None else state.value)
        print_rows(
            islice(found, limit),
            {
                "id": lambda row: row.id,
                "goal": lambda row: row.goal,
                "state": lambda row: row.state,
                "refusal": lambda row: row.refusal,
                "reason": lambda row: row.reason,
                "run": lambda row: row.trajectory_id,
            },
            as_json=json,
        )
        if next(found, None) is not None:
            remark("There are more: raise --limit.")


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = json_text.loads(line)
        except ValueError:
            read = None
        if not isinstance(read, dict) or not {"proposal", "run"} <= read.keys():
            complain("invalid_line", f'Line {number} of {file} is not {{"proposal": …, "run": …}}.')
            raise typer.Exit(REFUSED)
        yield read


def _word(done: PracticeDecided) -> str:
    return "accepted" if done.accepted else "rejected"


def _because(goal: PracticeGoal) -> str:
    return f" ({goal.reason})" if goal.reason else ""
