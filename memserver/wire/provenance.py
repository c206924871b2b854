"""Where an item comes from, and bringing back what it said before."""

from uuid import UUID

from pydantic import AwareDatetime

from memserver.wire.base import Model


class SourceStep(Model):
    """A step of a run, by its place from 0."""

    number: int
    observation: str
    action: str


class SourceRun(Model):
    """A run that a version was drawn from: the steps it names, or all of them (`whole`)."""

    trajectory_id: UUID
    goal: str
    agent: str
    score: float | None
    steps: list[SourceStep]
    whole: bool


class SourceTurn(Model):
    """What was said where a version was drawn from a conversation; `text` is null where the turn
    was not kept."""

    session: UUID
    ordinal: int
    speaker: str
    text: str | None


class Origin(Model):
    """One version and what it was drawn from; `out_of_reach` counts source runs that are gone, or
    that the key may not read."""

    item_id: UUID
    version_id: UUID
    number: int
    text: str
    method: str
    recorded_at: AwareDatetime
    runs: list[SourceRun]
    turn: SourceTurn | None
    out_of_reach: int


class Provenance(Model):
    """`own` are the item's versions, newest first; `merged` those of everything that was merged
    into it; `cut` says that there is more than is followed."""

    item_id: UUID
    own: list[Origin]
    merged: list[Origin]
    cut: bool


class Restore(Model):
    """Which version to bring back; by default the newest, where the item was taken out."""

    version_id: UUID | None = None
