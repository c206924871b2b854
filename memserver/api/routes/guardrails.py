"""Guardrails: reports in, verdicts out."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import guard_shapes
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import WriteQuery
from memserver.services.guarding.guarding import Report
from memserver.services.guarding.situations import Label
from memserver.wire.guardrails import GuardrailsQuestion, Judgement, NewReport, ReportKept

router = APIRouter(tags=["guardrails"])


@router.post("/guardrails/reports", status_code=201, response_model=ReportKept)
async def add_report(
    sent: NewReport, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Say that what an agent did was harmful, or fine. Harm becomes a rule; each report counts
    for and against the rules that match it."""
    guarding = call.services.guarding
    namespace = await call.writable(sent.namespace)
    situation = guard_shapes.situation(sent.situation, sent.local_to)
    report = Report(namespace, situation, Label(sent.label))
    considered = await call.read(lambda: guarding.consider(call.scope, report))
    return await call.write(
        lambda tx: guard_shapes.report_kept(guarding.keep(tx, call.scope, considered)),
        status=201,
        wait=query.wait,
    )


@router.post("/guardrails/check")
async def check(sent: GuardrailsQuestion, call: CallDep) -> Judgement:
    """Hold what an agent is about to do against the rules, and cite those that decide."""

    def judged() -> Judgement:
        services = call.services
        namespaces = services.access.readable(call.scope, [sent.namespace])
        situation = guard_shapes.situation(sent.situation, sent.local_to)
        return guard_shapes.judgement(
            services.guarding.check(call.scope, namespaces, situation, bound=sent.bound)
        )

    return await call.read(judged)
