"""How a namespace keeps its memory."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import shaping
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import Query as ClosedQuery
from memserver.domain import namespace_settings as domain
from memserver.services.namespace_settings import SET_THEM, Settled
from memserver.wire.base import NamespacePath
from memserver.wire.namespaces import (
    NamespaceSettings,
    NamespaceSettingsStored,
    NewNamespaceSettings,
)

router = APIRouter(tags=["namespaces"])


class NamespaceQuery(ClosedQuery):
    namespace: NamespacePath


@router.get("/namespaces/settings")
async def get_namespace_settings(
    query: Annotated[NamespaceQuery, Query()], call: CallDep
) -> NamespaceSettings:
    """How a namespace keeps its memory: decay, bounds, privacy, when it is consolidated."""

    def read() -> NamespaceSettings:
        namespace = call.services.access.readable_one(call.scope, query.namespace)
        return _settings(call.services.settling.get(namespace))

    return await call.read(read)


@router.put("/namespaces/settings", response_model=NamespaceSettingsStored)
async def set_namespace_settings(
    query: Annotated[NamespaceQuery, Query()], sent: NewNamespaceSettings, call: WriteCallDep
) -> Response:
    """Set that, from the next request on. What is left out stays as it is."""
    call.services.access.require_admin(call.scope, SET_THEM)
    namespace = await call.writable(query.namespace)
    wanted = sent.model_dump(exclude_unset=True)
    if wanted.get("allowed_tools") is not None:
        wanted["allowed_tools"] = tuple(dict.fromkeys(wanted["allowed_tools"]))
    return await call.write(
        lambda tx: _stored(call.services.settling.set(tx, call.scope, namespace, wanted))
    )


def _settings(found: domain.NamespaceSettings) -> NamespaceSettings:
    names = [name for name in NamespaceSettings.model_fields if name != "namespace"]
    return NamespaceSettings(
        namespace=found.namespace.path, **{name: getattr(found, name) for name in names}
    )


def _stored(settled: Settled) -> NamespaceSettingsStored:
    return NamespaceSettingsStored(
        **shaping.receipt(settled.change).model_dump(), settings=_settings(settled.settings)
    )
