"""Takes secrets and personal data of known shapes out of text that leaves. Best effort: a name, an
address or a password in plain words has no shape, and stays."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """What is looked for. `needs` must be in the text (in lower case), which is quickly known.
    What matches and `is_one` is replaced by `instead`, where a group of the pattern may stand.

    Texts come from agents, who may be hostile, so that no pattern may take more than linear time:
    what repeats without a bound is either the last thing in its pattern, or can start in one
    place only (a look behind sees to it) and gives nothing back (`++`).
    """

    tag: str
    pattern: re.Pattern[str]
    needs: str
    is_one: Callable[[str], bool] | None = None
    kept: str = ""

    @property
    def instead(self) -> str:
        return f"{self.kept}[redacted:{self.tag}]"


def _is_card(text: str) -> bool:
    """The check digit of ISO/IEC 7812-1, annex B (Luhn's). One number in ten has it by chance, so
    that the pattern also wants the first digit of a network: times in milliseconds begin with 1."""
    digits = text.replace(" ", "").replace("-", "")
    total = sum(map(int, digits[-1::-2])) + sum(map(_DOUBLED.__getitem__, digits[-2::-2]))
    return total % 10 == 0


_DOUBLED = {str(digit): digit * 2 - 9 * (digit > 4) for digit in range(10)}


def _is_token(text: str) -> bool:
    """What follows may be a word of a sentence."""
    secret = text.split(None, 1)[1]
    return len(secret) >= 24 or any(letter.isdecimal() for letter in secret)


def _authorization(scheme: str) -> Shape:
    return Shape(
        "token",
        re.compile(rf"\b{scheme}[ \t]{{1,8}}[\w.~+/=-]{{8,}}", re.ASCII | re.IGNORECASE),
        needs=scheme.lower(),
        is_one=_is_token,
        kept=f"{scheme} ",
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

SHAPES: tuple[Shape, ...] = (
    Shape(
        "private_key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"[^-]*+(?:-(?!----)[^-]*+)*+(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        needs="private key",
    ),
    Shape(
        "credentials",
        re.compile(r"(?<=://)[^\s/?#@:\"'<>]*+:[^\s/?#\"'<>]+(?=@)"),
        needs="://",
    ),
    Shape(
        "token",
        re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?", re.ASCII),
        needs="eyj",
    ),
    _authorization("Bearer"),
    _authorization("Basic"),
    *(Shape("key", re.compile(pattern), needs=start) for start, pattern in _KEYS.items()),
    Shape(
        "email",
        re.compile(r"(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)+"),
        needs="@",
    ),
    Shape("phone", re.compile(r"(?<![\w+])\+[1-9](?:[ ()./\xa0-]{0,2}\d){7,14}(?!\d)"), needs="+"),
    Shape(
        "card",
        re.compile(
            r"(?<!\d)(?=[2-6])(?:\d{13,19}"
            r"|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?"
            r"|\d{4}([ -])\d{6}\2\d{4,5})(?!\d)",
            re.ASCII,
        ),
        needs="",
        is_one=_is_card,
    ),
)


def redacted(text: str) -> str:
    """The text with `[redacted:…]` where something had one of the shapes. In linear time."""
    lower = text.lower()
    for shape in SHAPES:
        if shape.needs in lower:
            text = _without(text, shape)
    return text


def redacted_value(value: Any) -> Any:
    """A JSON value with all its texts redacted, names of fields included."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {redacted(str(key)): redacted_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_value(part) for part in value]
    return value


def _without(text: str, shape: Shape) -> str:
    pieces: list[str] = []
    done = at = 0
    while found := shape.pattern.search(text, at):
        if shape.is_one is not None and not shape.is_one(found.group()):
            # Not past the end of it: what begins further on may be one.
            at = found.start() + 1
            continue
        pieces += [text[done : found.start()], shape.instead]
        done = at = found.end()
    return "".join([*pieces, text[done:]]) if pieces else text
