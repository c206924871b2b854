"""Between goals to practise on as they are shown, and the values that services go by."""

from collections.abc import Sequence

from memserver.api import shaping
from memserver.domain.practice import PracticeGoal, PracticeState
from memserver.services.practising import Decided
from memserver.wire import practice as wire
from memserver.wire.trajectories import Task


def proposed(namespace: str, goals: Sequence[PracticeGoal]) -> wire.PracticeProposed:
    return wire.PracticeProposed(namespace=namespace, proposals=[goal(one) for one in goals])


def decided(found: Decided) -> wire.PracticeDecided:
    return wire.PracticeDecided(
        accepted=found.goal.state is PracticeState.ACCEPTED,
        proposal=goal(found.goal),
        existing=found.existing,
        credited=found.credited,
        **shaping.receipt(found.change).model_dump(),
    )


def goal(found: PracticeGoal) -> wire.PracticeGoal:
    why = found.why
    return wire.PracticeGoal(
        id=found.id,
        namespace=found.namespace.path,
        goal=found.task.goal,
        task=Task.model_validate(found.task),
        template=found.template,
        values=dict(found.values),
        why=wire.PracticeWhy(
            score=why.score,
            novelty=why.novelty,
            p=why.p,
            learnability=why.p * (1 - why.p),
            feasibility=why.feasibility,
            redundancy=why.redundancy,
            coverage=list(why.coverage),
        ),
        state=found.state.value,
        refusal=None if found.refusal is None else found.refusal.value,
        reason=found.reason,
        created_at=found.created_at,
        decided_at=found.decided_at,
        trajectory_id=found.trajectory,
    )
