"""Two skills of one that helps with one kind of task and harms another.

SkillOrchestra splits a skill on which agents differ by a variance of .15 with three observations
each; here the same line is drawn between contexts, where the two halves can be told apart when they
are used: each says in its `when` for which tasks it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import pvariance

from memserver.domain.evidence import Belief, total
from memserver.domain.items import SkillBody
from memserver_skills.evolution.acts import Written
from memserver_skills.plans import Rated

SPLIT_VARIANCE = 0.15
LEAST_OUTCOMES = 3


@dataclass(frozen=True, slots=True)
class Split:
    now: Written
    apart: Written
    reason: str


def split(rated: Rated, beliefs: Sequence[Belief]) -> Split | None:
    """The skill for the contexts in which it helps, and one for those in which it does not, each
    with what is believed of it there; None where they do not differ enough."""
    version = rated.entry.version
    body = version.body
    known = [b for b in beliefs if b.context and b.outcomes >= LEAST_OUTCOMES and b.weight > 0]
    if not isinstance(body, SkillBody) or len(known) < 2:
        return None
    rates = {b.context: b.successes / b.weight for b in known}
    variance = pvariance(rates.values())
    if variance < SPLIT_VARIANCE:
        return None
    middle = (max(rates.values()) + min(rates.values())) / 2
    good = sorted(context for context, rate in rates.items() if rate > middle)
    poor = sorted(context for context, rate in rates.items() if rate <= middle)
    told = ", ".join(f"{context} {rate:.0%}" for context, rate in sorted(rates.items()))
    return Split(
        _half(rated, body, good, [b for b in known if b.context in good], against=poor),
        _half(rated, body, poor, [b for b in known if b.context in poor], against=()),
        f"its success differs by the type of task ({told}; variance {variance:.2f})",
    )


def _half(
    rated: Rated,
    body: SkillBody,
    contexts: Sequence[str],
    beliefs: Sequence[Belief],
    *,
    against: Sequence[str],
) -> Written:
    version = rated.entry.version
    condition = f"For tasks of the type {' or '.join(contexts)}"
    condition += f", not {' or '.join(against)}." if against else "."
    return Written(
        version.title if against else f"{version.title} ({', '.join(contexts)})",
        replace(body, when=f"{body.when.rstrip()} {condition}".strip()),
        contexts[0] if len(contexts) == 1 else version.task_type,
        total(version.id, beliefs),
    )
