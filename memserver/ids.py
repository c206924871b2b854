"""Time-ordered ids (UUID version 7), minted by the client as well as by the server."""

import os
import time
from uuid import UUID


def uuid7(*, at_ms: int | None = None, entropy: bytes | None = None) -> UUID:
    """A new UUIDv7 (RFC 9562, section 5.7).

    `at_ms` is Unix time in milliseconds, `entropy` ten random bytes; both default to the
    machine's own and are arguments so that tests can fix them.
    """
    at_ms = time.time_ns() // 1_000_000 if at_ms is None else at_ms
    random_bits = int.from_bytes(os.urandom(10) if entropy is None else entropy, "big")
    value = (at_ms & ((1 << 48) - 1)) << 80 | (random_bits & ((1 << 80) - 1))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)
