"""A skill that comes from outside, read and not yet kept."""

from dataclasses import dataclass, field
from typing import Any

from memserver.domain.items import Body, Kind


@dataclass(frozen=True, slots=True)
class Incoming:
    """`where` says where in what was sent it stood, for reports."""

    where: str
    kind: Kind
    title: str
    body: Body
    task_type: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
