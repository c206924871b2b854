"""The shapes of secrets and of personal data, for whoever looks for them. Best effort: a name, an
address or a password in plain words has no shape."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from memserver.services.privacy import assignments, check_digits


class Family(StrEnum):
    """Why something must not be told: what opens a door, or what says who somebody is."""

    SECRET = "SECRET"
    PERSONAL = "PERSONAL"


VALUES = ("value", "double", "single", "bare")
"""The groups of a pattern, of which at most one has matched, that hold what must not be told."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is looked for. One of `needs`, where there are any, must be in the text (in lower case),
    and two digits in a row where it has `digits`, which is quickly known. What matches and
    `is_one` is found; where the pattern has a group of `VALUES`, only that.

    Texts come from agents, who may be hostile, so that no pattern may take more than linear time:
    what repeats without a bound is either the last thing in its pattern, or can start in one
    place only (a look behind sees to it) and gives nothing back (`++`).
    """

    tag: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...] = ()
    is_one: Callable[[re.Match[str]], bool] | None = None
    family: Family = Family.SECRET
    digits: bool = False

    def span(self, found: re.Match[str]) -> tuple[int, int]:
        for group in VALUES:
            if group in self.pattern.groupindex and found[group] is not None:
                return found.span(group)
        return found.span()


def _whole(is_one: Callable[[str], bool]) -> Callable[[re.Match[str]], bool]:
    return lambda found: is_one(found.group())


def _is_token(found: re.Match[str]) -> bool:
    """What follows may be a word of a sentence."""
    secret = found["value"]
    return len(secret) >= 24 or any(letter.isdecimal() for letter in secret)


def _authorization(scheme: str) -> Shape:
    return Shape(
        "token",
        re.compile(rf"\b{scheme}[ \t]{{1,8}}(?P<value>[\w.~+/=-]{{8,}})", re.ASCII | re.IGNORECASE),
        needs=(scheme.lower(),),
        is_one=_is_token,
    )


def _is_address(found: re.Match[str]) -> bool:
    """One that may say where somebody is: not this machine, not all, not a mask."""
    try:
        address = ipaddress.ip_address(found.group())
    except ValueError:
        return False
    dull = address.is_loopback or address.is_unspecified or address.is_multicast
    return not dull and not found.group().startswith(("255.", "0."))


def _personal(
    tag: str,
    pattern: str,
    *,
    needs: tuple[str, ...] = (),
    is_one: Callable[[re.Match[str]], bool] | None = None,
    flags: re.RegexFlag = re.ASCII,
) -> Shape:
    return Shape(
        tag,
        re.compile(pattern, flags),
        needs,
        is_one,
        Family.PERSONAL,
        digits=tag not in ("email", "ip"),
    )


_KEYS = {
    "ms_": r"(?<![A-Za-z0-9])ms_[A-Za-z0-9_-]{20,}",
    "sk-": r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}",
    "gh": r"(?<![A-Za-z0-9])gh[opusr]_[A-Za-z0-9]{20,}",
    "github_pat_": r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}",
    "glpat-": r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,}",
    "hf_": r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{20,}",
    "xox": r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "aiza": r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    "k_": r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    "akia": r"(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "asia": r"(?<![A-Za-z0-9])ASIA[A-Z0-9]{16}(?![A-Za-z0-9])",
}
"""By what they begin with: memserver, OpenAI and its like, GitHub (twice), GitLab, Hugging Face,
Slack, Google, Stripe, AWS (twice)."""

SECRETS: tuple[Shape, ...] = (
    Shape(
        "private_key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"[^-]*+(?:-(?!----)[^-]*+)*+(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        needs=("private key",),
    ),
    Shape(
        "credentials",
        re.compile(r"(?<=://)[^\s/?#@:\"'<>]*+:[^\s/?#\"'<>]+(?=@)"),
        needs=("://",),
    ),
    Shape(
        "token",
        re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?", re.ASCII),
        needs=("eyj",),
    ),
    _authorization("Bearer"),
    _authorization("Basic"),
    *(Shape("key", re.compile(pattern), needs=(start,)) for start, pattern in _KEYS.items()),
    Shape("password", assignments.PASSWORD, assignments.PASSWORD_NEEDS, assignments.is_password),
    Shape("token", assignments.TOKEN, assignments.TOKEN_NEEDS, assignments.is_token),
)

_CARDS = (
    r"\d{4}([ -])\d{4}\1\d{4}\1\d{4}\1\d{1,3}",
    r"\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5}",
)
"""The longest first: what follows a number may be another."""

PERSONAL: tuple[Shape, ...] = (
    _personal(
        "email",
        r"(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)+",
        needs=("@",),
        flags=re.NOFLAG,
    ),
    _personal(
        "phone",
        r"(?<![\w+])\+[1-9](?:[ ()./\xa0-]{0,2}\d){7,14}(?!\d)",
        needs=("+",),
        flags=re.NOFLAG,
    ),
    _personal(
        "iban",
        r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)"
        r"(?![A-Za-z0-9])",
        is_one=_whole(check_digits.is_iban),
    ),
    *(
        _personal(
            "card",
            rf"(?<![\d_])(?=[2-6])(?:{digits})(?![\d_])",
            is_one=_whole(check_digits.is_card),
        )
        for digits in _CARDS
    ),
    _personal("phone", r"(?<![\w.+-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])"),
    _personal(
        "ip",
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)",
        needs=(".",),
        is_one=_is_address,
    ),
    _personal(
        "ip",
        r"(?<![\w:.])[0-9A-Fa-f:]{7,44}[0-9A-Fa-f](?![\w:])",
        needs=(":",),
        is_one=_is_address,
    ),
    _personal(
        "national_id",
        r"(?<![A-Za-z0-9])(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z](?![A-Za-z0-9])",
        is_one=_whole(check_digits.is_dni),
    ),
    _personal(
        "national_id",
        r"(?<![\d.])\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)",
        is_one=_whole(check_digits.is_cpf),
    ),
    _personal(
        "national_id",
        r"(?<![A-Za-z0-9])[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?![A-Za-z0-9])",
        is_one=_whole(check_digits.is_codice_fiscale),
    ),
    _personal(
        "national_id",
        r"(?<![\d-])(?:(?:19|20)\d{2}|\d{2})\d{4}[-+]\d{4}(?![\d-])",
        is_one=_whole(check_digits.is_personnummer),
    ),
    _personal(
        "national_id",
        r"(?<![A-Za-z0-9])\d{6}[-+A]\d{3}[0-9A-FHJ-NPR-Y](?![A-Za-z0-9])",
        is_one=_whole(check_digits.is_hetu),
    ),
)
