"""What the body of a skill has to keep to, however it came: over HTTP the shapes of requests hold
it to most of this, in a file from elsewhere nothing does."""

import re
from collections.abc import Iterator

from memserver.domain.items import Body, FileEncoding, Form, RuleBody, SkillBody
from memserver_skills.agent_skills.faults import Fault
from memserver_skills.agent_skills.paths import collisions, path_fault

STEPS, SLOTS, FILES, TOOLS, SHORT = 1_000, 100, 200, 100, 500
MOST = 20
_SLOT = re.compile(r"[a-z][a-z0-9_]{0,63}")


def faults_of(body: Body) -> list[Fault]:
    """Every rule that is broken, no more than `MOST`."""
    if isinstance(body, RuleBody):
        return [] if body.text else [Fault("body_empty", "the rule says nothing")]
    if not isinstance(body, SkillBody):
        return []
    paths = [file.path for file in body.files]
    found = [*_shape(body), *_slots(body), *filter(None, map(path_fault, paths))]
    return [*found, *collisions(paths)][:MOST]


def _shape(body: SkillBody) -> Iterator[Fault]:
    if not (body.when or body.text or body.steps or body.goal):
        yield Fault("body_empty", "the skill says nothing")
    if body.form not in tuple(Form):
        yield Fault("form_unknown", f"there is no form {body.form[:80]!r}")
    if not all(step.action for step in body.steps):
        yield Fault("step_empty", "a step has no action")
    for name, held, most in (
        ("steps", body.steps, STEPS),
        ("slots", body.slots, SLOTS),
        ("files", body.files, FILES),
        ("tools", body.tools, TOOLS),
    ):
        if len(held) > most:
            yield Fault(f"too_many_{name}", f"the skill has over {most:,} {name}")
    if any(len(tool) > SHORT for tool in body.tools):
        yield Fault("tool_long", f"the name of a tool is over {SHORT} characters")
    for file in body.files:
        if file.encoding not in tuple(FileEncoding):
            said = f"the file {file.path[:80]!r} has an unknown encoding"
            yield Fault("file_encoding", said, file.path)


def _slots(body: SkillBody) -> Iterator[Fault]:
    for slot in body.slots:
        if not _SLOT.fullmatch(slot.name):
            said = f"a slot cannot be named {slot.name[:80]!r}: a letter, then a-z, 0-9 and _"
            yield Fault("slot_name", said)
        if len(slot.type) > SHORT:
            yield Fault("slot_type", f"the type of the slot {slot.name[:80]!r} is too long")
