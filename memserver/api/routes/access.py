"""Keys and namespaces."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import PageQuery
from memserver.domain.scope import Role
from memserver.wire.access import Key, KeyCreated, Namespace, NewKey, NewNamespace
from memserver.wire.base import Page

router = APIRouter()


@router.get("/namespaces", tags=["namespaces"])
async def list_namespaces(query: Annotated[PageQuery, Query()], call: CallDep) -> Page[Namespace]:
    """The namespaces within the key's grants."""
    page = call.page(query.limit, query.cursor)
    found = await call.read(lambda: call.services.access.namespaces(call.scope, page))
    return shaping.page(found, lambda namespace: Namespace(path=namespace.path))


@router.post("/namespaces", status_code=201, response_model=Namespace, tags=["namespaces"])
async def create_namespace(sent: NewNamespace, call: WriteCallDep) -> Response:
    """Make sure that a namespace exists. Writing to one does so as well."""
    made = await call.writable(sent.path)
    return await call.write(lambda tx: Namespace(path=made.path), status=201)


@router.get("/keys", tags=["keys"])
async def list_keys(query: Annotated[PageQuery, Query()], call: CallDep) -> Page[Key]:
    """The tenant's keys, without their secrets."""
    page = call.page(query.limit, query.cursor)
    found = await call.read(lambda: call.services.access.keys(call.scope, page))
    return shaping.page(found, shaping.key)


@router.post("/keys", status_code=201, response_model=KeyCreated, tags=["keys"])
async def create_key(sent: NewKey, call: WriteCallDep) -> Response:
    """A new key. Its secret is in this answer and nowhere else."""
    return await call.write(
        lambda tx: shaping.issued(
            call.services.access.create_key(
                tx,
                call.scope,
                role=Role(sent.role),
                grants=sent.grants,
                tenant=sent.tenant,
                label=sent.label,
                unseals=sent.unseals,
            )
        ),
        status=201,
        secret="key",
    )


@router.delete("/keys/{key_id}", response_model=Key, tags=["keys"])
async def revoke_key(key_id: UUID, call: WriteCallDep) -> Response:
    """Revoke a key at once."""
    return await call.write(
        lambda tx: shaping.key(call.services.access.revoke_key(tx, call.scope, key_id))
    )
