"""Namespaces and keys."""

from collections.abc import Sequence
from typing import Any

from memserver.wire.access import Key, KeyCreated, Namespace, NewKey, NewNamespace
from memserver.wire.base import Page
from memserver.wire.namespaces import (
    NamespaceSettings,
    NamespaceSettingsStored,
    NewNamespaceSettings,
)
from memserver_client._call import Call, Listing, read, write
from memserver_client._requests import Id, checked, id_of, parsed


def namespaces() -> Listing[Namespace]:
    return Listing(path="/v1/namespaces", page=Page[Namespace])


def create_namespace(path: str) -> Call[Namespace]:
    return write("POST", "/v1/namespaces", Namespace, checked(NewNamespace, path=path))


def keys() -> Listing[Key]:
    return Listing(path="/v1/keys", page=Page[Key])


def create_key(
    *,
    role: str,
    grants: Sequence[str],
    tenant: str | None = None,
    label: str = "",
    unseals: bool = False,
) -> Call[KeyCreated]:
    """The secret is in `.key`, this once. It is not asked for a second time after a lost
    answer, because a repeated answer leaves the secret out. With `unseals` it may see what
    privacy took out of texts."""
    new = checked(
        NewKey, role=role, grants=list(grants), tenant=tenant, label=label, unseals=unseals
    )
    return write("POST", "/v1/keys", KeyCreated, new, repeatable=False)


def revoke_key(id: Id) -> Call[Key]:
    return write("DELETE", f"/v1/keys/{id_of(id)}", Key)


def namespace_settings(*, namespace: str) -> Call[NamespaceSettings]:
    """How a namespace keeps its memory: decay, bounds, privacy, when it is consolidated."""
    return read("/v1/namespaces/settings", NamespaceSettings, {"namespace": namespace})


def set_namespace_settings(*, namespace: str, **settings: Any) -> Call[NamespaceSettingsStored]:
    """Sets what is named of them; the rest stays as it is. None takes a bound or an occasion
    away."""
    return write(
        "PUT",
        "/v1/namespaces/settings",
        NamespaceSettingsStored,
        parsed(NewNamespaceSettings, settings),
        params={"namespace": namespace},
    )
