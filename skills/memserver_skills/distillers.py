"""The distillers by name: what `distill` can be asked to run."""

from collections.abc import Callable, Mapping, Sequence

from memserver.domain.trajectories import Trajectory
from memserver_skills.code_skills import distil_code
from memserver_skills.demonstrations import distil_demonstrations
from memserver_skills.edits import distil_edits
from memserver_skills.experience import Experience
from memserver_skills.experiences import distil_experiences
from memserver_skills.hints import distil_hints
from memserver_skills.milestones import distil_milestones
from memserver_skills.mistakes import distil_mistakes
from memserver_skills.principles import distil_principles
from memserver_skills.proposals import Proposal
from memserver_skills.reflections import distil_reflections
from memserver_skills.rubrics import distil_rubrics
from memserver_skills.siblings import distil_siblings
from memserver_skills.skillbank import distil_skillbank
from memserver_skills.strategies import distil_strategies
from memserver_skills.subgoals import distil_subgoals
from memserver_skills.workflows import distil_workflows

# Deterministic, and the order of the runs does not matter.
Distiller = Callable[[Experience], list[Proposal]]


def _of_runs(distil: Callable[[Sequence[Trajectory]], list[Proposal]]) -> Distiller:
    """One that does not look at the bank."""
    return lambda experience: distil(experience.runs)


DISTILLERS: Mapping[str, Distiller] = {
    "workflows": _of_runs(distil_workflows),
    "hints": _of_runs(distil_hints),
    "mistakes": _of_runs(distil_mistakes),
    "principles": distil_principles,
    "skillbank": distil_skillbank,
    "reflections": _of_runs(distil_reflections),
    "strategies": _of_runs(distil_strategies),
    "rubrics": _of_runs(distil_rubrics),
    "milestones": _of_runs(distil_milestones),
    "experiences": _of_runs(distil_experiences),
    "demonstrations": _of_runs(distil_demonstrations),
    "siblings": _of_runs(distil_siblings),
    "edits": distil_edits,
    "code": _of_runs(distil_code),
    "subgoals": _of_runs(distil_subgoals),
}

USUAL = ("workflows", "hints", "mistakes")
"""What runs where no method is named."""
