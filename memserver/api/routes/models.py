"""The chat model's budget, as its users see it."""

from fastapi import APIRouter

from memserver.api.call import CallDep
from memserver.services.model_budget import Standing
from memserver.wire.models import ModelUsage

router = APIRouter(tags=["models"])


@router.get("/models/usage")
async def model_usage(call: CallDep) -> ModelUsage:
    """What the tenant has used of the chat model today, and what is left."""
    asking = call.services.asking
    standing = await call.read(lambda: call.services.model_budget.standing(call.scope.tenant))
    return _usage(standing, None if asking is None else asking.model)


def _usage(standing: Standing, model: str | None) -> ModelUsage:
    return ModelUsage(
        configured=model is not None,
        model=model,
        day=standing.use.day,
        calls=standing.use.calls,
        tokens=standing.use.tokens,
        tokens_a_day=standing.tokens_a_day,
        left=standing.left,
        renewed_at=standing.renewed_at,
    )
