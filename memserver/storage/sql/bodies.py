"""Bodies of items as JSON. The stored tags are part of the data: a class may be renamed, a tag
may not."""

from typing import Any

from memserver.domain.items import (
    Body,
    CaseBody,
    FactBody,
    HintBody,
    RuleBody,
    SkillBody,
    TextBody,
    body_of,
    fields_of,
)

_TAGS: dict[str, type[Body]] = {
    "skill": SkillBody,
    "hint": HintBody,
    "rule": RuleBody,
    "fact": FactBody,
    "case": CaseBody,
    "text": TextBody,
}
_TAG_OF = {body_class: tag for tag, body_class in _TAGS.items()}


def tag_of(body: Body) -> str:
    return _TAG_OF[type(body)]


def to_json(body: Body) -> dict[str, Any]:
    """The body's fields; tuples as lists, as they will be read back."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in fields_of(body).items()
    }


def from_json(tag: str, fields: dict[str, Any]) -> Body:
    return body_of(_TAGS[tag], fields)
