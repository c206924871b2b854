"""Guardrails: reports of what did harm, and questions before the next time."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from memserver.wire.base import Model, NamespacePath, Receipt, Unit

Said = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
Phrase = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Place = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Verdict = Literal["block", "allow"]
Scope = Literal["broad", "local"]


class Situation(Model):
    """`action` is what is to be done, `intent` what for, `belief` what the agent takes to be so,
    and `text` all of it in words."""

    action: Phrase
    text: Said
    intent: Phrase | None = None
    belief: Phrase | None = None


class NewReport(Model):
    """How something turned out. With `local_to` it is said to hold in that place alone (a
    customer, a repository), and no broad rule hears of it."""

    namespace: NamespacePath
    situation: Situation
    label: Literal["harmful", "fine"]
    local_to: Place | None = None


class GuardTouched(Model):
    """A guard that the report made, agreed with or refuted, with its lower bound since."""

    id: UUID
    version_id: UUID
    verdict: Verdict
    scope: Scope
    text: str
    made: bool
    agreed: bool
    lower_bound: float


class ReportKept(Receipt):
    """Nothing where what was fine is guarded against by nothing. `by` says who worded what is new;
    `reason` why the model did not, where there is one."""

    guards: list[GuardTouched]
    by: Literal["rules", "model"]
    reason: str | None


class GuardrailsQuestion(Model):
    """Whether to do something. `bound` is how sure a guard must be to be used, instead of the
    server's setting; `local_to` the place, where it is one of those that were named."""

    namespace: NamespacePath
    situation: Situation
    local_to: Place | None = None
    bound: Annotated[Unit, Field(description="Least lower bound of a guard.")] | None = None


class Citation(Model):
    id: UUID
    version_id: UUID
    verdict: Verdict
    scope: Scope
    text: str
    lower_bound: float
    similarity: float


class Judgement(Model):
    """`cited` decided; `overridden` are used guards that gave way to them. `unproven` match and are
    too little known to be used: their bound is below `bound`."""

    verdict: Verdict
    cited: list[Citation]
    overridden: list[Citation]
    unproven: list[Citation]
    bound: float
