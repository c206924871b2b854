"""Guardrails: what did harm, and what is about to be done."""

from memserver.wire.guardrails import (
    GuardrailsQuestion,
    Judgement,
    NewReport,
    ReportKept,
    Situation,
)
from memserver_client._call import Call, ask, write
from memserver_client._requests import checked


def report_harm(
    action: str,
    *,
    namespace: str,
    text: str,
    intent: str | None = None,
    belief: str | None = None,
    local_to: str | None = None,
) -> Call[ReportKept]:
    """Says that an action did harm, which becomes a rule. `text` tells the situation in words.
    With `local_to` the rule holds in that place alone."""
    return _report("harmful", action, namespace, text, intent, belief, local_to)


def report_fine(
    action: str,
    *,
    namespace: str,
    text: str,
    intent: str | None = None,
    belief: str | None = None,
    local_to: str | None = None,
) -> Call[ReportKept]:
    """Says that an action was fine, which counts against rules that would have stopped it."""
    return _report("fine", action, namespace, text, intent, belief, local_to)


def check_action(
    action: str,
    *,
    namespace: str,
    text: str,
    intent: str | None = None,
    belief: str | None = None,
    local_to: str | None = None,
    bound: float | None = None,
) -> Call[Judgement]:
    """Whether to do something, before it is done: `.verdict` is "block" or "allow", `.cited` the
    rules that say so. `bound` is how sure a rule must be to be used."""
    question = checked(
        GuardrailsQuestion,
        namespace=namespace,
        situation=_situation(action, text, intent, belief),
        local_to=local_to,
        bound=bound,
    )
    return ask("/v1/guardrails/check", Judgement, question)


def _report(
    label: str,
    action: str,
    namespace: str,
    text: str,
    intent: str | None,
    belief: str | None,
    local_to: str | None,
) -> Call[ReportKept]:
    new = checked(
        NewReport,
        namespace=namespace,
        situation=_situation(action, text, intent, belief),
        label=label,
        local_to=local_to,
    )
    return write("POST", "/v1/guardrails/reports", ReportKept, new)


def _situation(action: str, text: str, intent: str | None, belief: str | None) -> Situation:
    return checked(Situation, action=action, text=text, intent=intent, belief=belief)
