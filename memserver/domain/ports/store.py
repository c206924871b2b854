"""The SQL store. Reads are scoped; content is written only by applying a `Draft`."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Protocol, TypeVar
from uuid import UUID

from memserver.domain.backups import Manifest
from memserver.domain.changes import Change, Draft, RowChange, RowRef
from memserver.domain.decisions import Decision
from memserver.domain.evidence import Belief, Evidence
from memserver.domain.items import Entry, Kind, Status, Version
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.operations import Operation, State
from memserver.domain.policies import Exploration, Policy, PolicyRole, ScoredRun
from memserver.domain.ports.arms import ArmReader
from memserver.domain.ports.corpus import CorpusReader
from memserver.domain.ports.entities import EntityReader
from memserver.domain.ports.index import NEVER
from memserver.domain.ports.keeping import KeepingReader
from memserver.domain.ports.library import LibraryReader
from memserver.domain.ports.model_use import ModelUseReads, ModelUseWrites
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.practice import PracticeReader, PracticeWriter
from memserver.domain.ports.privacy import (
    Compacted,
    PrivacyReader,
    PrivacyWriter,
    Protector,
    VectorNames,
)
from memserver.domain.ports.sessions import SessionReader, SessionWriter
from memserver.domain.scope import Key, Namespace, Scope, Tenant
from memserver.domain.times import TimeFrame
from memserver.domain.trajectories import Outcome, Task, Trajectory

T = TypeVar("T")
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class TrajectoryFilter:
    """`namespaces` are exact ids that were resolved before; empty means none."""

    namespaces: tuple[int, ...]
    task_type: str | None = None
    environment: str | None = None
    agent: str | None = None
    success: bool | None = None


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """`namespaces` as above; empty `kinds` or `statuses` means any. With `live_at` those stay out
    that have expired by then."""

    namespaces: tuple[int, ...]
    kinds: tuple[Kind, ...] = ()
    statuses: tuple[Status, ...] = ()
    live_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Decisions of one verb that a namespace's policy made, from `since` on; `explored` None means
    both."""

    namespace_id: int
    since: datetime | None = None
    explored: bool | None = None
    verb: str = "retrieve"


@dataclass(frozen=True, slots=True)
class RunBrief:
    """A run without its steps: what was to be done, by whom, and what came of it."""

    id: UUID
    task: Task
    outcome: Outcome | None
    used: tuple[UUID, ...] | None
    sender: UUID | None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Serving:
    """What decides in a namespace and role right now: the policies in use (canary, active and
    shadows, newest first) and how it explores, None where that was never set."""

    policies: tuple[Policy, ...]
    exploration: Exploration | None


@dataclass(frozen=True, slots=True)
class Once:
    """An idempotency key with the hash of the body that it came with."""

    tenant: UUID
    route: str
    key: str
    body_hash: str


@dataclass(frozen=True, slots=True)
class StoredReply:
    status: int
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A change as the indexer sees it: which rows it touched, whoever owns them."""

    position: int
    tenant: UUID
    refs: tuple[RowRef, ...]


PAST = "past"
"""The status of a document that held once and no longer does: an earlier version of an active
item, or its last one where that has ended. Any other has the status of its item."""


@dataclass(frozen=True, slots=True)
class Document:
    """What the index should hold of one item version or trajectory: its `text` and, where it has
    one, its `context` in a view of its own. A document that is not `live` must not be in the
    index. Times are Unix seconds, as in a `Point`."""

    id: UUID
    item: UUID
    tenant: UUID
    namespace_id: int
    kind: str
    status: str
    task_type: str
    created: int
    text: str
    live: bool
    context: str = ""
    valid_from: int = 0
    valid_to: int = NEVER
    recorded: int = 0
    closed: int = NEVER


class Reader(
    ArmReader,
    EntityReader,
    KeepingReader,
    LibraryReader,
    ModelUseReads,
    PracticeReader,
    PrivacyReader,
    SessionReader,
    CorpusReader,
    Protocol,
):
    """A consistent view. Methods that take a `scope` see only what its grants reach: rows
    outside are as if they were not there. Filtering happens in SQL, by namespace id."""

    # access
    def key_by_digest(self, digest: str) -> Key | None: ...
    def has_keys(self) -> bool: ...
    def tenant(self, name: str) -> Tenant | None: ...
    def tenant_by_id(self, tenant_id: UUID) -> Tenant:
        """Raises KeyError where there is none: every key has a tenant."""

    def keys(self, scope: Scope, page: PageRequest) -> Page[Key]: ...
    def key(self, scope: Scope, key_id: UUID) -> Key | None: ...
    def namespace(self, scope: Scope, path: str) -> Namespace | None: ...
    def namespaces_under(self, scope: Scope, pattern: str) -> tuple[Namespace, ...]:
        """What exists and is covered both by `pattern` and by the scope's grants."""

    def namespaces(self, scope: Scope, page: PageRequest) -> Page[Namespace]: ...

    # content
    def trajectory(self, scope: Scope, trajectory_id: UUID) -> Trajectory | None: ...
    def trajectories_by_id(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Trajectory]: ...
    def first_recorded(self, scope: Scope, runs: Sequence[UUID]) -> dict[UUID, datetime]:
        """Since when each run is stored, whatever time its sender gave it."""

    def trajectories(
        self, scope: Scope, where: TrajectoryFilter, page: PageRequest
    ) -> Page[Trajectory]: ...
    def trajectories_of_task(self, scope: Scope, goal_or_template: str) -> frozenset[UUID]:
        """Ids of the runs whose normal goal or template id is the given one, and of their
        siblings by template id."""

    def item(self, scope: Scope, item_id: UUID) -> Entry | None:
        """The item with its head version."""

    def items(self, scope: Scope, where: ItemFilter, page: PageRequest) -> Page[Entry]: ...
    def items_held(
        self, scope: Scope, where: ItemFilter, frame: TimeFrame, page: PageRequest
    ) -> Page[Entry]:
        """As `items`, of those with a version that the frame admits, each with its latest such.
        A page may be shorter than was asked for."""

    def as_known(
        self, scope: Scope, versions: Sequence[Version], known_at: datetime
    ) -> tuple[Version, ...]:
        """Those recorded by `known_at`, with the ends that stood in the records then."""

    def items_by_id(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Entry]: ...
    def items_by_content(
        self, scope: Scope, namespace: Namespace, kind: Kind, content_hash: str
    ) -> tuple[Entry, ...]:
        """Active items whose head has this content, oldest first."""

    def entries_by_version(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Entry]:
        """For each visible version id its item together with that version."""

    def versions(self, scope: Scope, item_id: UUID) -> tuple[Version, ...]:
        """All versions of a visible item, newest first."""

    def versions_of(self, scope: Scope, items: Sequence[UUID]) -> dict[UUID, tuple[Version, ...]]:
        """The same for many items; nothing for one that is not visible."""

    def facts_about(
        self, scope: Scope, namespace: Namespace, entities: Sequence[str]
    ) -> tuple[Entry, ...]:
        """Heads of the active facts about these entities, in any spelling of the same normal
        form, oldest first."""

    def turns(
        self, scope: Scope, namespace: Namespace, session: UUID, *, first: int, last: int
    ) -> tuple[Entry, ...]:
        """Heads of a session's active turns from place `first` to `last`, both included, in
        order: the notes that keep what was said, not the facts that were drawn from it."""

    def last_turn(self, scope: Scope, namespace: Namespace, session: UUID) -> int | None:
        """The highest place in a session that any turn ever had there, also one that is gone."""

    def merged_into(self, scope: Scope, versions: Sequence[UUID]) -> tuple[Entry, ...]:
        """Heads of the items that were merged into these versions, oldest first."""

    def beliefs(self, scope: Scope, versions: Sequence[UUID]) -> dict[UUID, tuple[Belief, ...]]:
        """The beliefs of each version, one a context; nothing for a version without any."""

    def evidence(self, scope: Scope, subject: UUID) -> tuple[Evidence, ...]: ...
    def evidence_of_cause(self, scope: Scope, cause: UUID) -> tuple[Evidence, ...]:
        """What a trajectory or a retrieval led to, in the order in which it was recorded."""

    def evidence_of_causes(
        self, scope: Scope, causes: Sequence[UUID]
    ) -> dict[UUID, tuple[Evidence, ...]]:
        """The same for many; nothing for a cause that led to nothing."""

    def decision(self, scope: Scope, decision_id: UUID) -> Decision | None: ...
    def decisions_of_trajectory(
        self, scope: Scope, trajectory_id: UUID
    ) -> tuple[Decision, ...]: ...
    def decisions(
        self, scope: Scope, where: DecisionFilter, page: PageRequest, *, newest_first: bool = False
    ) -> Page[Decision]:
        """In order of time. Decisions that read a namespace outside the scope are left out."""

    def runs_in_brief(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, RunBrief]: ...

    # settings
    def namespace_settings(self, namespace: Namespace) -> NamespaceSettings:
        """As they were set, or the defaults. Not bound to a caller's grants: they hold for
        whoever writes or reads there."""

    def namespaces_with_settings(self) -> tuple[NamespaceSettings, ...]:
        """Those of all tenants for which something was set."""

    # policies
    def policy(self, scope: Scope, policy_id: UUID) -> Policy | None: ...
    def policies(self, scope: Scope, namespaces: Sequence[int], page: PageRequest) -> Page[Policy]:
        """Newest first."""

    def serving(self, namespace: Namespace, role: PolicyRole) -> Serving:
        """Not bound to a caller's grants: whoever may ask is served by what is active."""

    def policy_weights(self, weights_hash: str) -> bytes | None: ...
    def scored_runs(
        self, namespace: Namespace, *, since: datetime, limit: int
    ) -> tuple[ScoredRun, ...]:
        """The newest `limit` runs (and retrieves without a run) that the namespace's policies
        served from `since` on and whose outcome is known, oldest first, each once. A run counts
        for what its own sender asked, and not by what an agent says of itself."""

    def namespaces_with_policies(self) -> tuple[Namespace, ...]:
        """Those of all tenants that have a canary or an active learned policy."""

    # the log
    def change(self, scope: Scope, change_id: UUID) -> Change | None:
        """Visible where at least one of its rows lies in the scope's reach."""

    def changes(
        self, scope: Scope, namespaces: Sequence[int], page: PageRequest, row: UUID | None = None
    ) -> Page[Change]:
        """Newest first; those that touched `row`, or an item's version, where it is given."""

    def row_changes(self, scope: Scope, change_id: UUID, page: PageRequest) -> Page[RowChange]: ...

    # operations
    def operation(self, scope: Scope, operation_id: UUID) -> Operation | None: ...
    def operations(
        self, scope: Scope, states: Sequence[State], page: PageRequest
    ) -> Page[Operation]: ...

    # the server's own work: not bound to one caller
    def any_operation(self, operation_id: UUID) -> Operation | None: ...
    def unfinished_operations(self) -> tuple[Operation, ...]:
        """Every operation that has not ended, oldest first."""

    def feed(self, after: int, limit: int) -> tuple[FeedEntry, ...]:
        """Changes with a position above `after`, in order, at most `limit` of them."""

    def head_position(self) -> int:
        """The newest change's position, 0 where there is none."""

    def documents(self, tenant: UUID, refs: Sequence[RowRef]) -> tuple[Document, ...]:
        """What the index should now hold for these rows: for an item or version, all the
        versions of that item (live if it is active); for a trajectory, itself;
        for a row that is gone, a document that is not live."""

    def live_documents(self, after: tuple[str, UUID] | None, limit: int) -> tuple[Document, ...]:
        """All live documents of all tenants, paged by (table, id)."""

    def vectors(self, hashes: Sequence[str], fingerprint: str) -> dict[str, bytes]:
        """Kept float32 vectors by the SHA-256 of the window's text."""

    def mark(self, name: str) -> tuple[int, str] | None:
        """A projection's position and the fingerprint it was built with."""


class Writer(Reader, ModelUseWrites, PracticeWriter, PrivacyWriter, SessionWriter, Protocol):
    """One transaction: all of it or none. Sees its own writes."""

    def apply(self, draft: Draft) -> Change:
        """Writes content and logs it. Evidence gets its `seq`, and the beliefs of every subject
        touched are folded again, over the items merged into it as well. Rows must be of the
        draft's tenant. An empty draft gives a change with no rows. Raises `LibraryFrozen` where
        it would change a skill of a frozen namespace."""

    def undo(self, scope: Scope, change_id: UUID, reason: str) -> Change:
        """Puts back the rows that the change touched. Raises `ChangeNotFound` (also where a row
        lies outside the scope), `AlreadyUndone`, `UndoConflict`, `LibraryFrozen`."""

    def replay(self, once: Once) -> StoredReply | None:
        """The reply stored under the key within 24 h; `IdempotencyConflict` for another body."""

    def store_reply(self, once: Once, reply: StoredReply) -> None: ...

    # plain rows
    def add_tenant(self, tenant: Tenant) -> None: ...
    def add_key(self, key: Key) -> None: ...
    def revoke_key(self, key_id: UUID, tenant: UUID) -> None: ...
    def ensure_namespace(self, tenant: UUID, path: str) -> Namespace: ...
    def add_decision(self, decision: Decision) -> None: ...
    def add_decisions(self, decisions: Sequence[Decision]) -> None: ...
    def prune_decisions(self, *, before: datetime, most: int, limit: int) -> int:
        """Forgets decisions made before then, and a tenant's oldest past the `most` that it may
        keep; at most `limit` at a time. How many went."""

    def put_policy_weights(self, weights_hash: str, data: bytes) -> None: ...
    def put_operation(self, operation: Operation) -> None:
        """Insert or overwrite."""

    def lock_operation(self, operation_id: UUID) -> Operation | None:
        """As `any_operation`, locked against other writers until the end."""

    def put_vectors(self, fingerprint: str, vectors: dict[str, bytes]) -> None: ...
    def set_mark(self, name: str, position: int, fingerprint: str) -> None: ...


class Readable(Protocol):
    """What those need who only look."""

    def reading(self) -> AbstractContextManager[Reader]: ...


class Store(Readable, Protocol):
    """Owns connections. Safe for use by many threads."""

    def write(self, work: Callable[[Writer], T]) -> T:
        """Runs `work` in one transaction and returns once it is durable. `work` must be short,
        must not call the store again, and may be run again after a serialisation failure.
        What it raises is raised here, and then nothing of it is stored."""

    def write_later(self, work: Callable[[Writer], None]) -> None:
        """Queues `work`; it is committed before any write that this process asks for after it.
        A crash may lose it; a failure is logged. Drops (and counts) when the queue is full."""

    @property
    def dropped(self) -> int:
        """How many queued works were dropped or failed since the start."""

    def dump(self, into: BinaryIO) -> Manifest:
        """Writes an archive of everything, as it is at one moment, while others read and write."""

    def load(
        self,
        archive: BinaryIO,
        manifest: Manifest,
        *,
        replace: bool,
        check: Callable[[Reader], None],
        vector_names: VectorNames,
    ) -> int:
        """Puts a checked archive in place of everything, in one transaction, and forgets what was
        read before. Marks of projections are set back to 0. Whoever was erased after the archive
        was made is erased from it before anyone can read it; how many. `check` may refuse what
        was loaded. Raises `BackupMismatch`, `OperationsUnfinished`, `InvalidBackup`, and
        `HoldsContent` without `replace`."""

    def protect_with(self, protector: Protector) -> None:
        """From now on nothing is stored that it takes out."""

    def compact(self) -> Compacted:
        """Gives back the space of what was deleted, so that its bytes are gone from the files."""

    def close(self) -> None: ...
