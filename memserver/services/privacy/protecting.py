"""Puts placeholders in the place of secrets and personal data, before anything is stored.

The key of the placeholders is random, made once for a database and kept in it; where there is a
sealing key, it is kept encrypted by that, so that a copy of the database alone does not even allow
to try values out. It stays the same when sealing keys are rotated, or placeholders would change.
"""

import logging
import os
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from memserver.domain.errors import BackupMismatch
from memserver.domain.ports.privacy import Known, Looking, Original, Protected
from memserver.domain.ports.store import Reader, Store, Writer
from memserver.services.privacy import assignments
from memserver.services.privacy.detecting import Found, find
from memserver.services.privacy.patterns import Family
from memserver.services.privacy.placeholders import digest, placeholder
from memserver.services.privacy.sealing import Sealing, UnusableSealingKey
from memserver.services.privacy.walking import Walk

log = logging.getLogger(__name__)

SECRET = "placeholders"
"""The name under which the store keeps the key of the placeholders."""
_PLAIN, _SEALED = b"p:", b"s:"
_KEY_BYTES = 32
_LOOKS = 3
"""How often a text is looked at: what was taken out may have hidden what stood beside it."""
_RESEALED_TOGETHER = 500


class Detector(Protocol):
    """Finds what must not be stored; in order, none within another."""

    def find(self, text: str, looking: Looking) -> Sequence[Found]: ...


class PatternDetector:
    """By shapes alone: no model, no list of names."""

    def find(self, text: str, looking: Looking) -> Sequence[Found]:
        return find(text, looking)


class Protecting:
    """The `Protector` of a server. `open` has to be called before anything is protected."""

    def __init__(self, sealing: Sealing, detector: Detector | None = None) -> None:
        self._sealing = sealing
        self._detector = detector or PatternDetector()
        self._key: bytes | None = None

    def open(self, store: Store) -> None:
        """Reads the key of the placeholders, and makes it where there is none. What older sealing
        keys have encrypted is encrypted by the first. Raises `UnusableSealingKey` where the key
        cannot be read."""

        def load(tx: Writer) -> bytes:
            kept = tx.server_secret(SECRET)
            key = os.urandom(_KEY_BYTES) if kept is None else self._opened(kept)
            if kept is None or not self._is_current(kept):
                tx.put_server_secret(SECRET, self._closed(key))
            return key

        self._key = store.write(load)
        if self._sealing.rotates:
            self._seal_again(store)

    def check(self, reader: Reader) -> None:
        """Raises `BackupMismatch` where what was restored has a key that cannot be read here."""
        kept = reader.server_secret(SECRET)
        if kept is None:
            return
        try:
            self._opened(kept)
        except UnusableSealingKey:
            raise BackupMismatch(
                "sealing key",
                archive="another",
                here="none" if not self._sealing.keeps else "set",
                help="Set MEMSERVER_SEALING_KEY to that of the server that made the archive.",
            ) from None

    def protect(self, value: Any, tenant: UUID, looking: Looking, known: Known) -> Protected:
        if not looking.secrets and not looking.personal_data:
            return Protected(value)
        work = _Work(self._detector, self._ready(), tenant, looking, known)
        changed = work.walk(value)
        if not work.taken or not self._sealing.keeps:
            return Protected(changed)
        originals = tuple(
            Original(name, tag, self._sealing.seal(text.encode()))
            for name, (tag, text) in work.taken.items()
        )
        return Protected(changed, originals)

    def original(self, sealed: bytes) -> str | None:
        """None where no key of ours has encrypted it."""
        opened = self._sealing.open(sealed)
        return None if opened is None else opened.decode()

    def _ready(self) -> bytes:
        if self._key is None:
            raise RuntimeError("Nothing can be protected before the key has been read.")
        return self._key

    def _opened(self, kept: bytes) -> bytes:
        if kept.startswith(_PLAIN):
            return kept.removeprefix(_PLAIN)
        opened = self._sealing.open(kept.removeprefix(_SEALED))
        if opened is None:
            raise UnusableSealingKey("does not open what this database was sealed with")
        return opened

    def _closed(self, key: bytes) -> bytes:
        return _SEALED + self._sealing.seal(key) if self._sealing.keeps else _PLAIN + key

    def _is_current(self, kept: bytes) -> bool:
        if kept.startswith(_PLAIN):
            return not self._sealing.keeps
        return self._sealing.is_by_first(kept.removeprefix(_SEALED))

    def _seal_again(self, store: Store) -> None:
        after: UUID | None = None
        again = 0
        while True:
            with store.reading() as reader:
                page = reader.sealed_data(after, _RESEALED_TOGETHER)
            if not page:
                break
            after = page[-1][0]
            old = {
                row_id: self._sealing.seal(opened)
                for row_id, data in page
                if not self._sealing.is_by_first(data)
                and (opened := self._sealing.open(data)) is not None
            }
            if old:
                store.write(lambda tx, old=old: tx.put_sealed_data(old))  # type: ignore[misc]
                again += len(old)
        if again:
            log.info("%d originals were encrypted again, by the first sealing key.", again)


class _Work:
    """One value of one tenant. `taken` has by digest what was taken out of it."""

    def __init__(
        self, detector: Detector, key: bytes, tenant: UUID, looking: Looking, known: Known
    ) -> None:
        self._detector = detector
        self._key = key
        self._tenant = tenant
        self._looking = looking
        self._known = known
        self.taken: dict[str, tuple[str, str]] = {}
        self.walk = Walk(self._text, self._named)

    def _text(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._looked_at(text)
            self._known[known] = known
        return known

    def _looked_at(self, text: str) -> str:
        for _ in range(_LOOKS):
            found = self._detector.find(text, self._looking)
            if not found:
                break
            pieces: list[str] = []
            done = 0
            for one in found:
                pieces += [text[done : one.start], self._instead(text, one)]
                done = one.end
            text = "".join([*pieces, text[done:]])
        return text

    def _instead(self, text: str, found: Found) -> str:
        return self._placeholder(found.family, found.tag, text[found.start : found.end])

    def _placeholder(self, family: Family, tag: str, value: str) -> str:
        name = digest(self._key, self._tenant, value)
        self.taken[name] = (tag, value)
        return placeholder(family, tag, name)

    def _named(self, name: str, value: str) -> str:
        text = self._text(value)
        tag = assignments.tag_of(name, value) if self._looking.secrets and text is value else None
        return text if tag is None else self._placeholder(Family.SECRET, tag, value)
