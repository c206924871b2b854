"""Erasing a person, and what was erased."""

from pydantic import AwareDatetime, Field

from memserver.wire.base import Model, NamespacePattern, Subject


class NewErasure(Model):
    """Whom to erase: the `subject` that runs, memories and sessions were stored with. `namespace`
    confines it, `**` (the default) is all of the tenant."""

    subject: Subject
    namespace: NamespacePattern = "**"


class Erasure(Model):
    """`digest` is the SHA-256 of tenant id, a NUL and subject; `counts` is by kind of row."""

    id: str
    digest: str
    namespace: str
    created_at: AwareDatetime
    counts: dict[str, int] = Field(default_factory=dict)
