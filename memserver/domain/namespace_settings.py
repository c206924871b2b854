"""How one namespace keeps its memory: what an admin has set for it, and the defaults."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid5

from memserver.domain.scope import Namespace

SETTINGS_IDS = UUID("9c1e2a50-64a3-4a0e-8b63-5b6b1c5c0a11")


class Admission(StrEnum):
    """How what is distilled comes into a library: at once; at once but on trial until its first
    uses have spoken; or not before it has told runs better that it was not made from."""

    NONE = "none"
    FIRST_USES = "first_uses"
    HELD_OUT = "held_out"


@dataclass(frozen=True, slots=True)
class NamespaceSettings:
    """`half_life_days` is the time in which what is not used loses half of its standing, None for
    no decay; `most_items` bounds the active items, None for no bound. `secrets` and
    `personal_data` say what is taken out of texts before they are stored. Consolidation is asked
    for after so many writes, so many hours, or so many minutes without a write, whichever comes
    first; None leaves that occasion out. `time_zone` (IANA) is that of messages which name none,
    `admission` how what is distilled comes into use. `allowed_tools` are those that skills may
    declare; None where nobody has said, and each skill that declares any is decided on by
    itself. Where `frozen`, the library of skills does not change."""

    id: UUID
    namespace: Namespace
    half_life_days: float | None = None
    most_items: int | None = None
    secrets: bool = True
    personal_data: bool = False
    consolidate_every_writes: int | None = None
    consolidate_every_hours: float | None = None
    consolidate_when_idle_minutes: float | None = None
    time_zone: str = "UTC"
    admission: str = Admission.NONE.value
    allowed_tools: tuple[str, ...] | None = None
    frozen: bool = False


def settings_id(namespace: Namespace) -> UUID:
    """The id of a namespace's settings, of which it has one."""
    return uuid5(SETTINGS_IDS, f"{namespace.tenant}:{namespace.id}")


def default_settings(namespace: Namespace) -> NamespaceSettings:
    return NamespaceSettings(settings_id(namespace), namespace)
