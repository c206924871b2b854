"""Skills in and out: imports into quarantine, promotion, exports, and all that is known of one."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from memserver.api import skill_shapes
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import (
    BankExportQuery,
    SkillExportQuery,
    SkillImportQuery,
    WriteQuery,
)
from memserver.domain.items import Status
from memserver.services.skills.reading import READERS, read
from memserver.wire.skills import (
    PromoteSkill,
    QuarantineSkill,
    SkillCard,
    SkillMoved,
    SkillsImported,
)

router = APIRouter(tags=["skills"])

ARCHIVE = "application/zip"
NDJSON = "application/x-ndjson"
JSON = "application/json"
STATUSES = {
    "active": (Status.ACTIVE,),
    "quarantined": (Status.QUARANTINED,),
    "any": (Status.ACTIVE, Status.QUARANTINED),
}


@router.post(
    "/skills/import",
    status_code=201,
    response_model=SkillsImported,
    openapi_extra={"requestBody": {"content": {kind: {} for kind in READERS}}},
)
async def import_skills(
    request: Request, query: Annotated[SkillImportQuery, Query()], call: WriteCallDep
) -> Response:
    """Take skills from outside into quarantine: an archive of Agent Skills folders, one SKILL.md, a
    SkillRL bank, or JSON lines of ours, by the content type. The reply says what was found in
    them, and what was refused and why."""
    body = await request.body()
    media_type = request.headers.get("content-type", "")
    namespace = await call.writable(query.namespace)
    brought = await call.read(lambda: read(body, media_type))
    return await call.write(
        lambda tx: skill_shapes.imported(
            call.services.importing(tx, call.scope, namespace, brought)
        ),
        status=201,
        wait=query.wait,
    )


@router.get(
    "/skills/export",
    response_class=Response,
    responses={200: {"content": {JSON: {}, NDJSON: {"schema": {"type": "string"}}}}},
)
async def export_skills(query: Annotated[BankExportQuery, Query()], call: CallDep) -> Response:
    """The skills and common mistakes of a namespace, as a SkillRL bank or as JSON lines of ours."""

    def write() -> bytes:
        namespace = call.services.access.readable_one(call.scope, query.namespace)
        exporting = call.services.skill_exporting
        make = exporting.bank if query.format == "skillrl" else exporting.lines
        return make(call.scope, namespace, statuses=STATUSES[query.status])

    kind = JSON if query.format == "skillrl" else NDJSON
    return Response(await call.read(write), media_type=kind)


@router.get(
    "/skills/{item_id}/export",
    response_class=Response,
    responses={200: {"content": {ARCHIVE: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def export_skill(
    item_id: UUID, query: Annotated[SkillExportQuery, Query()], call: CallDep
) -> Response:
    """A skill as an Agent Skills folder in a zip file. Importing it gives the same skill."""
    made = await call.read(lambda: call.services.skill_exporting.agent_skill(call.scope, item_id))
    disposition = f'attachment; filename="{made.name}.zip"'
    return Response(made.data, media_type=ARCHIVE, headers={"Content-Disposition": disposition})


@router.get("/skills/{item_id}/card")
async def skill_card(item_id: UUID, call: CallDep) -> SkillCard:
    """All that is known of a skill: text and versions, where it came from, when it was used, what
    came of it by context and by agent, and why it is offered or is not."""
    return await call.read(lambda: skill_shapes.card(call.services.cards(call.scope, item_id)))


@router.post("/skills/{item_id}/promote", response_model=SkillMoved)
async def promote_skill(
    item_id: UUID,
    sent: PromoteSkill,
    query: Annotated[WriteQuery, Query()],
    call: WriteCallDep,
) -> Response:
    """Bring a skill out of quarantine into use, for a reason."""
    return await call.write(
        lambda tx: skill_shapes.moved(
            call.services.quarantine.promote(
                tx,
                call.scope,
                item_id,
                reason=sent.reason,
                allow_tools=sent.allow_tools,
                accept_findings=sent.accept_findings,
            )
        ),
        wait=query.wait,
    )


@router.post("/skills/{item_id}/quarantine", response_model=SkillMoved)
async def quarantine_skill(
    item_id: UUID,
    sent: QuarantineSkill,
    query: Annotated[WriteQuery, Query()],
    call: WriteCallDep,
) -> Response:
    """Take a skill out of use until it is promoted, for a reason."""
    return await call.write(
        lambda tx: skill_shapes.moved(
            call.services.quarantine.quarantine(tx, call.scope, item_id, reason=sent.reason)
        ),
        wait=query.wait,
    )
