"""Secrets without a shape of their own, known by the words before them: `password = …`,
`"api_key": "…"`, `the token is …`. What follows must look like a secret and not like prose or code,
for such words stand in many texts that give nothing away."""

import math
import re
from collections import Counter

_NAME = r"(?<![A-Za-z0-9])"
# What may close a quoted name, and what may stand between a name and its value.
_GIVEN = r"\\{0,2}[\"'`]?(?P<sign>[ \t]{0,4}(?:=>|:=|={1,2}|:)[ \t]{0,4}|[ \t]{1,4}is[: \t]{1,4})"
_VALUE = (
    r"(?:\\{0,2}\"(?P<double>[^\"\\\n]{4,256})\\{0,2}\"|\\{0,2}'(?P<single>[^'\\\n]{4,256})\\{0,2}'"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]\\|&]{4,256}))"
)
_PASSWORDS = r"(?:pass(?:word|wd|phrase|code)|pwd)"
_TOKENS = (
    r"(?:(?:api|access|auth|authentication|secret|private|client|session|refresh|bearer|signing"
    r"|encryption|webhook|account|consumer|deploy|service)[ _-]{0,1}(?:access[ _-]?)?"
    r"(?:key|token|secret)|secret|token|credentials?)"
)

PASSWORD = re.compile(_NAME + r"(?:[A-Za-z0-9]{1,20}_){0,3}" + _PASSWORDS + _GIVEN + _VALUE, re.I)
TOKEN = re.compile(
    _NAME + r"(?:[A-Za-z0-9]{1,20}_){0,3}" + _TOKENS + r"(?:" + _GIVEN + r"|(?P<gap>[ \t]{1,3}))"
    + _VALUE,
    re.I,
)  # fmt: skip
IS_PASSWORD_NAME = re.compile(rf"(?:.*[^A-Za-z])?{_PASSWORDS}", re.I)
IS_TOKEN_NAME = re.compile(rf"(?:.*[^A-Za-z])?{_TOKENS}", re.I)
PASSWORD_NEEDS = ("password", "passwd", "passphrase", "passcode", "pwd")
TOKEN_NEEDS = ("token", "secret", "key", "credential")

_NO_SECRET = re.compile(
    r"(?:[*x•.#_-]+|none|null|nil|true|false|undefined|required|optional|invalid|incorrect|expired"
    r"|missing|hidden|redacted|masked|empty|string|text|example|placeholder|changed|reset|wrong"
    r"|your[\W_].*|my[\W_].*|<.*|\$.*|%.*|\{.*|\[.*|@.*|/.*|https?://.*|os\.environ.*|self\..*"
    r"|env[.:].*|process\.env.*|settings\..*|config\..*|request\..*|args\..*)",
    re.I | re.S,
)
_ABOUT_SECRETS = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|api_?key|user|getpass", re.I
)
_EDGE = ".,;:!?"


def is_password(found: re.Match[str]) -> bool:
    value, quoted = _value(found)
    if _is_none(found, value):
        return False
    assigned = "=" in found["sign"]
    return plausible_password(value, certain=assigned and (quoted or found["sign"] == "="))


def is_token(found: re.Match[str]) -> bool:
    value, _ = _value(found)
    if _is_none(found, value):
        return False
    return plausible_token(value, least=20 if found["gap"] else 8)


def plausible_password(value: str, *, certain: bool) -> bool:
    """Whether somebody would have it as a password. A plain word is one only where it is
    `certain` that a password is given, as in `password="swordfish"`."""
    bare = value.strip(_EDGE)
    if len(bare) < 4 or _NO_SECRET.fullmatch(bare):
        return False
    if bare.replace("'", "").replace("-", "").replace("_", "").replace("/", "").isalpha():
        return certain and not _ABOUT_SECRETS.search(bare)
    if " " in bare and not certain:
        return False
    # A call or an attribute: `get_pass1.word`.
    return not re.fullmatch(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+", bare)


def plausible_token(value: str, *, least: int) -> bool:
    """Whether it is random enough: letters and digits, and 2.5 bits a sign or more."""
    bare = value.strip(_EDGE)
    if len(bare) < least or " " in bare or _NO_SECRET.fullmatch(bare):
        return False
    if not any(map(str.isdecimal, bare)) or not any(map(str.isalpha, bare)):
        return False
    return _bits(bare) >= (3.0 if len(bare) >= 16 else 2.5)


def _value(found: re.Match[str]) -> tuple[str, bool]:
    bare = found["bare"]
    return (bare, False) if bare is not None else (found["double"] or found["single"], True)


def _is_none(found: re.Match[str], value: str) -> bool:
    """Code that calls for a value is none: `token = read(…)`, `password = args[0]`."""
    return found["bare"] is not None and found.string[found.end() : found.end() + 1] in ("(", "[")


def _bits(text: str) -> float:
    """Shannon's entropy a sign."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())


def tag_of(name: str, value: str) -> str | None:
    """What a value is that stands under a name, as in `{"password": "hunter2"}`; None for what
    is no secret."""
    if len(name) > 100 or len(value) > 1_000 or value.startswith("["):
        return None
    if IS_PASSWORD_NAME.fullmatch(name):
        return "password" if plausible_password(value, certain=True) else None
    if IS_TOKEN_NAME.fullmatch(name):
        return "token" if plausible_token(value, least=8) else None
    return None
