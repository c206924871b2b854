"""The distillers by name: what `distill` can be asked to run."""

from collections.abc import Callable, Mapping, Sequence

from memserver.domain.trajectories import Trajectory
from memserver_skills.hints import distil_hints
from memserver_skills.mistakes import distil_mistakes
from memserver_skills.proposals import Proposal
from memserver_skills.workflows import distil_workflows

# Deterministic, and the order of the runs does not matter.
Distiller = Callable[[Sequence[Trajectory]], list[Proposal]]

DISTILLERS: Mapping[str, Distiller] = {
    "workflows": distil_workflows,
    "hints": distil_hints,
    "mistakes": distil_mistakes,
}
