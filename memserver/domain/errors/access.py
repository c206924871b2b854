"""Who is asking, and may not."""

from memserver.domain.errors.root import MemserverError


class Unauthenticated(MemserverError):
    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("No valid API key: send 'Authorization: Bearer <key>'.")


class Forbidden(MemserverError):
    """The key is valid, but not for this."""

    code = "forbidden"


class NamespaceForbidden(Forbidden):
    code = "namespace_forbidden"

    def __init__(self, path: str, wanted: str) -> None:
        super().__init__(f"This key has no grant to {wanted} the namespace {path!r}.")


class RoleForbidden(Forbidden):
    code = "role_forbidden"

    def __init__(self, role: str, wanted: str) -> None:
        super().__init__(f"A key with the role '{role}' may not {wanted}.")


class UnsealForbidden(Forbidden):
    code = "unseal_forbidden"

    def __init__(self) -> None:
        super().__init__("This key may not see what privacy took out of texts.")
