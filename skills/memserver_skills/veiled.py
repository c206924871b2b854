"""What a skill says where nobody reads it: texts in base64, or between the bytes of a file."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from memserver.domain.items import FileEncoding, SkillBody

SHORTEST = 24
MOST = 200
"""Pieces of one text that are decoded; what is beyond is too much to be a skill's text."""
_ENCODED = re.compile(rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{{{SHORTEST},}}(?:\s?={{1,2}})?")
_PRINTED = re.compile(rb"[\t\n\r\x20-\x7e]{8,}")
_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\x00){8,}|(?:\x00[\t\n\r\x20-\x7e]){8,}")


def veiled_texts(body: SkillBody, beside: Any = None) -> Iterator[tuple[str, str]]:
    """Where it stands, and what it says, of everything that had to be decoded to be read; `beside`
    are the metadata that are kept with the body."""
    metadata = (("metadata", text) for text in strings_of(beside))
    for where, text in (*_texts_of_body(body), *_texts_of_files(body), *metadata):
        for decoded in decoded_texts(text):
            yield where, decoded
            for again in decoded_texts(decoded):
                yield where, again
    for file in body.files:
        if file.encoding == FileEncoding.BYTES.value:
            try:
                data = base64.b64decode(file.content, validate=True)
            except (binascii.Error, ValueError):
                continue  # what cannot be decoded is refused elsewhere
            for text in printed_texts(data):
                yield file.path, text
                for decoded in decoded_texts(text):
                    yield file.path, decoded


def decoded_texts(text: str) -> Iterator[str]:
    """What the base64 in a text says, where that is text."""
    for number, found in enumerate(_ENCODED.finditer(text)):
        if number >= MOST:
            return
        data = _decoded(found.group())
        if data is None:
            continue
        try:
            said = data.decode()
        except UnicodeDecodeError:
            yield from (part.decode("ascii") for part in _PRINTED.findall(data))
            continue
        if sum(sign.isprintable() or sign.isspace() for sign in said) >= 0.9 * len(said):
            yield said


def printed_texts(data: bytes) -> Iterator[str]:
    """What can be read between the bytes of a file, in ASCII or UTF-16."""
    for part in _PRINTED.findall(data):
        yield part.decode("ascii")
    for part in _WIDE.findall(data):
        yield part.replace(b"\x00", b"").decode("ascii")


def _decoded(text: str) -> bytes | None:
    plain = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - 1] if len(plain) % 4 == 1 else plain
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def strings_of(value: Any) -> Iterator[str]:
    """Every text of a JSON value, names of fields too."""
    stack = [value]
    while stack:
        held = stack.pop()
        if isinstance(held, str):
            yield held
        elif isinstance(held, dict):
            stack += [*held.keys(), *held.values()]
        elif isinstance(held, list | tuple):
            stack += held


def _texts_of_body(body: SkillBody) -> Iterator[tuple[str, str]]:
    yield from (("when", body.when), ("goal", body.goal), ("text", body.text))
    for number, step in enumerate(body.steps, 1):
        yield from ((f"step {number}", step.action), (f"step {number}", step.expect))
    yield from ((f"slot {slot.name}", slot.example) for slot in body.slots)
    yield from (("tools", tool) for tool in body.tools)


def _texts_of_files(body: SkillBody) -> Iterator[tuple[str, str]]:
    for file in body.files:
        if file.encoding != FileEncoding.BYTES.value:
            yield file.path, file.content
