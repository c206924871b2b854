"""Deciding what becomes of each candidate: the rules, then a policy where one serves, then what a
model said where one was asked."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

import numpy as np

from memserver.domain.decisions import Choice, Considered, Decision, Shadowed
from memserver.domain.policies import WRITE_RULES, Policy, PolicyRole, PolicyState
from memserver.domain.policy.sampling import draw
from memserver.domain.policy.write_features import (
    SCHEMA_VERSION,
    Operation,
    matrix,
)
from memserver.domain.ports import Reader
from memserver.domain.ports.meter import Meter
from memserver.domain.ports.store import Serving
from memserver.domain.scope import Namespace, Scope
from memserver.services.policies.serving import (
    MOST_SHADOWS,
    LoadScorer,
    explores_here,
    policy_for,
)
from memserver.services.writing.candidates import Candidate, Neighbour, Option, Ruling
from memserver.services.writing.describing import features_of
from memserver.services.writing.rules import rule

logger = logging.getLogger(__name__)

RULES_LOGIT = 4.0
"""What the rules give their own choice, all else 0: sampled at temperature 1 in a namespace that
explores, another option comes up once in some fifty times."""
NO_TARGET = UUID(int=0)
LONGEST_QUERY = 2_000
CANNOT_ANSWER = (ValueError, LookupError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model would do with a candidate, said before the transaction; `target` is the id of
    the item, since its version may be another by now."""

    operation: Operation
    target: UUID | None
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of a candidate, and its decision but for what is written in the end."""

    candidate: Candidate
    option: Option
    by: str
    reason: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class _Scored:
    """`policy` names what scored; its logits are one an option."""

    policy: str
    logits: Sequence[float]


class Deciding:
    def __init__(
        self, load: LoadScorer, meter: Meter, *, new_id: Callable[[], UUID], encoder: str
    ) -> None:
        self._load = load
        self._meter = meter
        self._new_id = new_id
        self._encoder = encoder

    def decide(
        self,
        reader: Reader,
        scope: Scope,
        serving: Serving,
        candidate: Candidate,
        neighbours: Sequence[Neighbour],
        *,
        namespace: Namespace,
        now: datetime,
        searched: bool = False,
        verdict: Verdict | None = None,
    ) -> Decided:
        """`neighbours` are the likeliest first. A policy or a model chooses among what the rules
        admit; where they bind nothing is asked."""
        decision_id = self._new_id()
        ruling = rule(candidate, neighbours)
        options = ruling.admitted
        rows = [
            features_of(
                candidate,
                option.operation,
                option.target,
                rules=option is ruling.choice,
                searched=searched,
                now=now,
            ).row()
            for option in options
        ]
        explores = not ruling.binds and explores_here(serving.exploration, decision_id)
        exploration = serving.exploration if explores else None
        temperature = exploration.temperature if exploration else 0.0
        exposure = exploration.exposure_slots if exploration else 0
        scored = self._scored(reader, serving, decision_id, ruling, rows)
        (slot,) = draw(
            scored.logits, 1, temperature=temperature, exposure_slots=exposure, seed=decision_id
        )
        option, by, reason = options[slot.index], "rules", ruling.reason
        if scored.policy != WRITE_RULES:
            by, reason = "policy", f"policy {scored.policy}"
        if option is not ruling.choice and by == "rules":
            reason = f"explored, where the rules had: {ruling.reason}"
        if by == "rules" and not explores and verdict is not None:
            judged = _admitted(options, verdict)
            if judged is not None and judged is not ruling.choice:
                option, by, reason = judged, "model", verdict.reason
                scored = _as_judged(options, judged)
            elif judged is not None:
                by, reason = "model", verdict.reason
        places = {id(option): (slot.propensity, slot.kind.value)}
        decision = Decision(
            id=decision_id,
            tenant=scope.tenant,
            namespaces=(namespace,),
            verb="write",
            query=candidate.text[:LONGEST_QUERY],
            task_type=None,
            trajectory_id=None,
            schema=SCHEMA_VERSION,
            policy=scored.policy,
            candidates=(
                *(
                    _considered(one, row, logit, places)
                    for one, row, logit in zip(options, rows, scored.logits, strict=True)
                ),
                *_only_seen(candidate, neighbours, options, searched=searched, now=now),
            ),
            created_at=now,
            asked_by=scope.key,
            k=1,
            explored=explores,
            temperature=temperature,
            exposure_slots=exposure,
            encoder=self._encoder if searched else "",
            shadows=self._shadows(reader, serving, ruling, rows),
            choice=Choice(option.operation.value, option.target_id, by, reason),
        )
        return Decided(candidate, option, by, reason, decision)

    def _scored(
        self,
        reader: Reader,
        serving: Serving,
        decision_id: UUID,
        ruling: Ruling,
        rows: Sequence[tuple[float, ...]],
    ) -> _Scored:
        policy = None if ruling.binds else policy_for(serving.policies, decision_id)
        if policy is not None:
            logits = self._logits(reader, policy, rows)
            if isinstance(logits, list):
                return _Scored(policy.name, logits)
        return _Scored(WRITE_RULES, [RULES_LOGIT, *(0.0 for _ in ruling.others)])

    def _shadows(
        self,
        reader: Reader,
        serving: Serving,
        ruling: Ruling,
        rows: Sequence[tuple[float, ...]],
    ) -> tuple[Shadowed, ...]:
        """What each would have done; none where the rules bind."""
        if ruling.binds:
            return ()
        shadows = (one for one in serving.policies if one.state is PolicyState.SHADOW)
        told = []
        for policy in islice(shadows, MOST_SHADOWS):
            logits = self._logits(reader, policy, rows)
            if isinstance(logits, list):
                best = ruling.admitted[int(np.argmax(logits))]
                order = (best.target_id or NO_TARGET,)
                told.append(Shadowed(policy.name, order, operation=best.operation.value))
            else:
                told.append(Shadowed(policy.name, (), logits))
        return tuple(told)

    def _logits(
        self, reader: Reader, policy: Policy, rows: Sequence[tuple[float, ...]]
    ) -> list[float] | str:
        """One an option, or the name of the error where the policy cannot answer."""
        nothing = np.empty(0, np.float32)
        try:
            logits = self._load(reader, policy).logits(nothing, nothing, matrix(list(rows)))
            if not np.isfinite(logits).all():
                raise FloatingPointError("the policy's scores are not finite")
            return [float(one) for one in logits]
        except CANNOT_ANSWER as error:
            logger.error("The policy %s could not answer: %s", policy.name, type(error).__name__)
            self._meter.policy_failed(policy.name)
            return type(error).__name__


def serving_of(reader: Reader, namespace: Namespace) -> Serving:
    return reader.serving(namespace, PolicyRole.WRITE)


def _admitted(options: Sequence[Option], verdict: Verdict) -> Option | None:
    for option in options:
        target = None if option.target is None else option.target.entry.item.id
        if (option.operation, target) == (verdict.operation, verdict.target):
            return option
    return None


def _as_judged(options: Sequence[Option], judged: Option) -> _Scored:
    return _Scored(WRITE_RULES, [RULES_LOGIT if one is judged else 0.0 for one in options])


def _considered(
    option: Option,
    row: tuple[float, ...],
    logit: float,
    places: Mapping[int, tuple[float, str]],
) -> Considered:
    propensity, kind = places.get(id(option), (0.0, None))
    return Considered(
        id=option.target_id or NO_TARGET,
        features=row,
        rank=None if kind is None else 1,
        packed=False,
        propensity=propensity,
        score=logit,
        slot=kind,
    )


def _only_seen(
    candidate: Candidate,
    neighbours: Sequence[Neighbour],
    options: Sequence[Option],
    *,
    searched: bool,
    now: datetime,
) -> Sequence[Considered]:
    """Neighbours on which the rules admit nothing."""
    told = {option.target_id for option in options}
    return [
        Considered(
            id=one.id,
            features=features_of(
                candidate, None, one, rules=False, searched=searched, now=now
            ).row(),
            rank=None,
            packed=False,
            propensity=0.0,
            gated="rules",
        )
        for one in neighbours
        if one.id not in told
    ]
