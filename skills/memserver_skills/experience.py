"""What a distiller may look at, beside which nothing counts: it knows no server and no clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memserver.domain.trajectories import Trajectory
from memserver_skills.plans import Rated
from memserver_skills.words import stems

# How alike two texts are, in [0, 1] as a rule: 1 for texts that say the same.
Alike = Callable[[str, str], float]


def alike_by_words(left: str, right: str) -> float:
    """The share of stems that two texts have in common (Jaccard); 0 where neither has any. What
    is used where no encoder is at hand."""
    mine, others = stems(left), stems(right)
    return len(mine & others) / len(mine | others) if mine | others else 0.0


@dataclass(frozen=True, slots=True)
class Experience:
    """The runs of a namespace, and the items in use there with what outcomes say of them. A run
    that is listed twice is there once."""

    runs: Sequence[Trajectory]
    bank: Sequence[Rated] = ()
    alike: Alike = alike_by_words

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", tuple({run.id: run for run in self.runs}.values()))
