"""Which failure led to which version of a code skill.

After LearnAct (Zhao et al. 2024, "Empowering Large Language Model Agents through Action
Learning"), where a model rewrites an action's program after each failure, and RATs and Yunjue,
which keep what was so verified; the books are kept here, whoever does the rewriting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memserver.domain.items import Form, SkillBody, SkillFile

REVISIONS = "revisions"
"""Under this key the metadata lists the revisions, oldest first."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The step of a run at which a program failed, and what was seen there."""

    run: UUID
    step: int
    action: str
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Revised:
    body: SkillBody
    metadata: dict[str, Any]


def revise(
    body: SkillBody,
    metadata: Mapping[str, Any],
    failure: Failure,
    *,
    text: str,
    files: Sequence[SkillFile] = (),
) -> Revised:
    """The skill with a new program, and the failure noted as what led to it. Files take the place
    of those with their paths. Raises ValueError where that is no code skill, or nothing is new:
    a version that a failure did not change is none."""
    if body.form != Form.CODE.value:
        raise ValueError(f"only a code skill has a program to revise, not a {body.form}")
    if text == body.text:
        raise ValueError("a revision changes the program")
    known = metadata.get(REVISIONS)
    revisions = list(known) if isinstance(known, list) else []
    noted = {
        "version": len(revisions) + 2,
        "failure": str(failure.run),
        "step": failure.step,
        "action": failure.action,
        "seen": failure.seen,
    }
    paths = {file.path for file in files}
    kept = (file for file in body.files if file.path not in paths)
    return Revised(
        replace(body, text=text, files=(*kept, *files)),
        {**metadata, REVISIONS: [*revisions, noted]},
    )
