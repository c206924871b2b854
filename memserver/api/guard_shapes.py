"""Between guardrails and their request and response models."""

from memserver.api import shaping
from memserver.services.guarding.guarding import Checked, Held, Taught
from memserver.services.guarding.situations import Guard, Situation
from memserver.wire import guardrails as wire


def situation(sent: wire.Situation, local_to: str | None) -> Situation:
    return Situation(
        action=sent.action,
        text=sent.text,
        intent=sent.intent or "",
        belief=sent.belief or "",
        local_to=local_to or "",
    )


def report_kept(taught: Taught) -> wire.ReportKept:
    return wire.ReportKept(
        guards=[_touched(held) for held in taught.guards],
        by="model" if taught.considered.by == "model" else "rules",
        reason=taught.considered.reason,
        **shaping.receipt(taught.change).model_dump(),
    )


def judgement(checked: Checked) -> wire.Judgement:
    found = checked.judgement
    return wire.Judgement(
        verdict=found.verdict.value,
        cited=[_citation(guard, checked) for guard in found.cited],
        overridden=[_citation(guard, checked) for guard in found.overridden],
        unproven=[_citation(guard, checked) for guard in found.unproven],
        bound=checked.bound,
    )


def _touched(held: Held) -> wire.GuardTouched:
    return wire.GuardTouched(
        id=held.entry.item.id,
        version_id=held.entry.version.id,
        verdict=held.verdict.value,
        scope=held.reach.value,
        text=held.entry.version.text,
        made=held.made,
        agreed=held.agreed,
        lower_bound=held.bound,
    )


def _citation(guard: Guard, checked: Checked) -> wire.Citation:
    return wire.Citation(
        id=guard.item,
        version_id=guard.version,
        verdict=guard.verdict.value,
        scope=guard.reach.value,
        text=checked.entries[guard.item].version.text,
        lower_bound=guard.bound,
        similarity=guard.similarity,
    )
