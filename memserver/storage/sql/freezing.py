"""A frozen library: in a namespace whose admin has said so, no skill is made, changed, or taken
away. It is refused here, where all content is written, so that no way in is forgotten."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select

from memserver.domain.changes import Draft, Table, Verb
from memserver.domain.errors import LibraryFrozen
from memserver.domain.items import Item, Kind, SkillBody, Version
from memserver.domain.scope import Namespace
from memserver.storage.sql.settings_reads import SettingsReads
from memserver.storage.sql.tables import CHANGE, ITEM, ROW_CHANGE
from memserver.storage.sql.view import chunks

ALL_THE_SAME = frozenset({Verb.EXPIRE})
"""What was given an end when it was stored has it."""
_SKILL = Kind.SKILL.value


class Freezing(SettingsReads):
    def refuse_frozen(self, draft: Draft) -> None:
        """Raises `LibraryFrozen`."""
        if draft.verb in ALL_THE_SAME:
            return
        touched = {row.namespace for row in draft.puts if _is_skill(row)}
        gone = [ref.id for ref in draft.deletes if ref.table is Table.ITEM]
        self._refuse([*touched, *self._homes_of_skills(draft.tenant, gone)])

    def refuse_frozen_undo(self, tenant: UUID, change_id: UUID) -> None:
        """The same of a change that is to be taken back."""
        query = (
            select(ROW_CHANGE.c.table_name, ROW_CHANGE.c.owner_id, ROW_CHANGE.c.before)
            .add_columns(ROW_CHANGE.c.namespace_id)
            .join_from(ROW_CHANGE, CHANGE, ROW_CHANGE.c.position == CHANGE.c.position)
            .where(
                CHANGE.c.id == change_id,
                CHANGE.c.tenant_id == tenant,
                ROW_CHANGE.c.table_name.in_([Table.ITEM.value, Table.VERSION.value]),
            )
        )
        rows = self._all(query)
        # An item that is not there any more would come back as the log has it.
        back = [row.namespace_id for row in rows if row.before and row.before.get("kind") == _SKILL]
        touched = self._homes_of_skills(tenant, {row.owner_id for row in rows})
        self._refuse([*touched, *self._names(back).values()])

    def _homes_of_skills(self, tenant: UUID, items: Iterable[UUID]) -> list[Namespace]:
        found: set[int] = set()
        for ids in chunks(items):
            query = select(ITEM.c.namespace_id).where(
                ITEM.c.id.in_(ids), ITEM.c.tenant_id == tenant, ITEM.c.kind == _SKILL
            )
            found.update(self._connection.scalars(query))
        return list(self._names(found).values())

    def _refuse(self, namespaces: Iterable[Namespace]) -> None:
        for namespace in namespaces:
            if self.namespace_settings(namespace).frozen:
                raise LibraryFrozen(namespace.path)


def _is_skill(row: object) -> bool:
    match row:
        case Item(kind=kind):
            return kind is Kind.SKILL
        case Version(body=body):
            return isinstance(body, SkillBody)
        case _:
            return False
