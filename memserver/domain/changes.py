"""The Change log: the only way content is written, and how it is taken back."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.evidence import Evidence
from memserver.domain.items import Item, Version
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.policies import Exploration, Policy
from memserver.domain.trajectories import Trajectory

Row = Trajectory | Item | Version | Evidence | Policy | Exploration | NamespaceSettings


class Table(StrEnum):
    """The tables whose rows are content, in the order in which a change writes them."""

    TRAJECTORY = "trajectory"
    ITEM = "item"
    VERSION = "version"
    EVIDENCE = "evidence"
    POLICY = "policy"
    EXPLORATION = "exploration"
    NAMESPACE_SETTINGS = "namespace_settings"


class Verb(StrEnum):
    """Why a change was made, in the words of the API."""

    ADD_TRAJECTORIES = "add_trajectories"
    REMEMBER = "remember"
    FORGET = "forget"
    FEEDBACK = "feedback"
    DISTILL = "distill"
    CONSOLIDATE = "consolidate"
    UNDO = "undo"
    REGISTER_POLICY = "register_policy"
    SHADOW_POLICY = "shadow_policy"
    CANARY_POLICY = "canary_policy"
    PROMOTE_POLICY = "promote_policy"
    RETIRE_POLICY = "retire_policy"
    ROLL_BACK_POLICY = "roll_back_policy"
    DEMOTE_POLICY = "demote_policy"
    EXPLORE = "explore"
    SET_NAMESPACE = "set_namespace"
    EVOLVE = "evolve"
    IMPORT_SKILLS = "import_skills"
    PROMOTE_SKILL = "promote_skill"
    QUARANTINE_SKILL = "quarantine_skill"
    EVICT = "evict"
    EXPIRE = "expire"
    ERASE = "erase"


class Action(StrEnum):
    """`erase` stands for whatever a change did to a row that was erased since."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    ERASE = "erase"


@dataclass(frozen=True, slots=True)
class RowRef:
    """Names one content row of a tenant."""

    table: Table
    id: UUID


@dataclass(frozen=True, slots=True)
class Draft:
    """A change that is not yet written: rows to put (insert or overwrite) and rows to delete.

    The store reads the rows' present state, writes, and logs the inverse, all in one
    transaction.
    """

    tenant: UUID
    verb: Verb
    actor: UUID
    reason: str
    puts: tuple[Row, ...] = ()
    deletes: tuple[RowRef, ...] = ()
    operation: UUID | None = None


@dataclass(frozen=True, slots=True)
class RowChange:
    """What a change did to one row. `before` is the row's image to put back (None for an
    insert), `after_hash` the hash of the row it left (None for a delete)."""

    ref: RowRef
    action: Action
    namespace_id: int
    before: dict[str, Any] | None
    after_hash: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One append-only changeset. Positions rise in commit order, over all tenants.

    `before_hash` and `after_hash` are over all touched rows, so that an undo can prove that
    it put the rows back.
    """

    position: int
    id: UUID
    tenant: UUID
    verb: Verb
    actor: UUID
    reason: str
    created_at: datetime
    before_hash: str
    after_hash: str
    rows: int
    undoes: UUID | None = None
    undone_by: UUID | None = None
    operation: UUID | None = None
