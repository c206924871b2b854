"""Preferences that people's edits show."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from memserver.wire.base import Model, NamespacePath, Receipt

Context = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
EditedText = Annotated[str, StringConstraints(max_length=100_000)]
Subject = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class NewEdit(Model):
    """An agent's text (`before`) and what somebody made of it (`after`); neither is kept.
    `context` says in words what the text was for, `subject` whose preferences these are, `run`
    the run that wrote it."""

    namespace: NamespacePath
    context: Context
    before: EditedText
    after: EditedText
    subject: Subject | None = None
    run: UUID | None = None


class PreferenceShown(Model):
    """One thing that the edit shows. `repeated` says that it was known in such contexts;
    `against` names the preferences that it goes against, whose beliefs it lowered."""

    id: UUID
    version_id: UUID
    statement: str
    about: str
    wants: str
    of: str
    repeated: bool
    against: list[UUID]


class EditRead(Receipt):
    """Nothing where the edit was a trifle. `by` says who worded what is new; `reason` why the
    model did not, where there is one."""

    preferences: list[PreferenceShown]
    by: Literal["rules", "model"]
    reason: str | None


class PreferencesQuestion(Model):
    """What to keep to in a context, by the `k` nearest contexts that are known. With a `subject`
    that person's own and those about nobody in particular, without one only the latter."""

    namespace: NamespacePath
    context: Context
    k: Annotated[int, Field(ge=1, le=50)] = 5
    subject: Subject | None = None


class Preference(Model):
    """`weight` is its lead in the vote of the near contexts; `items` are the preferences that it
    rests on, nearest first, the nearest as similar as `similarity` (cosine)."""

    statement: str
    about: str
    wants: str
    of: str
    weight: float
    similarity: float
    items: list[UUID]


class Preferences(Model):
    """Strongest first; `text` has one line each, to put in a prompt."""

    preferences: list[Preference]
    text: str
