"""What helps with a task, and how it turned out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memserver.wire.grep import Grepped, GrepRequest
from memserver.wire.retrieval import Filters, Retrieved, RetrieveRequest
from memserver.wire.trajectories import Feedback, FeedbackStored
from memserver_client._call import Call, ask, write
from memserver_client._requests import Id, checked


def retrieve(
    query: str,
    *,
    namespace: str | Sequence[str],
    k: int | None = None,
    budget_tokens: int | None = None,
    kinds: Sequence[str] | None = None,
    task_type: str | None = None,
    trajectory_id: Id | None = None,
    exclude_task: str | None = None,
    filters: Filters | Mapping[str, Any] | None = None,
    preset: str | None = None,
    quotas: Mapping[str, int] | None = None,
    neighbours: int | None = None,
    unseal: bool | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    between: tuple[datetime, datetime] | None = None,
) -> Call[Retrieved]:
    """What helps with `query`, best first: `.items`, and `.text` to put in a prompt.

    `namespace` may be several, and `path/**` reads a subtree. Name the run that asks as
    `trajectory_id` and its outcome is credited to what it was given. `filters` are conditions
    such as `{"kind": {"in": ["skill", "rule"]}}`. `preset` names how to search and rank, `quotas`
    how many of a kind at most, `neighbours` how many turns on either side come with a turn.
    `unseal` asks for what privacy took out of texts.

    `as_of` asks for what held at that moment, `between` for all that held at some time from the
    first moment up to the second, and `known_at` for what was in the records then; that alone
    asks for what held then, too. Times say their offset.
    """
    one = isinstance(namespace, str)
    question = checked(
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
        preset=preset,
        quotas=quotas,
        neighbours=neighbours,
        unseal=unseal,
        as_of=as_of,
        known_at=known_at,
        between=None if between is None else {"from": between[0], "to": between[1]},
    )
    return ask("/v1/retrieve", Retrieved, question)


def grep(
    pattern: str,
    *,
    namespace: str | Sequence[str],
    literal: bool = False,
    ignore_case: bool = False,
    kinds: Sequence[str] | None = None,
    before: int = 0,
    after: int = 0,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Grepped]:
    """Lines of stored texts that match a regular expression of RE2, or a `literal`: `.rows`, each
    with `before` and `after` so many lines around it.

    `kinds` are those of items, `trajectory` and `session`; what was said in [`since`, `until`) is
    searched. Give `.next_cursor` as `cursor` to go on, also where `.truncated` says that time ran
    out.
    """
    one = isinstance(namespace, str)
    asked = {
        "pattern": pattern,
        "namespace": namespace if one else None,
        "namespaces": None if one else list(namespace),
        "literal": literal,
        "ignore_case": ignore_case,
        "kinds": kinds,
        "before": before,
        "after": after,
        "from": since,
        "to": until,
        "limit": limit,
        "cursor": cursor,
    }
    return ask("/v1/grep", Grepped, checked(GrepRequest, **asked))


def feedback(
    *,
    score: float,
    success: bool | None = None,
    trajectory_id: Id | None = None,
    retrieval_id: Id | None = None,
    source: str = "human",
    used: Sequence[Id] | None = None,
) -> Call[FeedbackStored]:
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
    return write("POST", "/v1/feedback", FeedbackStored, told)
