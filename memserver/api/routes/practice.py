"""Practice before tasks: goals to try, and what may be learnt from the runs of them."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import parsing, shaping
from memserver.api import practice_shapes as shapes
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import PageQuery, WriteQuery
from memserver.domain.ports import PracticeFilter
from memserver.domain.practice import PracticeState
from memserver.wire import practice as wire
from memserver.wire.base import NamespacePattern, Page
from memserver.wire.practice import (
    PracticeDecided,
    PracticeGoal,
    PracticeProposed,
    PracticeRequest,
    ValidatePractice,
)

router = APIRouter(prefix="/practice", tags=["practice"])


class PracticeQuery(PageQuery):
    namespace: NamespacePattern
    state: wire.PracticeState | None = None


@router.post("/propose", status_code=201, response_model=PracticeProposed)
async def propose(sent: PracticeRequest, call: WriteCallDep) -> Response:
    """Make up goals that are new, possible, and neither sure to be reached nor sure to fail."""
    namespace = await call.writable(sent.namespace)
    practising = call.services.practising
    found = await call.read(
        lambda: practising.exercises(call.scope, namespace, k=sent.k, seed=sent.seed)
    )
    return await call.write(
        lambda tx: shapes.proposed(namespace.path, practising.keep(tx, namespace, found)),
        status=201,
    )


@router.post("/validate", response_model=PracticeDecided)
async def validate(
    sent: ValidatePractice, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Decide whether a run of a proposed goal enters memory. One that does is stored as a
    trajectory; of one that does not only the proposer learns."""
    namespace = await call.writable(sent.namespace)
    practising = call.services.practising
    judged = await call.read(
        lambda: practising.judge(
            call.scope,
            namespace,
            sent.proposal,
            parsing.run(sent.run, namespace, datetime.now(UTC)),
        )
    )
    return await call.write(
        lambda tx: shapes.decided(
            practising.decide(tx, call.scope, namespace, sent.proposal, judged)
        ),
        wait=query.wait,
    )


@router.get("")
async def list_practice(
    query: Annotated[PracticeQuery, Query()], call: CallDep
) -> Page[PracticeGoal]:
    """What was proposed, oldest first, and what became of it."""

    def read() -> Page[PracticeGoal]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        where = PracticeFilter(
            tuple(namespace.id for namespace in namespaces),
            None if query.state is None else PracticeState(query.state),
        )
        page = call.page(query.limit, query.cursor)
        return shaping.page(call.services.practising.list(call.scope, where, page), shapes.goal)

    return await call.read(read)
