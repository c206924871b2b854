"""What was learnt, asked for a run under way and for a task to be planned."""

from collections.abc import Mapping, Sequence
from typing import Any

from memserver.wire.learned import Guidance, GuideRequest, SimilarCases, SimilarCasesRequest
from memserver.wire.trajectories import Step
from memserver_client._call import Call, ask
from memserver_client._requests import Id, checked, id_of


def guide(
    skill_id: Id, *, goal: str, steps: Sequence[Step | Mapping[str, Any]] = ()
) -> Call[Guidance]:
    """Where a run stands on the way that a milestone skill describes: `.milestone` to reach next,
    those `.done`, the `.gap` of actions in between and, after an action that failed, a
    `.correction`. A step's action answers the observation before it; the last step may be an
    observation alone."""
    sent = checked(GuideRequest, goal=goal, steps=list(steps))
    return ask(f"/v1/skills/{id_of(skill_id)}/guide", Guidance, sent)


def similar_cases(
    goal: str, *, namespace: str, operations: Sequence[str] = (), k: int = 5
) -> Call[SimilarCases]:
    """`.cases` like a task, the best first: by what is said of it, and by the order of the plan's
    `operations`, which finds the same shape in another domain."""
    sent = checked(
        SimilarCasesRequest, namespace=namespace, goal=goal, operations=list(operations), k=k
    )
    return ask("/v1/cases/similar", SimilarCases, sent)
