"""The acts that a library's evidence asks for: one function a rule, over values; nothing is changed
here. Skill1 (admission, cap), SkillOrchestra (split), RATs and LearnAct (refine), SDG and Yunjue
(hypotheses)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.evidence import GATE_FROM_OUTCOMES, Belief, Evidence
from memserver.domain.items import Kind, SkillBody, Status
from memserver.domain.namespace_settings import Admission
from memserver.domain.trajectories import Trajectory
from memserver_skills.beliefs.gates import never_helps
from memserver_skills.beliefs.utility import counting, utility
from memserver_skills.evolution.acts import Act, ActKind, Evolution, Why, Written
from memserver_skills.evolution.admission import (
    FIRST_USES,
    Agreeing,
    failed_trial,
    gain,
    on_trial,
    verified_by,
    waits_for,
)
from memserver_skills.evolution.refining import refine
from memserver_skills.evolution.splitting import split
from memserver_skills.plans import Rated
from memserver_skills.principle_scores import is_pruned, score
from memserver_skills.routing.handbook import Handbook
from memserver_skills.routing.revising import disagreements, indistinguishable

CAP = 5000
"""Skill1's bound of a library."""
ACTS = 500
"""At once; the rest is found again the next time."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Library:
    """What an evolution looks at: items in use and those that wait, the evidence and the beliefs
    of each by its head, the namespace's runs, and the handbook of its agents."""

    items: Sequence[Rated]
    evidence: Mapping[UUID, Sequence[Evidence]]
    beliefs: Mapping[UUID, Sequence[Belief]]
    runs: Mapping[UUID, Trajectory]
    handbook: Handbook


def evolve(library: Library, *, admission: str, cap: int = CAP) -> Evolution:
    """What to do, item by item, one act an item at most: who goes is not rewritten as well.
    Deterministic, and independent of the order of the items."""
    items = sorted(library.items, key=lambda one: one.item)
    active = [one for one in items if one.entry.item.status is Status.ACTIVE]
    waiting = [one for one in items if waits_for(one) is not None]
    acts = admitted(waiting, active, library)
    acts += retired(active, library, admission=admission)
    gone = {act.item for act in acts if act.kind is ActKind.RETIRE}
    left = [one for one in active if one.item not in gone]
    for one in left:
        found = _split(one, library) or _refined(one, library)
        acts += [] if found is None else [found]
    coming = sum(act.kind is ActKind.ADMIT for act in acts)
    coming += sum(act.apart is not None for act in acts)
    touched = {act.item for act in acts}
    acts += past_the_cap(
        [one for one in left if one.item not in touched], library, too_many=len(left) + coming - cap
    )
    admitted_now = {act.item for act in acts if act.kind is ActKind.ADMIT}
    return Evolution(
        acts=tuple(acts[:ACTS]),
        on_trial=tuple(
            one.item for one in left if on_trial(one.entry.version, one.belief, admission)
        ),
        waiting=tuple(one.item for one in waiting if one.item not in admitted_now),
        left=max(0, len(acts) - ACTS),
        disagreements={one.skill: one.variance for one in disagreements(library.handbook)},
        indistinguishable=indistinguishable(library.handbook),
    )


def admitted(waiting: Sequence[Rated], active: Sequence[Rated], library: Library) -> list[Act]:
    """Hypotheses that a success has shown, and newcomers that tell held-out runs better than the
    bank; what is admitted counts for the bank from then on, so that of two alike one comes in."""
    runs = sorted(library.runs.values(), key=lambda run: (run.created_at, run.id), reverse=True)
    agreeing = Agreeing()
    bank = list(active)
    acts = []
    for one in waiting:
        body = one.entry.version.body
        if not isinstance(body, SkillBody):
            continue
        if waits_for(one) == Admission.HELD_OUT:
            gained, seen = gain(one, bank, runs, agreeing)
            if gained <= 0:
                continue
            rule, reason = (
                Why.HELD_OUT,
                (
                    f"it tells {len(seen)} runs that it was not made from better than the library "
                    f"(+{gained:.2f} of their steps)"
                ),
            )
        else:
            seen = verified_by(body, runs)
            if not seen:
                continue
            rule, reason = Why.VERIFIED, f"{len(seen)} successful runs did what it says"
        shown = tuple(run.id for run in seen[:10])
        acts.append(_act(one, ActKind.ADMIT, rule, reason, runs=shown))
        bank.append(one)
    return acts


def retired(active: Sequence[Rated], library: Library, *, admission: str) -> list[Act]:
    """What its first uses, or its outcomes at all, have spoken against. What helps with one kind
    of task stays, whatever the others say of it."""
    acts = []
    for one in active:
        belief = one.belief
        told = f"{belief.outcomes} outcomes with a lower bound of {belief.lower_bound:.2f}"
        if failed_trial(one.entry.version, belief, admission):
            reason = f"not admitted after its first {FIRST_USES} uses: {told}"
            acts.append(_act(one, ActKind.RETIRE, Why.FIRST_USES, reason))
        elif one.entry.item.kind is Kind.PRINCIPLE and is_pruned(one):
            told = f"a score of {score(belief):.2f} after {belief.outcomes} outcomes"
            acts.append(_act(one, ActKind.RETIRE, Why.NEVER_HELPS, told))
        elif never_helps(belief.outcomes, belief.lower_bound) and not _helps_somewhere(
            library.beliefs.get(one.version, ())
        ):
            acts.append(_act(one, ActKind.RETIRE, Why.NEVER_HELPS, told))
    return acts


def _helps_somewhere(beliefs: Sequence[Belief]) -> bool:
    return any(
        one.context
        and one.outcomes >= GATE_FROM_OUTCOMES
        and not never_helps(one.outcomes, one.lower_bound)
        for one in beliefs
    )


def past_the_cap(active: Sequence[Rated], library: Library, *, too_many: int) -> list[Act]:
    """Low utility × low count first (Skill1); what came last goes first where that is equal."""
    if too_many <= 0:
        return []
    worth = {one.item: _standing(one, library) for one in active}
    going = sorted(active, key=lambda one: (worth[one.item], _age(one)))[:too_many]
    return [
        _act(
            one,
            ActKind.RETIRE,
            Why.CAP,
            f"the least worth of more than the library may hold ({worth[one.item]:.2f})",
        )
        for one in going
    ]


def _standing(one: Rated, library: Library) -> float:
    """Utility × count; one use that nobody has told of stands for the prior."""
    return utility(library.evidence.get(one.version, ())).value * (1 + one.belief.outcomes)


def _age(one: Rated) -> tuple[float, UUID]:
    return (-one.entry.item.created_at.timestamp(), one.item)


def _split(one: Rated, library: Library) -> Act | None:
    found = split(one, library.beliefs.get(one.version, ()))
    if found is None:
        return None
    return _act(
        one,
        ActKind.SPLIT,
        Why.CONTEXTS_DIFFER,
        found.reason,
        now=found.now,
        apart=found.apart,
    )


def _refined(one: Rated, library: Library) -> Act | None:
    """By the runs that its own outcomes came from; what was merged into it had other steps."""
    version = one.entry.version
    body = version.body
    if not isinstance(body, SkillBody) or not body.steps:
        return None
    own = [p for p in counting(library.evidence.get(one.version, ())) if p.subject == version.id]
    used = [
        (piece.value, library.runs[piece.cause])
        for piece in own
        if piece.cause is not None and piece.cause in library.runs
    ]
    found = refine(
        body,
        failed=[run for value, run in used if value < HALF],
        succeeded=[run for value, run in used if value >= HALF],
    )
    if found is None:
        return None
    return _act(
        one,
        ActKind.REFINE,
        Why.FAILED_STEP,
        found.reason,
        now=Written(version.title, found.body, version.task_type, one.belief),
        runs=tuple(run.id for run in found.runs),
    )


def _act(
    one: Rated,
    kind: ActKind,
    rule: Why,
    reason: str,
    *,
    now: Written | None = None,
    apart: Written | None = None,
    runs: tuple[UUID, ...] = (),
) -> Act:
    return Act(kind, one.item, one.version, rule, reason, now, apart, runs)
