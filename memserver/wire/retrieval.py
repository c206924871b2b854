"""Retrieve: a task in, what helps it out."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from memserver.wire.base import Model, NamespacePattern, ShortText, Time
from memserver.wire.items import Belief, Kind, Source

RetrievedKind = Kind | Literal["trajectory"]
Kinds = Annotated[list[RetrievedKind], Field(min_length=1, max_length=20)]
MemoryClass = Literal["episodic", "semantic", "experiential"]
Quota = Annotated[int, Field(ge=0, le=100)]


class KindCondition(Model):
    eq: RetrievedKind | None = None
    in_: Annotated[Kinds | None, Field(alias="in")] = None

    @model_validator(mode="after")
    def names_one_operator(self) -> "KindCondition":
        if (self.eq is None) == (self.in_ is None):
            raise ValueError("give either eq or in")
        return self


class TextCondition(Model):
    eq: ShortText | None = None
    in_: Annotated[list[ShortText], Field(min_length=1, max_length=50)] | None = Field(
        default=None, alias="in"
    )

    @model_validator(mode="after")
    def names_one_operator(self) -> "TextCondition":
        if (self.eq is None) == (self.in_ is None):
            raise ValueError("give either eq or in")
        return self


class TimeCondition(Model):
    gte: Time | None = None
    lt: Time | None = None

    @model_validator(mode="after")
    def names_an_operator(self) -> "TimeCondition":
        if self.gte is None and self.lt is None:
            raise ValueError("give gte or lt")
        return self


class Filters(Model):
    """Conditions that a hit must meet, all of them. Other fields and operators are refused."""

    kind: KindCondition | None = None
    task_type: TextCondition | None = None
    created_at: TimeCondition | None = None


class Between(Model):
    """The moments from `from` up to, and without, `to`."""

    from_: Annotated[Time, Field(alias="from")]
    to: Time

    @model_validator(mode="after")
    def begins_before_it_ends(self) -> "Between":
        if self.from_ >= self.to:
            raise ValueError("from must lie before to")
        return self


class RetrieveRequest(Model):
    """What is asked. Name one `namespace` or several `namespaces`; `path/**` reads a subtree.

    `trajectory_id` is the run that asks: it and what was derived only from it stay out, and its
    outcome is credited to what is packed. `exclude_task` (for evaluation) is a goal or template
    id whose runs, and what was derived only from them, stay out too. `vector` replaces the
    encoding of the query by one made before with the server's own encoder.

    `as_of` asks for what held at that moment, `between` for all that held at some time in it, and
    `known_at` for what was in the records at that moment, as it stood there; `as_of` is that
    moment too where neither other is given. The past is answered by its own text; items that were
    deleted or merged since do not come back.

    `preset` names the searches and the ranking (`default`, `recall`, `dense`, `bm25`, `rrf`,
    `recent`, `mixed`). `k` is how many items at most: 10, or 16 with `mixed`, where it is left
    out. `quotas` says how many of a kind at most; kinds that it does not name are not limited.
    `neighbours` asks for so many turns on either side of each turn. `unseal` asks for what privacy
    took out of texts, which the key must be allowed to see; the budget counts what stands there.
    """

    query: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    namespace: NamespacePattern | None = None
    namespaces: Annotated[list[NamespacePattern], Field(max_length=50)] | None = None
    k: Annotated[int, Field(ge=1, le=100)] | None = None
    budget_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    kinds: Kinds | None = None
    task_type: ShortText | None = None
    trajectory_id: UUID | None = None
    exclude_task: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    filters: Filters | None = None
    vector: Annotated[list[float], Field(min_length=1, max_length=65_536)] | None = None
    as_of: Time | None = None
    known_at: Time | None = None
    between: Between | None = None
    preset: ShortText = "default"
    quotas: dict[RetrievedKind, Quota] | None = None
    neighbours: Annotated[int, Field(ge=0, le=10)] = 0
    unseal: bool = False

    @model_validator(mode="before")
    @classmethod
    def names_its_namespaces(cls, data: Any) -> Any:
        if isinstance(data, dict) and not (data.get("namespace") or data.get("namespaces")):
            raise ValueError("name a namespace, or several namespaces")
        return data

    @model_validator(mode="after")
    def asks_about_one_time(self) -> "RetrieveRequest":
        if self.as_of is not None and self.between is not None:
            raise ValueError("give either as_of or between")
        return self

    @model_validator(mode="after")
    def asks_for_some_kind(self) -> "RetrieveRequest":
        wanted = self.filters and self.filters.kind
        if self.kinds and wanted and not {wanted.eq, *(wanted.in_ or ())} & {*self.kinds}:
            raise ValueError("kinds and filters.kind have no kind in common")
        return self


class ArmHit(Model):
    rank: int
    score: float


class TurnPlace(Model):
    """Where in a conversation a turn was said: its place in the session, from 0."""

    session: UUID
    ordinal: int
    speaker: str


class Neighbour(Model):
    """A turn that was said `offset` places after an item, before it where that is negative."""

    id: UUID
    version_id: UUID
    offset: int
    title: str
    text: str
    turn: TurnPlace


class RetrievedItem(Model):
    """One thing that may help. `id` is an item's or, for the kind `trajectory`, a run's.

    `why` is a sentence; `arms` says which searches found it, at which rank and raw score
    (cosine, or BM25); `score` is the fused one that ordered the list, comparable only within
    it. `grounded` says that a skill's slots were filled from the query. It holds from
    `valid_from` up to `valid_to` (null: no end is known), and is recorded since `recorded_at`; a
    run holds from its own time on.
    """

    id: UUID
    version_id: UUID
    namespace: str
    kind: str
    title: str
    text: str
    score: float
    why: str
    arms: dict[str, ArmHit]
    memory: MemoryClass
    belief: Belief
    sources: list[Source]
    valid_from: AwareDatetime
    valid_to: AwareDatetime | None
    recorded_at: AwareDatetime
    tokens: int
    grounded: bool = False
    truncated: bool = False
    turn: TurnPlace | None = None
    neighbours: list[Neighbour] = []


class Retrieved(Model):
    """`text` is all items as one block for a prompt; `tokens` counts it by `token_counter`.
    `left_out` counts candidates by the gate that refused them. `policy` names what ranked them,
    `explored` says that places were left to chance (see `/v1/namespaces/exploration`)."""

    retrieval_id: UUID
    items: list[RetrievedItem]
    text: str
    tokens: int
    token_counter: str
    budget_tokens: int | None
    policy: str
    explored: bool = False
    preset: str = "default"
    left_out: dict[str, int]
