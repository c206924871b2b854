"""`Memory`: one method for each thing that the server does."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

import httpx

from memserver.wire.items import ItemStored, Source
from memserver.wire.writing import Message, Remembered
from memserver_client import _calls as calls
from memserver_client._account import account
from memserver_client._call import Call, Download, Lines, Listing, Steps
from memserver_client._episode import Episode, new_run
from memserver_client._methods import describes
from memserver_client._requests import Fact, Id
from memserver_client._session import Session
from memserver_client._transport import Clock, Connection

P = ParamSpec("P")
R = TypeVar("R")


def _asks(description: Callable[P, Call[R] | Steps[R]]) -> Callable[Concatenate["Memory", P], R]:
    @describes(description)
    def method(self: "Memory", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._server.perform(description(*args, **kwargs))

    return method


def _lists(
    description: Callable[P, Listing[R] | Lines[R]],
) -> Callable[Concatenate["Memory", P], Iterator[R]]:
    @describes(description, many=Iterator)
    def method(self: "Memory", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        return self._server.rows(description(*args, **kwargs))

    return method


def _saves(
    description: Callable[P, Download],
) -> Callable[Concatenate["Memory", P], int]:
    @describes(description, answer=int)
    def method(self: "Memory", /, *args: P.args, **kwargs: P.kwargs) -> int:
        return self._server.save(description(*args, **kwargs))

    return method


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
        self._server = Connection(
            account(url, api_key),
            timeout=timeout,
            retries=retries,
            transport=transport,
            clock=clock or Clock(),
        )

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
        """Gives the connections back; once is enough, and more does no harm."""
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
        subject: str | None = None,
    ) -> Episode:
        """One run, recorded in a with-block and sent when the block ends."""
        task = {"goal": goal, "type": type, "environment": environment, "template_id": template_id}
        return Episode(
            self._server, new_run(task, namespace=namespace, agent=agent, subject=subject)
        )

    add_trajectory = _asks(calls.runs.add_trajectory)
    add_trajectories = _asks(calls.runs.add_trajectories)
    import_trajectories = _asks(calls.runs.import_trajectories)
    trajectories = _lists(calls.runs.trajectories)
    trajectory = _asks(calls.runs.trajectory)
    delete_trajectory = _asks(calls.runs.delete_trajectory)

    # --- memories and skills -------------------------------------------------------------

    @overload
    def remember(
        self,
        text: str | None = None,
        *,
        namespace: str,
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        facts: Iterable[Fact] | None = None,
        valid_from: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        subject: str | None = None,
        session: Id | None = None,
        keep_turns: bool = True,
        at: datetime | None = None,
        time_zone: str | None = None,
        expires_at: datetime | None = None,
    ) -> Remembered: ...

    @overload
    def remember(
        self,
        text: str,
        *,
        namespace: str,
        kind: str,
        title: str = "",
        task_type: str | None = None,
        sources: Sequence[Source | Mapping[str, Any]] | None = None,
        valid_from: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        subject: str | None = None,
    ) -> ItemStored: ...

    @overload
    def remember(
        self,
        *,
        namespace: str,
        body: Mapping[str, Any],
        kind: str = "note",
        title: str = "",
        task_type: str | None = None,
        sources: Sequence[Source | Mapping[str, Any]] | None = None,
        valid_from: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        subject: str | None = None,
    ) -> ItemStored: ...

    @describes(calls.memories.remember)
    def remember(self, text: str | None = None, **told: Any) -> Any:
        return self._server.perform(calls.memories.remember(text, **told))

    revise = _asks(calls.memories.revise)
    items = _lists(calls.memories.items)
    item = _asks(calls.memories.item)
    history = _asks(calls.memories.history)
    provenance = _asks(calls.memories.provenance)
    restore = _asks(calls.memories.restore)
    entities = _lists(calls.entities.entities)
    around = _asks(calls.entities.around)
    delete_item = _asks(calls.memories.delete_item)

    # --- retrieve and feedback -----------------------------------------------------------

    retrieve = _asks(calls.retrieval.retrieve)
    grep = _asks(calls.retrieval.grep)
    feedback = _asks(calls.retrieval.feedback)
    guide = _asks(calls.learned.guide)
    similar_cases = _asks(calls.learned.similar_cases)

    # --- preferences -----------------------------------------------------------------------

    edited = _asks(calls.preferences.edited)
    preferences = _asks(calls.preferences.preferences)
    model_usage = _asks(calls.preferences.model_usage)

    # --- guardrails ------------------------------------------------------------------------

    report_harm = _asks(calls.guardrails.report_harm)
    report_fine = _asks(calls.guardrails.report_fine)
    check_action = _asks(calls.guardrails.check_action)

    # --- sessions and tools --------------------------------------------------------------

    def session(
        self,
        *,
        namespace: str,
        id: Id | None = None,
        agent: str | None = None,
        subject: str | None = None,
        ends: bool = True,
    ) -> Session:
        """One conversation or run, whose working memory the server keeps; `id` goes on with one
        that was begun before. In a with-block it ends with the block, unless `ends` is false."""
        return Session(
            self._server, namespace=namespace, id=id, agent=agent, subject=subject, ends=ends
        )

    add_events = _asks(calls.sessions.add_events)
    sessions = _lists(calls.sessions.sessions)
    session_details = _asks(calls.sessions.session_details)
    session_events = _lists(calls.sessions.session_events)
    session_state = _asks(calls.sessions.session_state)
    check_call = _asks(calls.sessions.check_call)
    end_session = _asks(calls.sessions.end_session)
    delete_session = _asks(calls.sessions.delete_session)
    tools = _asks(calls.tools.tools)
    call_tool = _asks(calls.tools.call_tool)

    # --- the library ---------------------------------------------------------------------

    worth = _asks(calls.library.worth)
    run_credit = _asks(calls.library.run_credit)
    route = _asks(calls.library.route)
    portfolio = _asks(calls.library.portfolio)
    evolve = _asks(calls.library.evolve)
    convergence = _asks(calls.library.convergence)
    propose_practice = _asks(calls.practice.propose_practice)
    validate_practice = _asks(calls.practice.validate_practice)
    practice = _lists(calls.practice.practice)

    # --- skills in and out ---------------------------------------------------------------

    import_skills = _asks(calls.skills.import_skills)
    export_skill = _saves(calls.skills.export_skill)
    export_skills = _saves(calls.skills.export_skills)
    skill_card = _asks(calls.skills.skill_card)
    promote = _asks(calls.skills.promote)
    quarantine = _asks(calls.skills.quarantine)

    # --- long work -----------------------------------------------------------------------

    distill = _asks(calls.long_work.distill)
    consolidate = _asks(calls.long_work.consolidate)
    reindex = _asks(calls.long_work.reindex)
    erase = _asks(calls.erasures.erase)
    erasures = _lists(calls.erasures.erasures)
    operation = _asks(calls.long_work.operation)
    operations = _lists(calls.long_work.operations)
    wait = _asks(calls.long_work.wait)
    cancel_operation = _asks(calls.long_work.cancel_operation)
    retry_operation = _asks(calls.long_work.retry_operation)

    # --- policies ------------------------------------------------------------------------

    register_policy = _asks(calls.policies.register_policy)
    policies = _lists(calls.policies.policies)
    policy = _asks(calls.policies.policy)
    policy_status = _asks(calls.policies.policy_status)
    evaluate_policy = _asks(calls.policies.evaluate_policy)
    shadow_policy = _asks(calls.policies.shadow_policy)
    canary_policy = _asks(calls.policies.canary_policy)
    promote_policy = _asks(calls.policies.promote_policy)
    retire_policy = _asks(calls.policies.retire_policy)
    roll_back_policy = _asks(calls.policies.roll_back_policy)
    exploration = _asks(calls.policies.exploration)
    explore = _asks(calls.policies.explore)
    decision = _asks(calls.policies.decision)

    # --- exports -------------------------------------------------------------------------

    export_decisions = _lists(calls.exports.export_decisions)
    export_vectors = _lists(calls.exports.export_vectors)
    export_trajectories = _lists(calls.exports.export_trajectories)
    export_items = _lists(calls.exports.export_items)

    # --- the change log ------------------------------------------------------------------

    undo = _asks(calls.history.undo)
    changes = _lists(calls.history.changes)
    change = _asks(calls.history.change)

    # --- namespaces and keys -------------------------------------------------------------

    namespaces = _lists(calls.access.namespaces)
    create_namespace = _asks(calls.access.create_namespace)
    namespace_settings = _asks(calls.access.namespace_settings)
    set_namespace_settings = _asks(calls.access.set_namespace_settings)
    keys = _lists(calls.access.keys)
    create_key = _asks(calls.access.create_key)
    revoke_key = _asks(calls.access.revoke_key)
