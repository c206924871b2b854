"""How a namespace keeps its memory: set by an admin, logged as a change that can be undone."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.ports import Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.services.access import Access

SET_THEM = "set how namespaces keep their memory"


@dataclass(frozen=True, slots=True)
class Settled:
    """The settings as they now are; `change` is None where nothing was new."""

    settings: NamespaceSettings
    change: Change | None


class Settling:
    def __init__(self, store: Store, access: Access) -> None:
        self._store = store
        self._access = access

    def get(self, namespace: Namespace) -> NamespaceSettings:
        with self._store.reading() as reader:
            return reader.namespace_settings(namespace)

    def set(
        self, tx: Writer, scope: Scope, namespace: Namespace, wanted: Mapping[str, Any]
    ) -> Settled:
        """What is not named in `wanted` stays as it is. Holds from the next request on."""
        self._access.require_admin(scope, SET_THEM)
        self._access.require_writable(scope, namespace)
        known = tx.namespace_settings(namespace)
        settings = replace(known, **wanted)
        if settings == known:
            return Settled(settings, None)
        said = asdict(known)
        changed = [f"{name} {value}" for name, value in wanted.items() if said[name] != value]
        change = tx.apply(
            Draft(
                tenant=scope.tenant,
                verb=Verb.SET_NAMESPACE,
                actor=scope.key,
                reason=", ".join(changed),
                puts=(settings,),
            )
        )
        return Settled(settings, change)
