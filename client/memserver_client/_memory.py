"""`Memory`: one method for each thing that the server does."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, overload

import httpx

from memserver.wire.access import Key, KeyCreated, Namespace, NewKey, NewNamespace
from memserver.wire.base import Page, Receipt
from memserver.wire.items import History, Item, ItemStored, NewMemory, NewSkill, NewVersion, Source
from memserver.wire.operations import (
    Change,
    ChangeDetail,
    Consolidate,
    Distill,
    Operation,
    Undone,
)
from memserver.wire.retrieval import Filters, Retrieved, RetrieveRequest
from memserver.wire.trajectories import (
    Feedback,
    FeedbackStored,
    NewTrajectory,
    Run,
    TrajectoriesStored,
    Trajectory,
    TrajectoryStored,
)
from memserver_client._episode import Episode
from memserver_client._errors import MemserverError, NotConfigured, invalid
from memserver_client._operations import OnProgress, await_operation
from memserver_client._requests import (
    Fact,
    Id,
    TrajectoriesAdded,
    checked,
    fact_bodies,
    id_of,
    json_body,
    run_batches,
    text_body,
    with_id,
)
from memserver_client._transport import Clock, Connection

WAIT_SECONDS = 600.0


class Memory:
    """A connection to a memserver. Close it, or use it as a context manager; it may be shared
    between threads.

    `url` and `api_key` default to MEMSERVER_URL and MEMSERVER_API_KEY. `timeout` is seconds for
    each attempt; `retries` counts further attempts, made only where a second one does no harm.
    `transport` and `clock` replace the network and time in tests.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        url = _setting(url, "server URL", "url", "MEMSERVER_URL")
        api_key = _setting(api_key, "API key", "api_key", "MEMSERVER_API_KEY")
        self._clock = clock or Clock()
        http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {api_key}", "Accept": "application/json"},
            timeout=timeout,
            transport=transport,
        )
        self._server = Connection(http, retries=retries, clock=self._clock)

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({self._server.url!r})"

    def close(self) -> None:
        self._server.close()

    # --- runs ----------------------------------------------------------------------------

    def episode(
        self,
        *,
        goal: str,
        namespace: str,
        type: str | None = None,
        environment: str | None = None,
        template_id: str | None = None,
        agent: str = "",
    ) -> Episode:
        """One run, recorded in a with-block and sent when the block ends."""
        task = {"goal": goal, "type": type, "environment": environment, "template_id": template_id}
        new = checked(
            NewTrajectory,
            namespace=namespace,
            task={name: value for name, value in task.items() if value is not None},
            agent=agent,
        )
        return Episode(self, new)

    def add_trajectory(self, run: NewTrajectory) -> TrajectoryStored:
        return self._server.write(
            "POST", "/v1/trajectories", TrajectoryStored, json_body(with_id(run))
        )

    def add_trajectories(
        self, runs: Iterable[Run | Mapping[str, Any]], *, namespace: str
    ) -> TrajectoriesAdded:
        """Stores runs in as many requests as they need. A list is checked whole before anything is
        sent; another iterable is read, checked and sent batch by batch. Where a later batch fails,
        the error's note says how many runs were stored before it."""
        batches = run_batches(runs, namespace)
        path = "/v1/trajectories/batch"
        receipts: list[TrajectoriesStored] = []
        try:
            for batch in list(batches) if isinstance(runs, Sequence) else batches:
                receipts.append(self._server.write("POST", path, TrajectoriesStored, batch.content))
        except MemserverError as error:
            stored = sum(len(receipt.ids) for receipt in receipts)
            if stored:
                error.add_note(f"The first {stored} runs of this call were stored.")
            raise
        return TrajectoriesAdded.merged(receipts)

    def import_trajectories(
        self, content: bytes, *, namespace: str, format: str = "jsonl"
    ) -> TrajectoriesStored:
        """A file as it is, `jsonl` or `alfworld-condensed`, up to the server's body limit."""
        return self._server.write(
            "POST",
            "/v1/trajectories/import",
            TrajectoriesStored,
            content,
            params={"namespace": namespace, "format": format},
            content_type="application/octet-stream",
        )

    def trajectories(
        self,
        *,
        namespace: str,
        task_type: str | None = None,
        environment: str | None = None,
        agent: str | None = None,
        success: bool | None = None,
    ) -> Iterator[Trajectory]:
        """All of them; each page is asked for when it is needed."""
        params = {
            "namespace": namespace,
            "task_type": task_type,
            "environment": environment,
            "agent": agent,
            "success": success,
        }
        return self._server.pages("/v1/trajectories", Page[Trajectory], params)

    def trajectory(self, id: Id) -> Trajectory:
        return self._server.get(f"/v1/trajectories/{id_of(id)}", Trajectory)

    def delete_trajectory(self, id: Id) -> Receipt:
        return self._server.write("DELETE", f"/v1/trajectories/{id_of(id)}", Receipt)

    # --- memories and skills -------------------------------------------------------------

    @overload
    def remember(
        self,
        text: str | None = None,
        *,
        namespace: str,
        kind: str = "note",
        title: str = "",
        body: Mapping[str, Any] | None = None,
        task_type: str | None = None,
        sources: Sequence[Source | Mapping[str, Any]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> ItemStored: ...

    @overload
    def remember(
        self,
        *,
        namespace: str,
        facts: Iterable[Fact],
        task_type: str | None = None,
        sources: Sequence[Source | Mapping[str, Any]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> list[ItemStored]: ...

    def remember(
        self,
        text: str | None = None,
        *,
        namespace: str,
        kind: str = "note",
        title: str = "",
        body: Mapping[str, Any] | None = None,
        facts: Iterable[Fact] | None = None,
        task_type: str | None = None,
        sources: Sequence[Source | Mapping[str, Any]] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
    ) -> ItemStored | list[ItemStored]:
        """Stores a `text`, a `body` of the shape that its kind has, or several `facts`, which are
        (entity, key, value) and answer one receipt each. What the namespace already holds is not
        stored twice; a new value for the same entity and key is a new version of that fact."""
        shared = {
            "namespace": namespace,
            "task_type": task_type,
            "sources": sources,
            "metadata": metadata,
            "valid_from": valid_from,
        }
        if [text, body, facts].count(None) != 2:
            raise invalid("Give exactly one of text, body and facts.")
        if facts is not None:
            told = [
                checked(NewMemory, **shared, kind="fact", body=each) for each in fact_bodies(facts)
            ]
            return [self._remember(memory) for memory in told]
        content = body if text is None else text_body(kind, text)
        if kind == "skill":
            return self._remember(checked(NewSkill, **shared, title=title, body=content))
        return self._remember(checked(NewMemory, **shared, title=title, kind=kind, body=content))

    def _remember(self, new: NewMemory | NewSkill) -> ItemStored:
        path = "/v1/skills" if isinstance(new, NewSkill) else "/v1/memories"
        return self._server.write("POST", path, ItemStored, json_body(new))

    def revise(self, id: Id, new: NewVersion) -> ItemStored:
        """A new version of an item, whose body keeps the shape of its kind."""
        path = f"/v1/memories/{id_of(id)}/versions"
        return self._server.write("POST", path, ItemStored, json_body(new))

    def items(
        self, *, namespace: str, kind: str | None = None, status: str | None = None
    ) -> Iterator[Item]:
        """All of them, of every kind; each page is asked for when it is needed."""
        params = {"namespace": namespace, "kind": kind, "status": status}
        return self._server.pages("/v1/memories", Page[Item], params)

    def item(self, id: Id) -> Item:
        return self._server.get(f"/v1/memories/{id_of(id)}", Item)

    def history(self, id: Id) -> History:
        return self._server.get(f"/v1/memories/{id_of(id)}/history", History)

    def delete_item(self, id: Id) -> Receipt:
        return self._server.write("DELETE", f"/v1/memories/{id_of(id)}", Receipt)

    # --- retrieve and feedback -----------------------------------------------------------

    def retrieve(
        self,
        query: str,
        *,
        namespace: str | Sequence[str],
        k: int = 10,
        budget_tokens: int | None = None,
        kinds: Sequence[str] | None = None,
        task_type: str | None = None,
        trajectory_id: Id | None = None,
        exclude_task: str | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> Retrieved:
        """What helps with `query`, best first: `.items`, and `.text` to put in a prompt.

        `namespace` may be several, and `path/**` reads a subtree. Name the run that asks as
        `trajectory_id` and its outcome is credited to what it was given. `filters` are conditions
        such as `{"kind": {"in": ["skill", "rule"]}}`.
        """
        one = isinstance(namespace, str)
        request = checked(
            RetrieveRequest,
            query=query,
            namespace=namespace if one else None,
            namespaces=None if one else list(namespace),
            k=k,
            budget_tokens=budget_tokens,
            kinds=kinds,
            task_type=task_type,
            trajectory_id=trajectory_id,
            exclude_task=exclude_task,
            filters=filters,
        )
        return self._server.ask("/v1/retrieve", Retrieved, json_body(request))

    def feedback(
        self,
        *,
        score: float,
        success: bool | None = None,
        trajectory_id: Id | None = None,
        retrieval_id: Id | None = None,
        source: str = "human",
        used: Sequence[Id] | None = None,
    ) -> FeedbackStored:
        """How a run, or what one retrieve gave, turned out. The same source's earlier feedback on
        it is replaced."""
        told = checked(
            Feedback,
            score=score,
            success=success,
            trajectory_id=trajectory_id,
            retrieval_id=retrieval_id,
            source=source,
            used=used,
        )
        return self._server.write("POST", "/v1/feedback", FeedbackStored, json_body(told))

    # --- long work -----------------------------------------------------------------------

    def distill(
        self,
        *,
        namespace: str,
        methods: Sequence[str] | None = None,
        wait: bool = False,
        timeout: float = WAIT_SECONDS,
        on_progress: OnProgress | None = None,
    ) -> Operation:
        """Turns a namespace's runs into skills, hints and rules, in one change a method: the
        report's `changes` lists them, `change_id` is the last. With `wait` it returns when that is
        done, and raises OperationFailed or, after `timeout` seconds, OperationTimeout."""
        request = checked(Distill, namespace=namespace, methods=methods)
        started = self._server.write("POST", "/v1/distill", Operation, json_body(request))
        return self.wait(started.id, timeout=timeout, on_progress=on_progress) if wait else started

    def consolidate(
        self,
        *,
        namespace: str,
        apply: bool = False,
        plan: Id | None = None,
        wait: bool = False,
        timeout: float = WAIT_SECONDS,
        on_progress: OnProgress | None = None,
    ) -> Operation:
        """Shrinks a namespace's bank. Without `apply` the operation's `.report` is a plan to read;
        with it `.change_id` is what `undo` takes back. `plan` applies that operation's plan."""
        request = checked(Consolidate, namespace=namespace, apply=apply, plan=plan)
        started = self._server.write("POST", "/v1/consolidate", Operation, json_body(request))
        return self.wait(started.id, timeout=timeout, on_progress=on_progress) if wait else started

    def reindex(
        self,
        *,
        wait: bool = False,
        timeout: float = WAIT_SECONDS,
        on_progress: OnProgress | None = None,
    ) -> Operation:
        """Rebuilds the index from the database while the server serves; the system key's right."""
        started = self._server.write("POST", "/v1/reindex", Operation)
        return self.wait(started.id, timeout=timeout, on_progress=on_progress) if wait else started

    def operation(self, id: Id) -> Operation:
        return self._server.get(f"/v1/operations/{id_of(id)}", Operation)

    def operations(self, *, state: str | None = None) -> Iterator[Operation]:
        return self._server.pages("/v1/operations", Page[Operation], {"state": state})

    def wait(
        self,
        id: Id,
        *,
        timeout: float = WAIT_SECONDS,
        on_progress: OnProgress | None = None,
    ) -> Operation:
        """The operation once it has succeeded; `on_progress` sees it each time it is asked for."""
        return await_operation(
            self._server, id, clock=self._clock, timeout=timeout, on_progress=on_progress
        )

    def cancel_operation(self, id: Id) -> Operation:
        path = f"/v1/operations/{id_of(id)}/cancel"
        return self._server.write("POST", path, Operation)

    def retry_operation(self, id: Id) -> Operation:
        path = f"/v1/operations/{id_of(id)}/retry"
        return self._server.write("POST", path, Operation)

    # --- the change log ------------------------------------------------------------------

    def undo(self, change_id: Id, reason: str = "") -> Undone:
        """Puts back all rows that the change touched; Conflict where a later change did too."""
        path = f"/v1/changes/{id_of(change_id)}/undo"
        return self._server.write("POST", path, Undone, params={"reason": reason or None})

    def changes(self, *, namespace: str, row: Id | None = None) -> Iterator[Change]:
        """The log of a namespace, or of one trajectory, item or version in it."""
        params = {"namespace": namespace, "row": None if row is None else str(id_of(row))}
        return self._server.pages("/v1/changes", Page[Change], params)

    def change(self, id: Id) -> ChangeDetail:
        return self._server.get(f"/v1/changes/{id_of(id)}", ChangeDetail)

    # --- namespaces and keys --------------------------------------------------------------

    def namespaces(self) -> Iterator[Namespace]:
        return self._server.pages("/v1/namespaces", Page[Namespace], {})

    def create_namespace(self, path: str) -> Namespace:
        new = checked(NewNamespace, path=path)
        return self._server.write("POST", "/v1/namespaces", Namespace, json_body(new))

    def keys(self) -> Iterator[Key]:
        return self._server.pages("/v1/keys", Page[Key], {})

    def create_key(
        self, *, role: str, grants: Sequence[str], tenant: str | None = None, label: str = ""
    ) -> KeyCreated:
        """The secret is in `.key`, this once. It is not asked for a second time after a lost
        answer, because a repeated answer leaves the secret out."""
        new = checked(NewKey, role=role, grants=list(grants), tenant=tenant, label=label)
        return self._server.write("POST", "/v1/keys", KeyCreated, json_body(new), repeatable=False)

    def revoke_key(self, id: Id) -> Key:
        return self._server.write("DELETE", f"/v1/keys/{id_of(id)}", Key)


def _setting(given: str | None, what: str, argument: str, variable: str) -> str:
    # A key that was read from a file often brings its line's end along.
    value = (os.environ.get(variable, "") if given is None else given).strip()
    if not value:
        raise NotConfigured(what, argument, variable)
    return value
