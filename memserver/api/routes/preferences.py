"""Preferences: learnt from edits, asked for by context."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from memserver.api import preference_shapes
from memserver.api.call import CallDep, WriteCallDep
from memserver.api.queries import WriteQuery
from memserver.services.preferring.preferring import Edit
from memserver.wire.preferences import EditRead, NewEdit, Preferences, PreferencesQuestion

router = APIRouter(tags=["preferences"])


@router.post("/preferences/edits", status_code=201, response_model=EditRead)
async def add_edit(
    sent: NewEdit, query: Annotated[WriteQuery, Query()], call: WriteCallDep
) -> Response:
    """Learn from what somebody made of an agent's text. What is shown again adds to the evidence
    of the preference that is known; what goes against one lowers it."""
    preferring = call.services.preferring
    namespace = await call.writable(sent.namespace)
    edit = Edit(namespace, sent.context, sent.before, sent.after, sent.subject, sent.run)
    reading = await call.read(lambda: preferring.read(call.scope, edit))
    return await call.write(
        lambda tx: preference_shapes.edit_read(preferring.keep(tx, call.scope, reading)),
        status=201,
        wait=query.wait,
    )


@router.post("/preferences/for")
async def preferences_for(sent: PreferencesQuestion, call: CallDep) -> Preferences:
    """What to keep to in a context, by the preferences that were learnt in near ones."""

    def suited() -> Preferences:
        services = call.services
        namespaces = services.access.readable(call.scope, [sent.namespace])
        return preference_shapes.preferences(
            services.preferring.suited(
                call.scope, namespaces, sent.context, k=sent.k, subject=sent.subject
            )
        )

    return await call.read(suited)
