"""A skill with steps, slots or a program as Markdown that an agent can follow."""

import re

from memserver.domain.items import Form, SkillBody


def markdown(title: str, body: SkillBody) -> str:
    """In this order: when to use it, the goal, what its variables are, the steps, the text."""
    parts = [f"# {_line(title)}" if title.strip() else "", _line(body.when)]
    if body.goal:
        parts.append(f"Goal: {_line(body.goal)}")
    if body.slots:
        slots = [
            f"- `{{{slot.name}}}`: {_line(slot.type)}"
            + (f", such as {_line(slot.example)}" if slot.example else "")
            for slot in body.slots
        ]
        parts.append("\n".join(["## Variables", "", *slots]))
    if body.steps:
        steps = [
            f"{number}. {_line(step.action)}" + (f" → {_line(step.expect)}" if step.expect else "")
            for number, step in enumerate(body.steps, 1)
        ]
        parts.append("\n".join(["## Steps", "", *steps]))
    if body.text:
        parts.append(_fenced(body.text) if body.form == Form.CODE.value else body.text)
    return "\n" + "\n\n".join(part for part in parts if part) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())


def _fenced(program: str) -> str:
    longest = max((len(run) for run in re.findall("`+", program)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{program}\n{fence}"
