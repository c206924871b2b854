"""What the server's own log says of a policy that has not served yet: the estimate that opens the
way to a canary. What a policy's manifest claims is shown and never gone by."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memserver.domain.decisions import Considered, Decision
from memserver.domain.errors import UnusablePolicy
from memserver.domain.policies import BUILT_IN, BUILT_IN_OF, Policy, PolicyState
from memserver.domain.policy.features import NAMES, SCHEMA_VERSION
from memserver.domain.policy.logged_ranking import LoggedRanking, Place
from memserver.domain.policy.off_policy import Evaluation, LoggedChoice, evaluate
from memserver.domain.policy.sampling import SlotKind
from memserver.domain.policy.scorer import Scorer
from memserver.domain.ports import DecisionFilter, PageRequest, Reader, Store
from memserver.domain.scope import Scope
from memserver.services.exporting.rewards import Rewarded, rewards_of
from memserver.services.exporting.splits import Split, split_of
from memserver.services.policies.serving import Scorers
from memserver.services.version_vectors import STORED_AS, VersionVectors
from memserver_skills.beliefs.gates import never_helps

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

MOST_DECISIONS = 5_000
MOST_READ = 20_000
"""Decisions that are looked through for those; older ones tell nothing."""
READ_TOGETHER = 200
CONFIDENCE = 0.95
LEAST_EFFECTIVE = 200
"""Effective sample size from which on an estimate may open a canary."""

BELIEF_OUTCOMES, BELIEF_LOWER = NAMES.index("belief_outcomes"), NAMES.index("belief_lower")


@dataclass(frozen=True, slots=True)
class Proof:
    """An evaluation of `policy` against `reference`, on decisions made from `since` on.
    `refusal` says why it opens no canary; None where it does."""

    policy: UUID
    reference: str
    since: datetime | None
    evaluation: Evaluation
    refusal: str | None


class Proving:
    def __init__(
        self, store: Store, scorers: Scorers, vectors: VersionVectors, *, encoder: str
    ) -> None:
        self._store = store
        self._scorers = scorers
        self._vectors = vectors
        self._encoder = encoder

    def prove(
        self, reader: Reader, scope: Scope, policy: Policy, *, since: datetime | None = None
    ) -> Proof:
        """Estimates `policy` and what is active now from the newest decisions in which the
        active policy explored and whose outcome is known, both as they would answer without
        exploring. Decisions that the policy may have been trained on are left out: those made
        before it was registered, about tasks of the training split. Raises `UnusablePolicy` where
        this server cannot load it."""
        active = next(
            (
                one
                for one in reader.serving(policy.namespace, policy.role).policies
                if one.state is PolicyState.ACTIVE and one.id != policy.id
            ),
            None,
        )
        reference = BUILT_IN_OF[policy.role] if active is None else active.name
        try:
            scorer = self._scorers(reader, policy)
        except (ValueError, LookupError) as error:
            raise UnusablePolicy(str(error)) from error
        choices = list(self._choices(reader, scope, policy, scorer, reference, since))
        found = evaluate(choices, confidence=CONFIDENCE)
        return Proof(policy.id, reference, since, found, _refusal(found, reference))

    def _choices(
        self,
        reader: Reader,
        scope: Scope,
        policy: Policy,
        scorer: Scorer,
        reference: str,
        since: datetime | None,
    ) -> Iterator[LoggedChoice]:
        """Those of at most MOST_DECISIONS decisions, newest first."""
        left = MOST_DECISIONS
        for page in self._explored(reader, scope, policy, reference, since):
            told = self._told(reader, scope, page, registered=policy.created_at)[:left]
            wanted = dict.fromkeys(c.id for decision, _ in told for c in decision.admitted)
            vectors = self._vectors.of(reader, scope, list(wanted))
            for decision, rewarded in told:
                yield from choices_of(decision, rewarded, scorer, vectors)
            left -= len(told)
            if left <= 0:
                return

    def _explored(
        self,
        reader: Reader,
        scope: Scope,
        policy: Policy,
        reference: str,
        since: datetime | None,
    ) -> Iterator[list[Decision]]:
        """Page by page, newest first: decisions of the reference by this server's encoder and
        feature schema."""
        where = DecisionFilter(
            policy.namespace.id, since=since, explored=True, verb=policy.role.value
        )
        cursor: str | None = None
        for _ in range(MOST_READ // READ_TOGETHER):
            page = reader.decisions(
                scope, where, PageRequest(READ_TOGETHER, cursor), newest_first=True
            )
            yield [
                decision
                for decision in page.rows
                if (decision.policy, decision.encoder, decision.schema)
                == (reference, self._encoder, SCHEMA_VERSION)
            ]
            cursor = page.next_cursor
            if cursor is None:
                return

    @staticmethod
    def _told(
        reader: Reader, scope: Scope, decisions: Sequence[Decision], *, registered: datetime
    ) -> list[tuple[Decision, Rewarded]]:
        """Those whose outcome is known and that no training can have seen."""
        rewarded = rewards_of(reader, scope, decisions)
        return [
            (decision, found)
            for decision in decisions
            if decision.query_vector
            and "outcome" in (found := rewarded[decision.id]).rewards
            and (decision.created_at >= registered or split_of(found.group) is not Split.TRAIN)
        ]


def choices_of(
    decision: Decision,
    rewarded: Rewarded,
    scorer: Scorer,
    vectors: Mapping[UUID, Singles],
) -> list[LoggedChoice]:
    """The packed places of a decision, each with what could have stood there. The reference is
    the policy that made the decision, had it not explored: the built-in one leaves out what its
    gate on beliefs refuses. Where a candidate has gone since it cannot be scored, and where the
    log does not replay it cannot be reweighed: then the decision tells nothing.
    """
    admitted = decision.admitted
    if not admitted or any(candidate.id not in vectors for candidate in admitted):
        return []
    features = np.array([candidate.features for candidate in admitted], np.float32)
    items = np.stack([vectors[candidate.id] for candidate in admitted])
    query = np.frombuffer(decision.query_vector or b"", STORED_AS)
    target = scorer.logits(query, items, features)
    behaviour = np.array([candidate.score for candidate in admitted])
    gated = decision.policy == BUILT_IN
    reference = np.where([gated and _kept_out(one) for one in admitted], -1e9, behaviour)
    packed = sorted(
        (candidate.rank, index)
        for index, candidate in enumerate(admitted)
        if candidate.packed and candidate.rank is not None
    )
    ranking = LoggedRanking(
        decision=str(decision.id),
        cluster=rewarded.group,
        features=features,
        scores=behaviour,
        temperature=decision.temperature,
        places=[
            Place(
                index,
                admitted[index].slot or SlotKind.POLICY,
                admitted[index].propensity,
                rewarded.credits.get(admitted[index].id, 0.0),
            )
            for _, index in packed
        ],
        outcome=rewarded.rewards["outcome"],
    )
    return ranking.choices(target=target, reference=reference) or []


def _kept_out(candidate: Considered) -> bool:
    return never_helps(candidate.features[BELIEF_OUTCOMES], candidate.features[BELIEF_LOWER])


def _refusal(found: Evaluation, reference: str) -> str | None:
    if found.refusal is not None:
        return found.refusal
    assert found.difference is not None, "an evaluation that was not refused has one"
    if found.ess < LEAST_EFFECTIVE:
        return (
            f"not enough exploration: the log tells as much as {found.ess:.0f} decisions, "
            f"and {LEAST_EFFECTIVE} are needed"
        )
    if found.difference.low <= 0:
        return (
            f"not shown to be better than {reference}: the difference is "
            f"{found.difference.estimate:+.3f} [{found.difference.low:+.3f}, "
            f"{found.difference.high:+.3f}] an outcome"
        )
    return None
