"""The library of skills as a whole: what its parts are worth, and how it evolves."""

from uuid import UUID

from fastapi import APIRouter

from memserver.api import library_shapes as shapes
from memserver.api.call import CallDep
from memserver.wire.library import RunCredit, Worth

router = APIRouter(tags=["library"])


@router.get("/memories/{item_id}/worth")
async def get_worth(item_id: UUID, call: CallDep) -> Worth:
    """What an item is worth by what came of it, by context."""
    return await call.read(lambda: shapes.worth(call.services.valuing.worth(call.scope, item_id)))


@router.get("/trajectories/{trajectory_id}/credit")
async def get_credit(trajectory_id: UUID, call: CallDep) -> RunCredit:
    """What a run's outcome says of what it was offered, and of what is distilled from it."""
    return await call.read(
        lambda: shapes.run_credit(
            trajectory_id, call.services.valuing.credit(call.scope, trajectory_id)
        )
    )
