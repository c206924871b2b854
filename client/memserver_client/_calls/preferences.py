"""Preferences that edits show, and what the chat model may still be asked."""

from memserver.wire.models import ModelUsage
from memserver.wire.preferences import EditRead, NewEdit, Preferences, PreferencesQuestion
from memserver_client._call import Call, ask, read, write
from memserver_client._requests import Id, checked, id_of


def edited(
    *,
    namespace: str,
    context: str,
    before: str,
    after: str,
    subject: str | None = None,
    run: Id | None = None,
) -> Call[EditRead]:
    """Learns from what somebody made of an agent's text, in a context such as "email to a
    customer". A repeated edit makes no second preference; its evidence grows. `subject` says
    whose preferences these are, `run` which run wrote the text."""
    new = checked(
        NewEdit,
        namespace=namespace,
        context=context,
        before=before,
        after=after,
        subject=subject,
        run=None if run is None else id_of(run),
    )
    return write("POST", "/v1/preferences/edits", EditRead, new)


def preferences(
    *, namespace: str, context: str, k: int = 5, subject: str | None = None
) -> Call[Preferences]:
    """What to keep to in a context, by the `k` nearest contexts in which something was learnt;
    nothing where none is near. `.text` goes into a prompt."""
    question = checked(
        PreferencesQuestion, namespace=namespace, context=context, k=k, subject=subject
    )
    return ask("/v1/preferences/for", Preferences, question)


def model_usage() -> Call[ModelUsage]:
    """What the tenant has used of the server's chat model today, and what is left."""
    return read("/v1/models/usage", ModelUsage)
