"""Guards in words: by a model where there is one, else by a plain sentence."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, StringConstraints

from memserver.domain.items import RuleBody
from memserver.services.asking import Asked, Asking
from memserver.services.guarding.learning import NewGuard
from memserver.services.guarding.situations import Situation, Verdict

LONGEST_TEXT = 2_000
LONGEST_PART = 200

SYSTEM = """An agent did something that was reported as harmful, or as fine. Word the rule that
other agents should take from it: general enough to meet the next case of this kind, no more general
than what was reported. `rule` says what not to do, or what may be done; `when` in which
situation."""
QUESTION = """Reported as: {label}
Action: {action}
Intent: {intent}
Belief: {belief}
Situation: {text}"""


class Worded(BaseModel):
    rule: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    when: Annotated[str, StringConstraints(max_length=400)] = ""


def abstracted(asking: Asking, tenant: UUID, situation: Situation, label: str) -> Asked[Worded]:
    """The rule in a model's words. Not to be called inside a transaction."""
    question = QUESTION.format(
        label=label,
        action=situation.action[:LONGEST_TEXT],
        intent=situation.intent[:LONGEST_TEXT] or "not stated",
        belief=situation.belief[:LONGEST_TEXT] or "not stated",
        text=situation.text[:LONGEST_TEXT],
    )
    return asking.asked(tenant, SYSTEM, question, Worded)


def plain(situation: Situation, new: NewGuard, worded: Worded | None) -> RuleBody:
    """The body of a new guard. Its condition is always said, whoever words the rest."""
    allowed = new.verdict is Verdict.ALLOW
    text = f"{'Allowed' if allowed else 'Do not'}: {situation.action}"
    parts = [f"in a situation like “{_cut(situation.text)}”"]
    if situation.intent:
        parts.append(f"the intent is “{_cut(situation.intent)}”")
    if worded is not None:
        text = worded.rule.strip() or text
        parts = [worded.when.strip()] if worded.when.strip() else parts
    if new.condition is not None:
        place = "in" if new.condition.named else "it is believed that"
        parts.append(f"{place} “{_cut(new.condition.words)}”")
    return RuleBody(text, when="; ".join(parts))


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_PART else line[:LONGEST_PART].rstrip() + "…"
