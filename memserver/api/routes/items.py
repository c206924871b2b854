"""Memories and skills: one service behind both."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import parsing, shaping
from memserver.api.call import Call, CallDep, WriteCallDep
from memserver.api.queries import ItemQuery, SkillQuery, TimeQuery, UnsealQuery, WriteQuery
from memserver.domain.items import Kind, Status
from memserver.domain.ports import ItemFilter
from memserver.wire.base import Page, Receipt
from memserver.wire.items import History, Item, ItemStored, NewMemory, NewSkill, NewVersion

router = APIRouter()

ANY = frozenset(Kind)
SKILLS = frozenset({Kind.SKILL})


@router.post("/memories", status_code=201, response_model=ItemStored, tags=["memories"])
async def remember(
    sent: NewMemory, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Keep a memory. Content that the namespace holds already is not kept twice; a new value
    for a fact's entity and key becomes a new version of it."""
    return await _create(sent, Kind(sent.kind), query, call)


@router.post("/skills", status_code=201, response_model=ItemStored, tags=["skills"])
async def create_skill(
    sent: NewSkill, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Keep a skill."""
    return await _create(sent, Kind.SKILL, query, call)


@router.get("/memories", tags=["memories"])
async def list_memories(query: Annotated[ItemQuery, Query()], call: CallDep) -> Page[Item]:
    """The items of a namespace, of every kind, oldest first."""
    kinds = (Kind(query.kind),) if query.kind else ()
    return await _list(query, kinds, call)


@router.get("/skills", tags=["skills"])
async def list_skills(query: Annotated[SkillQuery, Query()], call: CallDep) -> Page[Item]:
    """The skills of a namespace, oldest first."""
    return await _list(query, (Kind.SKILL,), call)


@router.get("/memories/{item_id}", tags=["memories"])
async def get_memory(item_id: UUID, query: Annotated[TimeQuery, Query()], call: CallDep) -> Item:
    """One item of any kind, with its current version."""
    return await _get(item_id, ANY, query, call)


@router.get("/skills/{item_id}", tags=["skills"])
async def get_skill(item_id: UUID, query: Annotated[TimeQuery, Query()], call: CallDep) -> Item:
    """One skill, with its current version."""
    return await _get(item_id, SKILLS, query, call)


@router.post(
    "/memories/{item_id}/versions", status_code=201, response_model=ItemStored, tags=["memories"]
)
async def add_memory_version(
    item_id: UUID, sent: NewVersion, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """New content for an item. The version before it stays readable in the history."""
    return await _add_version(item_id, sent, ANY, query, call)


@router.post(
    "/skills/{item_id}/versions", status_code=201, response_model=ItemStored, tags=["skills"]
)
async def add_skill_version(
    item_id: UUID, sent: NewVersion, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """New content for a skill. The version before it stays readable in the history."""
    return await _add_version(item_id, sent, SKILLS, query, call)


@router.delete("/memories/{item_id}", response_model=Receipt, tags=["memories"])
async def delete_memory(
    item_id: UUID, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Take an item out of every retrieve and list. `undo` of the change brings it back."""
    return await _delete(item_id, ANY, query, call)


@router.delete("/skills/{item_id}", response_model=Receipt, tags=["skills"])
async def delete_skill(
    item_id: UUID, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Take a skill out of every retrieve and list. `undo` of the change brings it back."""
    return await _delete(item_id, SKILLS, query, call)


@router.get("/memories/{item_id}/history", tags=["memories"])
async def memory_history(
    item_id: UUID, query: Annotated[UnsealQuery, Query()], call: CallDep
) -> History:
    """All versions of an item, newest first."""
    return await _history(item_id, ANY, query, call)


@router.get("/skills/{item_id}/history", tags=["skills"])
async def skill_history(
    item_id: UUID, query: Annotated[UnsealQuery, Query()], call: CallDep
) -> History:
    """All versions of a skill, newest first."""
    return await _history(item_id, SKILLS, query, call)


async def _create(
    sent: NewMemory | NewSkill, kind: Kind, query: WriteQuery, call: Call
) -> Response:
    content = parsing.content(sent, kind)
    namespace = await call.writable(sent.namespace)
    return await call.write(
        lambda tx: shaping.item_stored(
            call.services.remembering.remember(tx, call.scope, namespace, kind, content)
        ),
        status=201,
        wait=query.wait,
    )


async def _list(query: SkillQuery | ItemQuery, kinds: tuple[Kind, ...], call: Call) -> Page[Item]:
    def read() -> Page[Item]:
        namespaces = call.services.access.readable(call.scope, [query.namespace])
        where = ItemFilter(
            namespaces=tuple(namespace.id for namespace in namespaces),
            kinds=kinds,
            statuses=(Status(query.status),),
        )
        page = call.page(query.limit, query.cursor)
        frame = parsing.frame(query.as_of, query.known_at)
        known = call.services.remembering.list(call.scope, where, page, frame=frame)
        return shaping.page(known, shaping.item)

    return await call.show(query.unseal, read)


async def _get(item_id: UUID, kinds: frozenset[Kind], query: TimeQuery, call: Call) -> Item:
    remembering = call.services.remembering
    frame = parsing.frame(query.as_of, query.known_at)
    return await call.show(
        query.unseal,
        lambda: shaping.item(remembering.get(call.scope, item_id, kinds=kinds, frame=frame)),
    )


async def _add_version(
    item_id: UUID, sent: NewVersion, kinds: frozenset[Kind], query: WriteQuery, call: Call
) -> Response:
    remembering = call.services.remembering
    known = await call.read(lambda: remembering.get(call.scope, item_id, kinds=kinds))
    content = parsing.content(sent, known.entry.item.kind)
    return await call.write(
        lambda tx: shaping.item_stored(
            remembering.add_version(tx, call.scope, item_id, content, kinds=kinds)
        ),
        status=201,
        wait=query.wait,
    )


async def _delete(item_id: UUID, kinds: frozenset[Kind], query: WriteQuery, call: Call) -> Response:
    return await call.write(
        lambda tx: shaping.receipt(
            call.services.remembering.forget(tx, call.scope, item_id, kinds=kinds)
        ),
        wait=query.wait,
    )


async def _history(
    item_id: UUID, kinds: frozenset[Kind], query: UnsealQuery, call: Call
) -> History:
    remembering = call.services.remembering
    return await call.show(
        query.unseal,
        lambda: shaping.history(remembering.history(call.scope, item_id, kinds=kinds)),
    )
