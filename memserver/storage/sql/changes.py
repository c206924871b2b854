"""Applying a change: the only code that writes content.

A change is a set of rows, each with the state that it shall have (None: not there). The states
found are logged, so that an undo is a change like any other.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, func, insert, select

from memserver.domain.changes import Action, Change, Draft, RowRef, Table, Verb
from memserver.domain.errors import IdConflict
from memserver.domain.evidence import Event, Evidence
from memserver.ids import uuid7
from memserver.storage.sql import rows
from memserver.storage.sql.beliefs import Beliefs, Place
from memserver.storage.sql.content import TABLES, table_of, to_row
from memserver.storage.sql.images import Image, image_hash, state_hash, to_image
from memserver.storage.sql.namespaces import NamespaceCache
from memserver.storage.sql.tables import CHANGE, ITEM, ROW_CHANGE
from memserver.storage.sql.view import chunks

_RANK = {table: number for number, table in enumerate(Table)}

RowCells = dict[str, Any]
EMPTY: Mapping[RowRef, Evidence] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Why:
    """What the log keeps of a change beside its rows."""

    tenant: UUID
    verb: Verb
    actor: UUID
    reason: str
    undoes: UUID | None = None
    operation: UUID | None = None


class Changes:
    """Writes changes within one writing transaction. Whoever makes one holds the write lock, so
    that the next position is the highest and no row changes between being read and written."""

    def __init__(
        self, connection: Connection, *, namespaces: NamespaceCache, now: datetime
    ) -> None:
        self._connection = connection
        self._namespaces = namespaces
        self._now = now

    def apply(self, draft: Draft) -> Change:
        """As the port says. ValueError for a draft that contradicts itself, `IdConflict` for an
        id that another namespace of the tenant holds."""
        self._check(draft)
        position = self.next_position()
        puts = {RowRef(table_of(value), value.id): to_row(value) for value in draft.puts}
        found = rows.read(self._connection, draft.tenant, (*puts, *draft.deletes))
        seqs = self._seqs(draft.tenant, puts, found)
        wanted: dict[RowRef, Image | None] = dict.fromkeys(draft.deletes)
        for ref, row in puts.items():
            before = found.get(ref)
            if before is not None and before["namespace_id"] != row["namespace_id"]:
                raise IdConflict(ref.table.value, ref.id)
            row["position"] = position if before is None else before["position"]
            if ref.table is Table.EVIDENCE:
                row["seq"] = seqs[ref] if before is None else before["seq"]
            wanted[ref] = to_image(TABLES[ref.table], row)
        why = Why(draft.tenant, draft.verb, draft.actor, draft.reason, operation=draft.operation)
        new = {
            RowRef(Table.EVIDENCE, value.id): replace(value, seq=seq)
            for value in draft.puts
            if isinstance(value, Evidence)
            and value.event is not Event.RETRACTION
            and (seq := seqs.get(RowRef(Table.EVIDENCE, value.id))) is not None
        }
        return self.record(why, position=position, found=found, wanted=wanted, new=new)

    def next_position(self) -> int:
        return (self._connection.scalar(select(func.max(CHANGE.c.position))) or 0) + 1

    def record(
        self,
        why: Why,
        *,
        position: int,
        found: Mapping[RowRef, Image],
        wanted: Mapping[RowRef, Image | None],
        new: Mapping[RowRef, Evidence] = EMPTY,
    ) -> Change:
        """Brings the rows from the state found to the state wanted, logs what was done and folds
        the beliefs that follow. Rows that already are as wanted are left out. `new` is evidence
        that comes last in its order and takes nothing back."""
        before = {ref: image_hash(found[ref]) if ref in found else None for ref in wanted}
        after = {ref: None if image is None else image_hash(image) for ref, image in wanted.items()}
        touched = {
            ref: wanted[ref]
            for ref in sorted(wanted, key=lambda ref: _RANK[ref.table])
            if before[ref] != after[ref]
        }
        change = Change(
            position=position,
            id=uuid7(at_ms=int(self._now.timestamp() * 1000)),
            tenant=why.tenant,
            verb=why.verb,
            actor=why.actor,
            reason=why.reason,
            created_at=self._now,
            before_hash=state_hash((ref, before[ref]) for ref in touched),
            after_hash=state_hash((ref, after[ref]) for ref in touched),
            rows=len(touched),
            undoes=why.undoes,
            operation=why.operation,
        )
        rows.write(self._connection, why.tenant, found, touched)
        self._log(change, found, touched, after)
        self._fold(change.tenant, found, touched, new)
        return change

    def _fold(
        self,
        tenant: UUID,
        found: Mapping[RowRef, Image],
        touched: Mapping[RowRef, Image | None],
        new: Mapping[RowRef, Evidence],
    ) -> None:
        evidence = {ref for ref in touched if ref.table is Table.EVIDENCE}
        lineages = _merges(found, touched) | self._heirs(tenant, found, touched)
        if lineages or evidence - new.keys():
            subjects = {
                UUID(state["subject"])
                for ref in evidence
                for state in (found.get(ref), touched[ref])
                if state is not None
            }
            self._beliefs(tenant).refold(subjects | lineages)
        elif evidence:
            self._beliefs(tenant).append([new[ref] for ref in touched if ref in evidence])

    def _check(self, draft: Draft) -> None:
        refs = [RowRef(table_of(value), value.id) for value in draft.puts] + list(draft.deletes)
        twice = [ref for ref, times in Counter(refs).items() if times > 1]
        if twice:
            raise ValueError(f"The draft names a row twice: {twice[0]}")
        namespaces = {value.namespace for value in draft.puts}
        stored = self._namespaces.resolve(self._connection, (one.id for one in namespaces))
        for namespace in namespaces:
            if namespace.tenant != draft.tenant or stored.get(namespace.id) != namespace:
                raise ValueError(f"{namespace} is no namespace of the tenant {draft.tenant}")

    def _seqs(
        self, tenant: UUID, puts: Mapping[RowRef, RowCells], found: Mapping[RowRef, Image]
    ) -> dict[RowRef, int]:
        """The next free place in its order for each new piece of evidence."""
        new = {
            ref: Place(row["subject"], row["context"])
            for ref, row in puts.items()
            if ref.table is Table.EVIDENCE and ref not in found
        }
        last = self._beliefs(tenant).last_seqs({place.subject for place in new.values()})
        seqs: dict[RowRef, int] = {}
        for ref, place in new.items():
            seqs[ref] = last[place] = last.get(place, 0) + 1
        return seqs

    def _log(
        self,
        change: Change,
        found: Mapping[RowRef, Image],
        touched: Mapping[RowRef, Image | None],
        after: Mapping[RowRef, str | None],
    ) -> None:
        self._connection.execute(insert(CHANGE), [change_row(change)])
        logged = []
        for ordinal, (ref, image) in enumerate(touched.items()):
            before = found.get(ref)
            known = _either(image, before)
            owner = known["item_id"] if ref.table is Table.VERSION else known["id"]
            logged.append(
                {
                    "position": change.position,
                    "ordinal": ordinal,
                    "tenant_id": change.tenant,
                    "table_name": ref.table.value,
                    "row_id": ref.id,
                    "owner_id": UUID(owner),
                    "action": _action(before, image).value,
                    "namespace_id": known["namespace_id"],
                    "before": before,
                    "after_hash": after[ref],
                }
            )
        if logged:
            self._connection.execute(insert(ROW_CHANGE), logged)

    def _heirs(
        self,
        tenant: UUID,
        found: Mapping[RowRef, Image],
        touched: Mapping[RowRef, Image | None],
    ) -> set[UUID]:
        """What the items were merged into whose versions came or went: their lineage changed."""
        settled = {
            ref.id
            for ref, image in touched.items()
            if ref.table is Table.ITEM and (image is None or image["merged_into"] is None)
        }
        items = {
            UUID(_either(image, found.get(ref))["item_id"])
            for ref, image in touched.items()
            if ref.table is Table.VERSION and (image is None or ref not in found)
        } - settled
        heirs: set[UUID] = set()
        for ids in chunks(items):
            query = select(ITEM.c.merged_into).where(
                ITEM.c.tenant_id == tenant, ITEM.c.id.in_(ids), ITEM.c.merged_into.is_not(None)
            )
            heirs.update(self._connection.scalars(query))
        return heirs

    def _beliefs(self, tenant: UUID) -> Beliefs:
        return Beliefs(self._connection, namespaces=self._namespaces, tenant=tenant)


def change_row(change: Change) -> dict[str, Any]:
    row = asdict(change)
    return {"tenant_id": row.pop("tenant"), "verb": change.verb.value, **row}


def _merges(found: Mapping[RowRef, Image], touched: Mapping[RowRef, Image | None]) -> set[UUID]:
    """The versions that an item was merged into by the change, or no longer is."""
    versions: set[UUID] = set()
    for ref, image in touched.items():
        if ref.table is Table.ITEM:
            states = [state for state in (found.get(ref), image) if state is not None]
            merged = [state["merged_into"] for state in states]
            if len(states) == 1 or merged[0] != merged[1]:
                versions.update(UUID(version) for version in merged if version is not None)
    return versions


def _action(before: Image | None, after: Image | None) -> Action:
    if before is None:
        return Action.INSERT
    return Action.DELETE if after is None else Action.UPDATE


def _either(after: Image | None, before: Image | None) -> Image:
    """The one of the two states of a touched row that is there."""
    known = before if after is None else after
    assert known is not None, "a touched row was there before or is there now"
    return known
