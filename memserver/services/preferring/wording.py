"""Preferences in words: by a model where there is one, else as the rules have them."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from memserver.services.asking import Asked, Asking
from memserver.services.preferring.edits import Leaning

LONGEST_TEXT = 2_000
LONGEST_CONTEXT = 300

SYSTEM = """Somebody edited a text that an assistant had written. Rules found what the edit may
show about how this person wants such texts. For each finding say by its number whether the edit
does show it, and word it as one short instruction to a writer. Add no finding of your own."""
QUESTION = """Context: {context}

Before:
{before}

After:
{after}

Findings:
{findings}"""


class Finding(BaseModel):
    number: int
    holds: bool
    instruction: Annotated[str, StringConstraints(max_length=300)] = ""


class Findings(BaseModel):
    findings: Annotated[list[Finding], Field(max_length=50)]


def judged(
    asking: Asking,
    tenant: UUID,
    found: Sequence[Leaning],
    *,
    context: str,
    before: str,
    after: str,
) -> Asked[Findings]:
    """What a model says of the findings. Not to be called inside a transaction."""
    question = QUESTION.format(
        context=context[:LONGEST_CONTEXT],
        before=before[:LONGEST_TEXT],
        after=after[:LONGEST_TEXT],
        findings="\n".join(f"{n}. {leaning.statement}" for n, leaning in enumerate(found, 1)),
    )
    return asking.asked(tenant, SYSTEM, question, Findings)


def in_words(context: str, statement: str) -> str:
    """A preference as an agent reads it: with the context, since it holds for no other."""
    told = " ".join(context.split())
    if len(told) > LONGEST_CONTEXT:
        told = told[:LONGEST_CONTEXT].rstrip() + "…"
    return f"In contexts like “{told}”: {statement}"
