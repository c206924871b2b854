"""The distillers by name: what `distill` can be asked to run."""

from collections.abc import Callable, Mapping, Sequence

from memserver.domain.trajectories import Trajectory
from memserver_skills.experience import Experience
from memserver_skills.hints import distil_hints
from memserver_skills.mistakes import distil_mistakes
from memserver_skills.proposals import Proposal
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
}

USUAL = ("workflows", "hints", "mistakes")
"""What runs where no method is named."""
