"""The library of skills as a whole: what its parts are worth, and how it evolves."""

from collections.abc import Sequence

from memserver.wire.library import (
    Convergence,
    Evolve,
    Portfolio,
    PortfolioRequest,
    Route,
    RouteRequest,
    RunCredit,
    Worth,
)
from memserver.wire.operations import Operation
from memserver_client._call import Call, Steps, ask, read, write
from memserver_client._operations import WAIT_SECONDS, OnProgress, started
from memserver_client._requests import Id, checked, id_of


def worth(id: Id) -> Call[Worth]:
    """What an item is worth by what came of it: counts, lower bound and moving utility, by the
    type of task."""
    return read(f"/v1/memories/{id_of(id)}/worth", Worth)


def run_credit(id: Id) -> Call[RunCredit]:
    """What a run's outcome says of the orders in which it was offered items, and of what is
    distilled from it."""
    return read(f"/v1/trajectories/{id_of(id)}/credit", RunCredit)


def route(
    *,
    namespace: str,
    goal: str | None = None,
    skills: Sequence[Id] | None = None,
    agents: Sequence[str] | None = None,
    cost_weight: float = 0.0,
    task_type: str | None = None,
) -> Call[Route]:
    """Which agent is to have a task: `.agent`, and `.agents` with every score and why. Give the
    `goal`, or the `skills` that it needs; of the `agents` named, or of all that are known."""
    asked_for = checked(
        RouteRequest,
        namespace=namespace,
        goal=goal,
        skills=skills,
        agents=agents,
        cost_weight=cost_weight,
        task_type=task_type,
    )
    return ask("/v1/route", Route, asked_for)


def evolve(
    *,
    namespace: str,
    apply: bool = False,
    cap: int = 5_000,
    wait: bool = False,
    timeout: float = WAIT_SECONDS,
    on_progress: OnProgress | None = None,
) -> Steps[Operation]:
    """Changes a namespace's library by what came of it. Without `apply` the operation's `.report`
    is a plan to read; with it the report's `changes` lists one change an act, the last of them
    first to be taken back. `cap` is how many items the library may hold."""
    asked_for = checked(Evolve, namespace=namespace, apply=apply, cap=cap)
    call = write("POST", "/v1/skills/evolve", Operation, asked_for)
    return started(call, wait=wait, timeout=timeout, on_progress=on_progress)


def convergence(*, namespace: str, window: int = 20) -> Call[Convergence]:
    """How fast a namespace's library changes: the share of it that changed with each run, over
    windows of so many runs."""
    params: dict[str, str | int | bool | None] = {"namespace": namespace, "window": window}
    return read("/v1/skills/convergence", Convergence, params)


def portfolio(
    *, namespace: str, k: int = 5, goal: str | None = None, cost_weight: float = 0.0
) -> Call[Portfolio]:
    """At most `k` skills that together solved most tasks, each with what it covers; with a `goal`
    also `.matches`, the members for it, best first."""
    asked_for = checked(
        PortfolioRequest, namespace=namespace, k=k, goal=goal, cost_weight=cost_weight
    )
    return ask("/v1/skills/portfolio", Portfolio, asked_for)
