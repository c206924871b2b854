"""What a plan comes to where somebody words what its rules left. What the rules have done stays
done, whatever is said."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from uuid import UUID

from memserver_skills.drafts import Proposer, judged
from memserver_skills.inspecting import BudgetSpent, Inspecting
from memserver_skills.offers import offers
from memserver_skills.plans import (
    Action,
    ActionKind,
    By,
    NearDuplicates,
    Offered,
    Plan,
    Rated,
    Replacement,
    Rule,
    Settings,
)


def offered(
    plan: Plan,
    active: Sequence[Rated],
    proposer: Proposer,
    inspecting: Inspecting,
    *,
    near: NearDuplicates,
    settings: Settings,
) -> Plan:
    """The plan with what `proposer` has worded and the verifier let pass, and with a word on each
    region that it was asked about."""
    known = {one.item: one for one in active}
    left = [known[item] for item in plan.kept]
    found = offers(left, plan.refused, inspecting, near=near, settings=settings)
    regions = (region for region in found if proposer.wants(region))
    told: list[Offered] = []
    region: tuple[Rated, ...] = ()
    try:
        for region in islice(regions, settings.offered):
            judge = partial(
                judged,
                region=region,
                merged={one.item: _merged_into(one.version, plan, known) for one in region},
                longest=settings.longest,
            )
            proposal = proposer.propose(region, inspecting, judge=judge)
            outcome = judge(proposal.drafts)
            for made in outcome.made:
                plan = _with(plan, made)
            reasons = (*filter(None, [proposal.reason]), *outcome.reasons)
            told.append(_told(region, By.MODEL if outcome.made else By.RULES, reasons))
            region = ()
            if proposal.ends:
                break
    except BudgetSpent:
        if region:
            spent = f"the {inspecting.looks.budget} looks at the bank are spent"
            told.append(_told(region, By.RULES, (spent,)))
    worded = {item for made in plan.replacements if _is_worded(made) for item in made.replaces}
    return replace(
        plan,
        refused=tuple(one for one in plan.refused if not worded.issuperset(one.items)),
        looks=inspecting.looks,
        offered=tuple(told),
    )


def _told(region: Sequence[Rated], by: By, reasons: tuple[str, ...]) -> Offered:
    return Offered(tuple(one.item for one in region), by, reasons)


def _is_worded(made: Replacement) -> bool:
    return made.rule is Rule.WORDED


def _merged_into(version: UUID, plan: Plan, known: dict[UUID, Rated]) -> list[Rated]:
    return [known[action.item] for action in plan.actions if action.into == version]


def _with(plan: Plan, made: Replacement) -> Plan:
    """What the replaced items stood for goes with them."""
    gone = set(made.replaces)
    reason = f"one of {len(gone)} that a model worded as one"
    actions = [action for action in plan.actions if action.item not in gone]
    actions += [
        Action(ActionKind.MERGE, item, made.version, reason, made.rule) for item in made.replaces
    ]
    return replace(
        plan,
        actions=tuple(sorted(actions, key=lambda action: action.item)),
        kept=tuple(item for item in plan.kept if item not in gone),
        replacements=tuple(sorted([*plan.replacements, made], key=lambda one: one.item)),
    )
