"""In whose name the server does what nobody asked for."""

from uuid import UUID

from memserver.domain.scope import EVERYTHING, Namespace, Role, Scope

SERVER = UUID(int=0)


def as_server(namespace: Namespace) -> Scope:
    """The server itself, in a namespace's tenant."""
    return Scope(namespace.tenant, SERVER, Role.ADMIN, (EVERYTHING,))
