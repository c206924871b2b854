"""Guide: where a run under way stands on the way that a milestone skill describes."""

from collections.abc import Sequence
from uuid import UUID

from memserver.domain.errors import ItemNotFound, NoGuide
from memserver.domain.items import Form, Kind, SkillBody, Status
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Step
from memserver.services.remembering import Remembering
from memserver_skills.guiding import Guidance, guide


class Guiding:
    def __init__(self, remembering: Remembering) -> None:
        self._remembering = remembering

    def __call__(self, scope: Scope, skill: UUID, steps: Sequence[Step], *, goal: str) -> Guidance:
        """By a skill that is in use; one in quarantine or out of use is not found. Raises
        `ItemNotFound`, `NoGuide`."""
        known = self._remembering.get(scope, skill, kinds=frozenset({Kind.SKILL}))
        body = known.entry.version.body
        if known.entry.item.status is not Status.ACTIVE or not isinstance(body, SkillBody):
            raise ItemNotFound(skill)
        if body.form != Form.MILESTONES.value:
            raise NoGuide(f"its form is {body.form}, not {Form.MILESTONES.value}")
        found = guide(body, known.entry.version.metadata, steps, goal=goal)
        if found is None:
            raise NoGuide("it does not fit the goal")
        return found
