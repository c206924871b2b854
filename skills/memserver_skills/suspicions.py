"""What in a skill reads like an attempt on those who read it: words that would have a model drop
its instructions, or a server do something; signs that nobody sees; comments that a page hides.

By forms alone, in linear time. They are suspicions: a skill about such attacks quotes them, too, so
that a person decides. And what is said in other words, or in other languages than English, is not
found: an imported skill stays out of use until somebody has read it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from memserver.domain.items import Body, FileEncoding, RuleBody, SkillBody
from memserver_skills.veiled import strings_of, veiled_texts

MOST = 50
EXCERPT = 120
HIDDEN = "hidden_characters"
COMMENT = "hidden_comment"
ENCODED = "encoded_instructions"
_PAGES = (".md", ".markdown", ".mdx", ".html", ".htm", ".txt", ".rst")


@dataclass(frozen=True, slots=True)
class Finding:
    """`where` names the field or the file, `excerpt` shows what was found, with escapes in the
    place of what is not seen."""

    code: str
    where: str
    excerpt: str


_ORDERS = (
    r"(?:instruction|rule|prompt|guideline|direction|guardrail|safeguard|restriction|polic|context)"
    r"\w{0,4}"
)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "overrides_instructions",
        re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass|drop)\b[^.\n]{0,40}?"
            r"\b(?:previous|prior|above|earlier|preceding|all|any|other|your|these|those|system)\b"
            rf"[^.\n]{{0,20}}?\b{_ORDERS}"
        ),
    ),
    (
        "new_instructions",
        re.compile(
            r"\b(?:new|updated|real|actual|secret|hidden) instructions?\s{0,2}:|\byou are now "
            r"(?:a|an|in|no longer|the)\b|\b(?:developer|dan|god|jailbreak) mode\b"
        ),
    ),
    (
        "poses_as_system",
        re.compile(
            r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|tool_result)>"
            r"|^ {0,3}(?:#{1,4} ?)?(?:system|assistant|human) {0,2}(?:prompt|message)? {0,2}:",
            re.MULTILINE,
        ),
    ),
    (
        "asks_for_secrecy",
        re.compile(
            r"\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning"
            r"|reveal|revealing|notify|notifying|asking|alert|alerting)\b[^.\n]{0,30}"
            r"\b(?:user|human|operator|owner|anyone|anybody)\b"
        ),
    ),
    (
        "reveals_instructions",
        re.compile(
            r"\b(?:reveal|print|repeat|output|leak|show|send)\b[^.\n]{0,30}"
            r"\b(?:system prompt|your instructions|hidden prompt)\b"
        ),
    ),
    (
        "sends_secrets",
        re.compile(
            r"\b(?:send|post|upload|forward|exfiltrate|email|transmit|curl)\b[^.\n]{0,60}"
            r"\b(?:api keys?|secrets?|tokens?|credentials?|passwords?|private keys?|\.env\b"
            r"|environment variables|ssh keys?)"
        ),
    ),
    (
        "orders_the_server",
        re.compile(
            r"\b(?:memserver|memory server|this server|skill library|memory store)\b[^.\n]{0,40}"
            r"\b(?:must|should|shall|promote|delete|erase|trust|accept|grant|activate|approve)\b"
            r"|\b(?:promote|approve|activate|trust|always (?:retrieve|return|use)) this skill\b"
            r"|\baccept_findings\b|\ballow_tools\b"
        ),
    ),
)
# Characters without a picture: joins that scripts need are judged by what stands beside them.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])"
)
_DROPPED = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_COMMENT = re.compile(r"<!--|^ {0,3}\[[^\]\n]{1,40}\]: {0,4}(?:#|<>)\s", re.MULTILINE)


def suspicions(title: str, body: Body, metadata: Any = None) -> tuple[Finding, ...]:
    """What was found, each form once a place, in the order of the places."""
    found: dict[tuple[str, str], Finding] = {}
    for where, text in _texts(title, body, metadata):
        for finding in _of_text(where, text):
            found.setdefault((finding.code, where), finding)
    if isinstance(body, SkillBody):
        for where, text in veiled_texts(body, metadata):
            for finding in _told(where, text):
                found.setdefault((ENCODED, where), Finding(ENCODED, where, finding.excerpt))
    return tuple(found.values())[:MOST]


def _texts(title: str, body: Body, metadata: Any) -> Iterator[tuple[str, str]]:
    yield "title", title
    if isinstance(body, RuleBody):
        yield from (("when", body.when), ("text", body.text))
    if isinstance(body, SkillBody):
        yield from (("when", body.when), ("goal", body.goal))
        for number, step in enumerate(body.steps, 1):
            yield from ((f"step {number}", step.action), (f"step {number}", step.expect))
        for slot in body.slots:
            yield from ((f"slot {slot.name}", slot.type), (f"slot {slot.name}", slot.example))
        yield "text", body.text
        yield from (("tools", tool) for tool in body.tools)
        for file in body.files:
            yield file.path, file.path
            if file.encoding != FileEncoding.BYTES.value:
                yield file.path, file.content
    yield from (("metadata", text) for text in strings_of(metadata))


def _of_text(where: str, text: str) -> Iterable[Finding]:
    unseen = _UNSEEN.search(text)
    if unseen is not None:
        yield Finding(HIDDEN, where, _shown(text, unseen.start()))
    if where in ("text", "when") or where.lower().endswith(_PAGES):
        comment = _COMMENT.search(text)
        if comment is not None:
            yield Finding(COMMENT, where, _shown(text, comment.start()))
    yield from _told(where, text)
    for tags in _TAGS.findall(text):
        yield from _told(where, "".join(chr(ord(sign) - 0xE0000) for sign in tags))


def _told(where: str, text: str) -> Iterable[Finding]:
    """What it says, however it is spelt."""
    plain = unicodedata.normalize("NFKC", _DROPPED.sub("", text)).casefold()
    lines = "\n".join(" ".join(line.split()) for line in plain.split("\n"))
    for code, form in _FORMS:
        # A sentence may be broken over lines to look like none.
        match = form.search(lines) or form.search(lines.replace("\n", " "))
        if match is not None:
            yield Finding(code, where, _shown(match.group(), 0))


def _shown(text: str, at: int) -> str:
    part = text[max(0, at - EXCERPT // 4) : at + EXCERPT]
    seen = (c if c.isprintable() and not _UNSEEN.match(c) else ascii(c)[1:-1] for c in part)
    return "".join(seen)[: 2 * EXCERPT]
