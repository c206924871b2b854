"""Where a namespace stands: what serves, what is tried beside it, and how it does."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.decisions import Decision
from memserver.domain.errors import DecisionNotFound
from memserver.domain.policies import Exploration, Policy, PolicyRole, PolicyState
from memserver.domain.ports import DecisionFilter, PageRequest, Reader, Store
from memserver.domain.scope import Namespace, Scope
from memserver.services.policies.exploring import exploration_of
from memserver.services.policies.lifecycle import trial_of
from memserver.services.policies.watching import Trial

LATEST = 500


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over the latest decisions that a shadow was shown: how many, how often it could not
    answer, and how much of what was served it would have served too (None: it never answered)."""

    decisions: int
    failed: int
    overlap: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    policy: Policy
    trial: Trial | None
    agreement: Agreement | None


@dataclass(frozen=True, slots=True)
class Overview:
    """`latest` counts the latest decisions by policy, `explored` those that explored."""

    namespace: Namespace
    role: PolicyRole
    exploration: Exploration
    standings: tuple[Standing, ...]
    latest: dict[str, int]
    explored: int


class Overviewing:
    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, scope: Scope, namespace: Namespace, role: PolicyRole) -> Overview:
        with self._store.reading() as reader:
            latest = reader.decisions(
                scope,
                DecisionFilter(namespace.id, verb=role.value),
                PageRequest(LATEST),
                newest_first=True,
            ).rows
            return Overview(
                namespace=namespace,
                role=role,
                exploration=exploration_of(reader, namespace, role),
                standings=tuple(
                    _standing(reader, policy, latest)
                    for policy in reader.serving(namespace, role).policies
                ),
                latest=dict(Counter(decision.policy for decision in latest)),
                explored=sum(decision.explored for decision in latest),
            )

    def decision(self, scope: Scope, decision_id: UUID) -> Decision:
        """A logged decision, if the scope reaches every namespace that it read."""
        with self._store.reading() as reader:
            found = reader.decision(scope, decision_id)
        if found is None or not all(scope.may_read(n.path) for n in found.namespaces):
            raise DecisionNotFound(decision_id)
        return found


def _standing(reader: Reader, policy: Policy, latest: tuple[Decision, ...]) -> Standing:
    shadowed = policy.state is PolicyState.SHADOW
    return Standing(
        policy, trial_of(reader, policy), agreement(policy.name, latest) if shadowed else None
    )


def agreement(name: str, decisions: tuple[Decision, ...]) -> Agreement:
    shown = failed = 0
    overlaps: list[float] = []
    for decision in decisions:
        for shadow in decision.shadows:
            if shadow.policy == name:
                shown += 1
                failed += shadow.failed is not None
                served = set(decision.packed)
                if served and shadow.failed is None:
                    wanted = set(shadow.order[: len(served)])
                    overlaps.append(len(served & wanted) / len(served))
    return Agreement(shown, failed, sum(overlaps) / len(overlaps) if overlaps else None)
