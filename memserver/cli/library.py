"""`memserver evolve` and `route`: the library of skills as a whole, and what follows from it."""

from typing import Annotated

import typer

from memserver.cli.output import operation_bar, print_json, print_rows, remark, say
from memserver.cli.session import ApiKey, Json, Namespace, Url, session
from memserver.cli.upkeep import WAIT_SECONDS, Timeout, Wait, show_operation


def evolve(
    context: typer.Context,
    namespace: Namespace,
    apply: Annotated[bool, typer.Option("--apply", help="Do it, rather than plan it.")] = False,
    cap: Annotated[int, typer.Option("--cap", min=1, help="Items at most.")] = 5_000,
    wait: Wait = True,
    timeout: Timeout = WAIT_SECONDS,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Change a library by what came of it: admit, merge, split, put right, retire."""
    with session(context).memory(url, api_key) as memory, operation_bar() as seen:
        operation = memory.evolve(
            namespace=namespace,
            apply=apply,
            cap=cap,
            wait=wait,
            timeout=timeout,
            on_progress=seen,
        )
    show_operation(operation, as_json=json)
    if not json and not apply and operation.state == "succeeded":
        remark(f"To do it: memserver evolve --namespace {namespace} --apply")


def route(
    context: typer.Context,
    goal: Annotated[str, typer.Argument(help="The task, in words.")],
    namespace: Namespace,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="One to choose from; may be repeated. All, without."),
    ] = None,
    cost_weight: Annotated[
        float, typer.Option("--cost-weight", min=0, help="What a unit of cost takes off.")
    ] = 0.0,
    task_type: Annotated[str | None, typer.Option("--task-type")] = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Say which agent is to have a task, by what agents did with the skills that it needs."""
    with session(context).memory(url, api_key) as memory:
        found = memory.route(
            namespace=namespace,
            goal=goal,
            agents=agent or None,
            cost_weight=cost_weight,
            task_type=task_type,
        )
    if json:
        print_json(found)
        return
    print_rows(
        iter(found.agents),
        {
            "agent": lambda row: row.agent,
            "score": lambda row: f"{row.score:.3f}",
            "competence": lambda row: f"{row.competence:.3f}",
            "cost": lambda row: f"{row.cost:g}",
            "outcomes": lambda row: sum(skill.outcomes for skill in row.skills),
        },
        as_json=False,
    )
    for skill in found.agents[0].skills:
        known = f"{skill.competence:.2f} by {skill.outcomes} outcomes"
        remark(f"{skill.weight:.0%} {skill.title}: {known}")
    say(found.agent)
