"""A small world for tests of the store: a clock to turn, tenants, and rows that are quick to
make."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from memserver.domain.changes import Change, Draft, Row, RowRef, Table, Verb
from memserver.domain.decisions import Considered, Decision
from memserver.domain.evidence import Belief, Event, Evidence, fold
from memserver.domain.items import Body, Entry, Item, Kind, Status, TextBody, Version
from memserver.domain.operations import Operation, State
from memserver.domain.policies import (
    BUILT_IN,
    Exploration,
    Policy,
    PolicyRole,
    PolicyState,
    exploration_id,
)
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.store import ItemFilter, Reader, Store
from memserver.domain.scope import Namespace, Role, Scope, Tenant
from memserver.domain.trajectories import Outcome, Step, Task, Trajectory

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


@dataclass
class World:
    """One tenant of a store, and what a test does with it."""

    store: Store
    clock: Clock
    tenant: Tenant = field(default_factory=lambda: _new_tenant())
    actor: UUID = field(default_factory=uuid4)

    def __post_init__(self) -> None:
        with self.store.reading() as reader:
            known = reader.tenant(self.tenant.name) is not None
        if not known:
            self.store.write(lambda tx: tx.add_tenant(self.tenant))

    def another(self) -> "World":
        """Another tenant of the same store."""
        return World(self.store, self.clock)

    def scope(self, *grants: str, role: Role = Role.ADMIN) -> Scope:
        """Reaches everything unless grants are named."""
        return Scope(self.tenant.id, self.actor, role, grants or ("**",))

    def namespace(self, path: str = "team") -> Namespace:
        return self.store.write(lambda tx: tx.ensure_namespace(self.tenant.id, path))

    def apply(self, *rows: Row, deletes: tuple[RowRef, ...] = ()) -> Change:
        return self.store.write(lambda tx: tx.apply(self.draft(*rows, deletes=deletes)))

    def draft(self, *rows: Row, deletes: tuple[RowRef, ...] = ()) -> Draft:
        return Draft(self.tenant.id, Verb.REMEMBER, self.actor, "a test", rows, deletes)

    def undo(self, change: Change, scope: Scope | None = None) -> Change:
        wide = scope or self.scope()
        return self.store.write(lambda tx: tx.undo(wide, change.id, "a test"))

    def item(self, entry_id: UUID) -> Entry | None:
        with self.store.reading() as reader:
            return reader.item(self.scope(), entry_id)

    def beliefs(self, version: UUID) -> dict[str, Belief]:
        with self.store.reading() as reader:
            found = reader.beliefs(self.scope(), [version]).get(version, ())
        return {belief.context: belief for belief in found}

    # --- rows, not yet stored

    def entry(
        self,
        namespace: Namespace,
        text: str = "a note",
        *,
        kind: Kind = Kind.NOTE,
        body: Body | None = None,
        **of_version: Any,
    ) -> Entry:
        item_id, version_id = uuid4(), uuid4()
        version = Version(
            id=version_id,
            item_id=item_id,
            namespace=namespace,
            number=1,
            title=text,
            body=body or TextBody(text),
            valid_from=self.clock.now,
            recorded_at=self.clock.now,
            **of_version,
        )
        item = Item(
            id=item_id,
            namespace=namespace,
            kind=kind,
            title=text,
            status=Status.ACTIVE,
            head=version_id,
            created_at=self.clock.now,
        )
        return Entry(item, version)

    def run(
        self, namespace: Namespace, goal: str = "put a mug on a desk", **of_task: Any
    ) -> Trajectory:
        return Trajectory(
            id=uuid4(),
            namespace=namespace,
            task=Task(goal, **of_task),
            agent="tester",
            steps=(Step("a desk", "put mug"), Step(reward=1.0)),
            outcome=Outcome(1.0, True),
            used=None,
            created_at=self.clock.now,
        )

    def evidence(
        self, entry: Entry, value: float = 1.0, weight: float = 1.0, **more: Any
    ) -> Evidence:
        return Evidence(
            id=uuid4(),
            namespace=entry.version.namespace,
            subject=entry.version.id,
            event=more.pop("event", Event.OUTCOME),
            value=value,
            weight=weight,
            recorded_at=self.clock.now,
            **more,
        )

    def decision(self, *namespaces: Namespace, **more: Any) -> Decision:
        return Decision(
            id=uuid4(),
            tenant=self.tenant.id,
            namespaces=namespaces,
            verb="retrieve",
            query="where is the mug",
            task_type=None,
            trajectory_id=more.pop("trajectory_id", None),
            schema=1,
            policy=more.pop("policy", BUILT_IN),
            candidates=more.pop(
                "candidates", (Considered(uuid4(), (0.5, 0.0, 1.25), rank=1, packed=True),)
            ),
            created_at=more.pop("created_at", self.clock.now),
            **more,
        )

    def decide(self, *namespaces: Namespace, **more: Any) -> Decision:
        """A decision that is stored."""
        decision = self.decision(*namespaces, **more)
        self.store.write(lambda tx: tx.add_decision(decision))
        return decision

    def policy(
        self, namespace: Namespace, state: PolicyState = PolicyState.SHADOW, **more: Any
    ) -> Policy:
        return Policy(
            id=more.pop("id", None) or uuid4(),
            namespace=namespace,
            role=PolicyRole.RETRIEVE,
            kind="case-value",
            state=state,
            manifest=more.pop("manifest", {"format": 1, "config": {"rate": 1e-3, "names": ["ü"]}}),
            weights_hash="5f70bf18a086007016e948b04aed3b82",
            created_at=more.pop("created_at", self.clock.now),
            since=self.clock.now,
            **more,
        )

    def exploration(self, namespace: Namespace, **more: Any) -> Exploration:
        return Exploration(exploration_id(namespace, PolicyRole.RETRIEVE), namespace, **more)

    def operation(self, namespace: Namespace, state: State = State.PENDING) -> Operation:
        return Operation(
            id=uuid4(),
            tenant=self.tenant.id,
            namespace=namespace,
            verb="distill",
            params={"since": 3},
            state=state,
            requested_by=self.actor,
            created_at=self.clock.now,
            updated_at=self.clock.now,
        )


def next_version(world: World, entry: Entry, text: str) -> Entry:
    """The entry with another content, not yet stored."""
    version = replace(
        entry.version,
        id=uuid4(),
        number=entry.version.number + 1,
        title=text,
        body=TextBody(text),
        parent=entry.version.id,
        recorded_at=world.clock.now,
    )
    return Entry(replace(entry.item, head=version.id, title=text), version)


def merged(entry: Entry, into: Entry) -> Item:
    return replace(entry.item, status=Status.MERGED, merged_into=into.version.id)


def rows_of(*entries: Entry) -> tuple[Row, ...]:
    return tuple(row for entry in entries for row in (entry.item, entry.version))


def ref(row: Row) -> RowRef:
    tables: dict[type[Row], Table] = {
        Trajectory: Table.TRAJECTORY,
        Item: Table.ITEM,
        Version: Table.VERSION,
        Evidence: Table.EVIDENCE,
        Policy: Table.POLICY,
        Exploration: Table.EXPLORATION,
    }
    return RowRef(tables[type(row)], row.id)


def pages(read: Any, limit: int) -> Iterator[Page[Any]]:
    """All pages of a list; `read` takes a page request."""
    page: Page[Any] = read(PageRequest(limit))
    yield page
    while page.next_cursor is not None:
        page = read(PageRequest(limit, page.next_cursor))
        yield page


def refolded(reader: Reader, scope: Scope, subject: UUID) -> dict[str, Belief]:
    """The beliefs of a version as they follow from the stored evidence alone, by walking the
    lineage one row at a time."""
    items = [entry.item for page in pages_of_items(reader, scope) for entry in page.rows]
    lineage, frontier = set(), [subject]
    while frontier:
        member = frontier.pop()
        lineage.add(member)
        for item in items:
            if item.merged_into == member:
                versions = {version.id for version in reader.versions(scope, item.id)}
                frontier += versions - lineage
    pieces = [piece for member in lineage for piece in reader.evidence(scope, member)]
    contexts = {piece.context for piece in pieces}
    return {
        context: fold(subject, context, [one for one in pieces if one.context == context])
        for context in contexts
    }


def pages_of_items(reader: Reader, scope: Scope) -> Iterator[Page[Entry]]:
    everywhere = tuple(one.id for one in reader.namespaces_under(scope, "**"))
    return pages(lambda page: reader.items(scope, ItemFilter(everywhere), page), 200)


def _new_tenant() -> Tenant:
    tenant_id = uuid4()
    return Tenant(tenant_id, f"tenant-{tenant_id.hex}")
