"""What stands in the place of a secret: `[SECRET:key:3f2a…]`. The same value has the same
placeholder everywhere in a tenant, so that equal things stay equal, are stored once and are found
again."""

import hashlib
import hmac
import re
from uuid import UUID

from memserver.services.privacy.patterns import Family

LENGTH = 16
"""Hex digits: two of a million values coincide once in forty million tenants."""
PLACEHOLDER = re.compile(
    rf"\[(?:{'|'.join(Family)}):[a-z_]{{1,20}}:(?P<digest>[0-9a-f]{{{LENGTH}}})\]"
)


def digest(key: bytes, tenant: UUID, value: str) -> str:
    """Nobody without the server's key can tell by it what the value was, not even by trying all
    values that there are."""
    return hmac.new(key, tenant.bytes + value.encode(), hashlib.sha256).hexdigest()[:LENGTH]


def placeholder(family: Family, tag: str, digest: str) -> str:
    return f"[{family}:{tag}:{digest}]"
