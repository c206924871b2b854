"""Originals back in the place of their placeholders, for a key that may see them and asks."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memserver.domain.errors import UnsealForbidden
from memserver.domain.ports import Store
from memserver.domain.scope import Scope
from memserver.services.privacy.placeholders import PLACEHOLDER
from memserver.services.privacy.protecting import Protecting

log = logging.getLogger(__name__)

Place = tuple[str, str]
"""The path of a namespace, and the digest of what was taken out there."""


class Unsealing:
    def __init__(self, store: Store, protecting: Protecting) -> None:
        self._store = store
        self._protecting = protecting

    @staticmethod
    def require(scope: Scope) -> None:
        """Raises `UnsealForbidden`."""
        if not scope.unseals:
            raise UnsealForbidden

    def reply(
        self, scope: Scope, body: Mapping[str, Any], *, within: Sequence[str] = ()
    ) -> dict[str, Any]:
        """A reply as JSON with what can be restored restored: a row by the namespace that it
        names, so that a placeholder which somebody copied elsewhere gives nothing away; what names
        none by those of the rows around it, or those `within` which it lies. What stands in a row
        and calls itself a namespace is somebody's words. Raises `UnsealForbidden`."""
        self.require(scope)
        everywhere, inside = frozenset(within or _namespaces(body)), bool(within)
        places = set(_places(body, everywhere, inside))
        with self._store.reading() as reader:
            sealed = reader.originals(
                scope,
                sorted({path for path, _ in places}),
                sorted({digest for _, digest in places}),
            )
        known = {
            place: original
            for place, data in sealed.items()
            if place in places and (original := self._protecting.original(data)) is not None
        }
        # Who saw how much, and nothing of what.
        log.info(
            "The key %s of the tenant %s unsealed %d of %d placeholders.",
            scope.key,
            scope.tenant,
            len(known),
            len(places),
        )
        restored: dict[str, Any] = _restored(body, everywhere, inside, known)
        return restored


def _namespaces(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        path = value.get("namespace")
        if isinstance(path, str):
            yield path
            return
        for part in value.values():
            yield from _namespaces(part)
    elif isinstance(value, list):
        for part in value:
            yield from _namespaces(part)


def _here(
    value: Mapping[str, Any], around: frozenset[str], inside: bool
) -> tuple[frozenset[str], bool]:
    """The namespaces of a part, and whether it lies within a row that names its own."""
    path = None if inside else value.get("namespace")
    return (frozenset((path,)), True) if isinstance(path, str) else (around, inside)


def _places(value: Any, around: frozenset[str], inside: bool) -> Iterator[Place]:
    if isinstance(value, str):
        for found in PLACEHOLDER.finditer(value):
            for path in around:
                yield path, found["digest"]
    elif isinstance(value, Mapping):
        here, within = _here(value, around, inside)
        for key, part in value.items():
            yield from _places(key, here, within)
            yield from _places(part, here, within)
    elif isinstance(value, list):
        for part in value:
            yield from _places(part, around, inside)


def _restored(value: Any, around: frozenset[str], inside: bool, known: Mapping[Place, str]) -> Any:
    if isinstance(value, str):
        return PLACEHOLDER.sub(
            lambda found: next(
                (
                    known[path, found["digest"]]
                    for path in sorted(around)
                    if (path, found["digest"]) in known
                ),
                found.group(),
            ),
            value,
        )
    if isinstance(value, Mapping):
        here, within = _here(value, around, inside)
        return {
            _restored(key, here, within, known): _restored(part, here, within, known)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_restored(part, around, inside, known) for part in value]
    return value
