"""The YAML at the head of a `SKILL.md`, read so that nothing in it can do harm.

Every scalar is a text, as in the reference validator of the format (`version: 1.0` is "1.0", not a
number), which also means that no tag can construct anything."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from memserver_skills.agent_skills.faults import BadSkill, bad

LONGEST = 64_000
"""Characters of front matter; the fields together may hold a few thousand, but for metadata."""
DEEPEST = 8
_FENCE = "---"
WIDTH = 1_000_000
"""Lines are not folded: a folded text is read back the same and reviewed less easily."""


def split(text: str) -> tuple[str, str]:
    """The front matter and the Markdown after it, character for character. Raises `BadSkill`."""
    if not text.startswith((f"{_FENCE}\n", f"{_FENCE}\r\n")):
        raise bad("front_matter_missing", "SKILL.md does not begin with a line of ---")
    start = text.index("\n") + 1
    at = start
    while at < len(text):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if line.rstrip(" \t\r") == _FENCE:
            return text[start:at], "" if end < 0 else text[end + 1 :]
        if end < 0:
            break
        at = end + 1
    raise bad("front_matter_open", "the front matter of SKILL.md has no closing line of ---")


def load(front: str) -> dict[str, Any]:
    """The front matter's mapping; values are texts, lists and mappings of texts. Raises
    `BadSkill`."""
    if len(front) > LONGEST:
        raise bad("front_matter_long", f"the front matter is over {LONGEST:,} characters")
    try:
        value = yaml.load(front, Loader=_Loader)
    except BadSkill:
        raise
    except yaml.YAMLError as error:
        raise bad("front_matter_yaml", f"the front matter is not YAML: {_said(error)}") from error
    except RecursionError as error:
        raise bad("front_matter_deep", _TOO_DEEP) from error
    except (ValueError, OverflowError) as error:  # an escape for what is no character
        raise bad("front_matter_yaml", "the front matter escapes what is no character") from error
    if not isinstance(value, dict):
        raise bad("front_matter_mapping", "the front matter is not a mapping of keys to values")
    if not all(map(_is_kept, _texts(value))):
        said = "the front matter has characters that no text may have (NUL, half a surrogate pair)"
        raise bad("front_matter_characters", said)
    return value


def dump(fields: Mapping[str, Any]) -> str:
    """The mapping as front matter that `load` reads back the same."""
    told: str = yaml.dump(
        dict(fields),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=WIDTH,
    )
    return told


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in (*value.keys(), *value.values()):
            yield from _texts(part)
    else:
        for part in value:
            yield from _texts(part)


def _is_kept(text: str) -> bool:
    """Escapes can name characters that do not survive a database."""
    return not any(sign == "\x00" or "\ud800" <= sign <= "\udfff" for sign in text)


class _Dumper(yaml.SafeDumper):
    """Quotes what would read as a number or as nothing elsewhere, and escapes all that is not plain
    in one line: the other styles fold some breaks and blanks into others."""


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    plain = text.isprintable() and text == text.strip()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _text)


_TOO_DEEP = f"the front matter nests deeper than {DEEPEST} levels"


class _Loader(yaml.BaseLoader):
    """Without what a few bytes of could stand for gigabytes, or for something else to another
    reader: aliases, tags and repeated keys."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise bad("front_matter_alias", "the front matter has aliases (*), which are not taken")
        if getattr(event, "anchor", None) is not None:
            raise bad("front_matter_alias", "the front matter has anchors (&), which are not taken")
        if getattr(event, "tag", None) is not None:
            raise bad("front_matter_tag", "the front matter has tags (!), which are not taken")
        self.depth += 1
        if self.depth > DEEPEST:
            raise bad("front_matter_deep", _TOO_DEEP)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise bad("front_matter_key", "a key of the front matter is not a text")
            if key.value in seen:
                raise bad(
                    "front_matter_repeats",
                    f"the key {key.value[:80]!r} occurs twice in one mapping",
                )
            seen.add(key.value)
        found: dict[Any, Any] = super().construct_mapping(node, deep=True)
        return found


def _said(error: yaml.YAMLError) -> str:
    """What the parser found and where, without quoting the text."""
    problem = getattr(error, "problem", None) or "it cannot be read"
    mark = getattr(error, "problem_mark", None)
    # The fence before it is line 1.
    return problem if mark is None else f"{problem} (line {mark.line + 2})"
