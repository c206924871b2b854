"""Asking what was learnt: guidance for a run under way, cases like a task."""

from uuid import UUID

from fastapi import APIRouter

from memserver.api import learned_shapes as shapes
from memserver.api.call import CallDep
from memserver.wire.learned import Guidance, GuideRequest, SimilarCases, SimilarCasesRequest

router = APIRouter()


@router.post("/skills/{item_id}/guide", tags=["skills"])
async def guide(item_id: UUID, sent: GuideRequest, call: CallDep) -> Guidance:
    """Where a run under way stands on the way that a milestone skill describes, what is still to
    do, and what to do otherwise after an action that failed. Nothing is stored."""
    steps = shapes.steps(sent)
    return await call.read(
        lambda: shapes.guidance(call.services.guiding(call.scope, item_id, steps, goal=sent.goal))
    )


@router.post("/cases/similar", tags=["memories"])
async def similar_cases(sent: SimilarCasesRequest, call: CallDep) -> SimilarCases:
    """Cases like a task: by what is said of it and by the order of the operations, which finds
    the same shape in another domain."""
    return await call.read(
        lambda: shapes.similar_cases(
            call.services.similar_cases(
                call.scope, sent.namespace, sent.goal, sent.operations, k=sent.k
            )
        )
    )
