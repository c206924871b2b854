"""Runs of tasks: stored, listed, read, removed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memserver.wire.base import Page, Receipt
from memserver.wire.trajectories import (
    NewTrajectory,
    Run,
    TrajectoriesStored,
    Trajectory,
    TrajectoryStored,
)
from memserver_client._call import Call, Listing, Steps, asked, read, write
from memserver_client._errors import MemserverError
from memserver_client._requests import Id, TrajectoriesAdded, id_of, run_batches, with_id


def add_trajectory(run: NewTrajectory) -> Call[TrajectoryStored]:
    return write("POST", "/v1/trajectories", TrajectoryStored, with_id(run))


def add_trajectories(
    runs: Iterable[Run | Mapping[str, Any]], *, namespace: str
) -> Steps[TrajectoriesAdded]:
    """Stores runs in as many requests as they need. A list is checked whole before anything is
    sent; another iterable is read, checked and sent batch by batch. Where a later batch fails,
    the error's note says how many runs were stored before it."""
    batches = run_batches(runs, namespace)
    receipts: list[TrajectoriesStored] = []
    try:
        for batch in list(batches) if isinstance(runs, Sequence) else batches:
            call = write("POST", "/v1/trajectories/batch", TrajectoriesStored, batch.content)
            receipts.append((yield from asked(call)))
    except MemserverError as error:
        stored = sum(len(receipt.ids) for receipt in receipts)
        if stored:
            error.add_note(f"The first {stored} runs of this call were stored.")
        raise
    return TrajectoriesAdded.merged(receipts)


def import_trajectories(
    content: bytes, *, namespace: str, format: str = "jsonl"
) -> Call[TrajectoriesStored]:
    """A file as it is, `jsonl` or `alfworld-condensed`, up to the server's body limit."""
    return write(
        "POST",
        "/v1/trajectories/import",
        TrajectoriesStored,
        content,
        params={"namespace": namespace, "format": format},
        content_type="application/octet-stream",
    )


def trajectories(
    *,
    namespace: str,
    task_type: str | None = None,
    environment: str | None = None,
    agent: str | None = None,
    success: bool | None = None,
    unseal: bool | None = None,
) -> Listing[Trajectory]:
    """All of them; each page is asked for when it is needed. `unseal` asks for what privacy took
    out of texts."""
    params = {
        "namespace": namespace,
        "unseal": unseal,
        "task_type": task_type,
        "environment": environment,
        "agent": agent,
        "success": success,
    }
    return Listing(path="/v1/trajectories", page=Page[Trajectory], params=params)


def trajectory(id: Id, *, unseal: bool | None = None) -> Call[Trajectory]:
    return read(f"/v1/trajectories/{id_of(id)}", Trajectory, {"unseal": unseal})


def delete_trajectory(id: Id) -> Call[Receipt]:
    return write("DELETE", f"/v1/trajectories/{id_of(id)}", Receipt)
