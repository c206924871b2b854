"""Whether what is believed of a skill lets it be offered, in the context at hand.

A skill that helps with one kind of task can harm with another ("When do skills help"), and its
counts over all contexts hide that: the kind with more runs outvotes the other."""

from collections.abc import Iterable

from memserver.domain.evidence import GATE_FROM_OUTCOMES, Belief, total

LOWEST_BOUND = 0.1


def in_context(beliefs: Iterable[Belief], context: str | None) -> Belief | None:
    """What decides in a context: its own belief once it has outcomes enough, the belief over all
    contexts before that; None where there is none."""
    beliefs = list(beliefs)
    if not beliefs:
        return None
    own = next((one for one in beliefs if context and one.context == context), None)
    if own is not None and own.outcomes >= GATE_FROM_OUTCOMES:
        return own
    return total(beliefs[0].subject, beliefs)


def never_helps(outcomes: float, lower_bound: float) -> bool:
    """The lower bound counts only from a few outcomes on, so that what is new gets its chance."""
    return outcomes >= GATE_FROM_OUTCOMES and lower_bound < LOWEST_BOUND


def admits(beliefs: Iterable[Belief], context: str | None) -> bool:
    belief = in_context(beliefs, context)
    return belief is None or not never_helps(belief.outcomes, belief.lower_bound)
