"""Originals, encrypted at rest. The keys are the operator's; without one, nothing is kept and a
placeholder leads nowhere."""

import binascii
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from memserver.domain.errors import MemserverError


class UnusableSealingKey(MemserverError):
    """The value is not told."""

    code = "unusable_sealing_key"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"MEMSERVER_SEALING_KEY {reason}. A key is 32 random bytes in URL-safe base64; several "
            "are separated by commas, the one that encrypts first."
        )


class Sealing:
    """Encrypts by the first key, and reads what any of them has encrypted. Raises
    `UnusableSealingKey`."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        try:
            fernets = [Fernet(key) for key in keys]
        except (ValueError, binascii.Error):
            raise UnusableSealingKey("holds what is no key") from None
        self._first = fernets[0] if fernets else None
        self._rotates = len(fernets) > 1
        self._all = MultiFernet(fernets) if fernets else None

    @property
    def keeps(self) -> bool:
        """Whether there is a key, and so whether originals are kept."""
        return self._first is not None

    @property
    def rotates(self) -> bool:
        """Whether there may be something that an older key has encrypted."""
        return self._rotates

    def seal(self, data: bytes) -> bytes:
        assert self._all is not None, "who has no key keeps nothing"
        return self._all.encrypt(data)

    def open(self, sealed: bytes) -> bytes | None:
        """None where none of the keys has encrypted it."""
        if self._all is None:
            return None
        try:
            return self._all.decrypt(sealed)
        except InvalidToken:
            return None

    def is_by_first(self, sealed: bytes) -> bool:
        try:
            return self._first is not None and bool(self._first.decrypt(sealed))
        except InvalidToken:
            return False


def sealing_of(setting: str | None) -> Sealing:
    """By the setting's keys; none where it is empty. Raises `UnusableSealingKey`."""
    keys = [key.strip() for key in (setting or "").split(",")]
    if not any(keys):
        return Sealing()
    return Sealing([key for key in keys if key])
