"""Policies: register one, see how it does, try it, promote it, take it back; how a namespace
explores; and what was decided."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from memserver.api import policy_shapes, shaping
from memserver.api.call import Call, CallDep, WriteCallDep
from memserver.api.queries import EvaluationQuery, PolicyListQuery, PolicyQuery, RegisterQuery
from memserver.domain.errors import UnusablePolicy
from memserver.domain.policies import Exploration as Settings
from memserver.domain.policies import Mode, PolicyRole, exploration_id
from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.folder import PolicyFolder, unpacked
from memserver.wire.base import Page
from memserver.wire.policies import (
    Canary,
    Decision,
    Exploration,
    ExplorationSet,
    MovePolicy,
    NewExploration,
    Policy,
    PolicyEvaluation,
    PolicyMoved,
    PolicyStatus,
    Promote,
    RollBack,
)

router = APIRouter(tags=["policies"])

ZIP = {
    "requestBody": {
        "required": True,
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}
MOVE = "move policies between states"


@router.post("/policies", status_code=201, response_model=PolicyMoved, openapi_extra=ZIP)
async def register_policy(
    request: Request, query: Annotated[RegisterQuery, Query()], call: WriteCallDep
) -> Response:
    """Register a policy folder (`manifest.json` and `policy.safetensors`, zipped). It goes into
    the shadow: scored and logged with every retrieve, never served."""
    body = await request.body()
    namespace = await call.writable(query.namespace)
    folder = await run_in_threadpool(_folder, body)
    return await call.write(
        lambda tx: policy_shapes.moved(
            call.services.policies.register(tx, call.scope, namespace, folder)
        ),
        status=201,
    )


@router.get("/policies")
async def list_policies(query: Annotated[PolicyListQuery, Query()], call: CallDep) -> Page[Policy]:
    """The learned policies of a namespace, newest first, in whatever state."""

    def read() -> Page[Policy]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        page = call.page(query.limit, query.cursor)
        found = call.services.policies.list(call.scope, namespaces, page)
        return shaping.page(found, policy_shapes.policy)

    return await call.read(read)


@router.get("/policies/status")
async def policy_status(query: Annotated[PolicyQuery, Query()], call: CallDep) -> PolicyStatus:
    """What serves in a namespace, what is tried beside it and how it does, and how it
    explores."""

    def read() -> PolicyStatus:
        namespace = call.services.access.readable_one(call.scope, query.namespace)
        role = PolicyRole(query.role)
        return policy_shapes.status(call.services.overview(call.scope, namespace, role))

    return await call.read(read)


@router.post("/policies/rollback", response_model=PolicyMoved)
async def roll_back_policy(sent: RollBack, call: WriteCallDep) -> Response:
    """Retire the active policy. What was active before it serves again from the next request
    on."""
    call.services.access.require_admin(call.scope, "roll policies back")
    namespace = await call.writable(sent.namespace)
    return await call.write(
        lambda tx: policy_shapes.moved(
            call.services.policies.roll_back(
                tx, call.scope, namespace, PolicyRole(sent.role), reason=sent.reason
            )
        )
    )


@router.get("/policies/{policy_id}")
async def get_policy(policy_id: UUID, call: CallDep) -> Policy:
    """One policy, with its manifest."""
    return await call.read(
        lambda: policy_shapes.policy(call.services.policies.find(call.scope, policy_id))
    )


@router.get("/policies/{policy_id}/evaluation")
async def evaluate_policy(
    policy_id: UUID, query: Annotated[EvaluationQuery, Query()], call: CallDep
) -> PolicyEvaluation:
    """What the server's own log says of the policy, against what is active: estimates with their
    interval, or why there is none."""
    return await call.read(
        lambda: policy_shapes.evaluation(
            call.services.policies.prove(call.scope, policy_id, since=query.since)
        )
    )


@router.post("/policies/{policy_id}/shadow", response_model=PolicyMoved)
async def shadow_policy(policy_id: UUID, sent: MovePolicy, call: WriteCallDep) -> Response:
    """Put a policy (back) into the shadow: scored and logged, not served."""
    return await call.write(
        lambda tx: policy_shapes.moved(
            call.services.policies.to_shadow(tx, call.scope, policy_id, reason=sent.reason)
        )
    )


@router.post("/policies/{policy_id}/canary", response_model=PolicyMoved)
async def canary_policy(policy_id: UUID, sent: Canary, call: WriteCallDep) -> Response:
    """Serve a share of the runs with the policy. Refused unless the server's own log shows it to
    be better than what is active, or a reason is given to do it all the same."""
    call.services.access.require_admin(call.scope, MOVE)
    proof = await call.read(lambda: call.services.policies.prove(call.scope, policy_id))
    return await call.write(
        lambda tx: policy_shapes.moved(
            call.services.policies.to_canary(
                tx, call.scope, policy_id, share=sent.share, proof=proof, override=sent.override
            )
        )
    )


@router.post("/policies/{policy_id}/promote", response_model=PolicyMoved)
async def promote_policy(policy_id: UUID, sent: Promote, call: WriteCallDep) -> Response:
    """Make a policy the active one. Refused unless the outcomes of its canary show it to be
    better, or a reason is given to do it all the same."""
    call.services.access.require_admin(call.scope, MOVE)
    trial = await call.read(lambda: call.services.policies.trial(call.scope, policy_id))
    return await call.write(
        lambda tx: policy_shapes.moved(
            call.services.policies.promote(
                tx, call.scope, policy_id, trial=trial, override=sent.override
            )
        )
    )


@router.post("/policies/{policy_id}/retire", response_model=PolicyMoved)
async def retire_policy(policy_id: UUID, sent: MovePolicy, call: WriteCallDep) -> Response:
    """Take a shadow or a canary out of use."""
    return await call.write(
        lambda tx: policy_shapes.moved(
            call.services.policies.retire(tx, call.scope, policy_id, reason=sent.reason)
        )
    )


@router.get("/namespaces/exploration", tags=["namespaces"])
async def get_exploration(query: Annotated[PolicyQuery, Query()], call: CallDep) -> Exploration:
    """How a namespace explores."""

    def read() -> Exploration:
        namespace = call.services.access.readable_one(call.scope, query.namespace)
        found = call.services.exploring.get(namespace, PolicyRole(query.role))
        return policy_shapes.exploration(found)

    return await call.read(read)


@router.put("/namespaces/exploration", response_model=ExplorationSet, tags=["namespaces"])
async def set_exploration(sent: NewExploration, call: WriteCallDep) -> Response:
    """Set how a namespace explores, from the next retrieve on."""
    call.services.access.require_admin(call.scope, "set how namespaces explore")
    settings = await _settings(sent, call)
    return await call.write(
        lambda tx: policy_shapes.exploration_set(
            settings, call.services.exploring.set(tx, call.scope, settings)
        )
    )


@router.get("/decisions/{decision_id}", tags=["retrieve"])
async def get_decision(decision_id: UUID, call: CallDep) -> Decision:
    """A logged retrieve by its `retrieval_id`: every candidate with its features, its score, its
    place and how likely that was."""
    return await call.read(
        lambda: policy_shapes.decision(call.services.overview.decision(call.scope, decision_id))
    )


async def _settings(sent: NewExploration, call: Call) -> Settings:
    namespace = await call.writable(sent.namespace)
    role = PolicyRole(sent.role)
    return Settings(
        id=exploration_id(namespace, role),
        namespace=namespace,
        role=role,
        mode=Mode(sent.mode),
        temperature=sent.temperature,
        share=sent.share,
        exposure_slots=sent.exposure_slots,
    )


def _folder(body: bytes) -> PolicyFolder:
    try:
        return unpacked(body)
    except InvalidPolicy as error:
        raise UnusablePolicy(error.reason) from error
