"""What a skill's files hide from whoever keeps secrets out of the store.

A text in base64 has no shape that privacy knows, so it is kept as the text that it is; what is no
text is searched for the texts between its bytes, and refused where one of them is a secret."""

from dataclasses import replace
from typing import Any

from memserver.domain.errors import InvalidBody
from memserver.domain.items import Body, FileEncoding, SkillBody
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.ports import Reader
from memserver.domain.ports.privacy import Looking
from memserver.domain.scope import Namespace
from memserver.services.privacy.detecting import find
from memserver_skills.agent_skills.exchange import content_of, skill_file_of
from memserver_skills.agent_skills.faults import BadSkill
from memserver_skills.sound_bodies import faults_of
from memserver_skills.veiled import veiled_texts

HIDDEN_SECRET = "hidden_secret"


def opened(body: SkillBody) -> SkillBody:
    """The body with each file that is a text kept as text. Raises `BadSkill` for a body that is
    none, and for content that is not in the encoding which it names."""
    if faults := faults_of(body):
        raise BadSkill(faults)
    if not body.files:
        return body
    return replace(
        body, files=tuple(skill_file_of(file.path, content_of(file)) for file in body.files)
    )


def hidden_secret(
    body: SkillBody, settings: NamespaceSettings, *, beside: Any = None
) -> str | None:
    """Where something stands that the namespace wants taken out of texts and that the store could
    not take out, None where there is nothing. `beside` is what is kept with the body."""
    looking = Looking(settings.secrets, settings.personal_data)
    if not looking.secrets and not looking.personal_data:
        return None
    for file in body.files:
        # With a placeholder for a name it could not be written to a disk again.
        if find(file.path, looking):
            return "the name of a file"
        # A part of an encoded file can have a secret's shape, and would be cut out of it.
        if file.encoding == FileEncoding.BYTES.value and find(file.content, looking):
            return file.path
    for where, text in veiled_texts(body, beside):
        if find(text, looking):
            return where
    return None


def sound(reader: Reader, namespace: Namespace, body: Body) -> Body:
    """The body as it may be kept. Raises `InvalidBody`."""
    if not isinstance(body, SkillBody):
        return body
    try:
        body = opened(body)
    except BadSkill as error:
        raise InvalidBody(f"So a skill cannot be kept: {error}.") from error
    if where := hidden_secret(body, reader.namespace_settings(namespace)):
        raise InvalidBody(f"In {where[:80]!r} stands what looks like a hidden secret.")
    return body
