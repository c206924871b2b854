"""The change log: what was written, by whom and why, and undo."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import ChangeQuery, PageQuery, UndoQuery
from memserver.wire.base import Page
from memserver.wire.operations import Change, ChangeDetail, Undone

router = APIRouter(prefix="/changes", tags=["changes"])


@router.get("")
async def list_changes(query: Annotated[ChangeQuery, Query()], call: CallDep) -> Page[Change]:
    """The changes of a namespace, newest first."""

    def read() -> Page[Change]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        page = call.page(query.limit, query.cursor)
        found = call.services.changing.list(call.scope, namespaces, page, row=query.row)
        return shaping.page(found, shaping.change)

    return await call.read(read)


@router.get("/{change_id}")
async def get_change(
    change_id: UUID, query: Annotated[PageQuery, Query()], call: CallDep
) -> ChangeDetail:
    """One change, with the rows that it touched."""
    page = call.page(query.limit, query.cursor)
    return shaping.change_detail(
        await call.read(lambda: call.services.changing.get(call.scope, change_id, page))
    )


@router.post("/{change_id}/undo", response_model=Undone)
async def undo(
    change_id: UUID, query: Annotated[UndoQuery, Query()], call: WriteCallDep
) -> Response:
    """Put every row back that the change touched. Refused, with the changes in the way, where
    later ones touched them too. An undo is a change, and can be undone."""
    return await call.write(
        lambda tx: shaping.undone(
            call.services.changing.undo(tx, call.scope, change_id, reason=query.reason), change_id
        ),
        wait=query.wait,
    )
