"""The life of a policy: registered into the shadow, tried as a canary, promoted, taken back.

Every move is a change in the log, with its reason. What a move needs (an estimate, a trial) is
looked at before the transaction; the transaction checks that the states are still as they were.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.errors import (
    NoActivePolicy,
    PolicyExists,
    PolicyNotFound,
    PolicyNotProven,
    TooManyShadows,
    UnfitPolicy,
    WrongState,
)
from memserver.domain.policies import (
    BUILT_IN_OF,
    MOVES,
    Policy,
    PolicyRole,
    PolicyState,
)
from memserver.domain.policy.folder import PolicyFolder, differences
from memserver.domain.ports import Clock, Encoder, Page, PageRequest, Reader, Store, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.services.access import Access
from memserver.services.policies import watching
from memserver.services.policies.proving import Proof, Proving
from memserver.services.policies.watching import Trial, Verdict

BASELINE_WINDOW = timedelta(days=30)
MOST_IN_THE_SHADOW = 32
"""Every retrieve reads their rows, and anyone who may write can register one."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A policy after its move, and the change that moved it."""

    policy: Policy
    change: Change


class Lifecycle:
    """Admins move policies; the guardrail alone demotes them unasked."""

    def __init__(
        self,
        store: Store,
        access: Access,
        proving: Proving,
        encoder: Encoder,
        *,
        clock: Clock,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._access = access
        self._proving = proving
        self._encoder = encoder
        self._clock = clock
        self._new_id = new_id

    # --- registering ----------------------------------------------------------------------

    def register(
        self, tx: Writer, scope: Scope, namespace: Namespace, folder: PolicyFolder
    ) -> Moved:
        """Stores a policy and puts it into the shadow. Raises `UnfitPolicy` that names what
        differs from this server, `PolicyExists` where the namespace has the same weights,
        `TooManyShadows` where nobody takes them out again."""
        manifest = folder.manifest
        found = differences(
            manifest, encoder=self._encoder.fingerprint, dimension=self._encoder.dimension
        )
        if found:
            raise UnfitPolicy(found)
        in_use = tx.serving(namespace, PolicyRole(manifest.role)).policies
        for known in in_use:
            if known.weights_hash == manifest.weights_sha256:
                raise PolicyExists(known.id)
        if sum(one.state is PolicyState.SHADOW for one in in_use) >= MOST_IN_THE_SHADOW:
            raise TooManyShadows(namespace.path, MOST_IN_THE_SHADOW)
        now = self._clock()
        policy = Policy(
            id=self._new_id(),
            namespace=namespace,
            role=PolicyRole(manifest.role),
            kind=manifest.kind,
            state=PolicyState.SHADOW,
            manifest=manifest.document(),
            weights_hash=manifest.weights_sha256,
            created_at=now,
            since=now,
            reason="registered",
        )
        tx.put_policy_weights(manifest.weights_sha256, folder.weights)
        return Moved(policy, self._apply(tx, scope, Verb.REGISTER_POLICY, "registered", policy))

    # --- reading --------------------------------------------------------------------------

    def find(self, scope: Scope, policy_id: UUID) -> Policy:
        with self._store.reading() as reader:
            return self.get(reader, scope, policy_id)

    def list(
        self, scope: Scope, namespaces: Sequence[Namespace], page: PageRequest
    ) -> Page[Policy]:
        with self._store.reading() as reader:
            return reader.policies(scope, [namespace.id for namespace in namespaces], page)

    # --- what a move would need ------------------------------------------------------------

    def get(self, reader: Reader, scope: Scope, policy_id: UUID) -> Policy:
        policy = reader.policy(scope, policy_id)
        if policy is None:
            raise PolicyNotFound(policy_id)
        return policy

    def prove(self, scope: Scope, policy_id: UUID, *, since: datetime | None = None) -> Proof:
        """What the log says of the policy, whether or not it opens a canary."""
        with self._store.reading() as reader:
            return self._proving.prove(
                reader, scope, self.get(reader, scope, policy_id), since=since
            )

    def trial(self, scope: Scope, policy_id: UUID) -> Trial | None:
        """How a canary or an active policy does; None in another state."""
        with self._store.reading() as reader:
            return trial_of(reader, self.get(reader, scope, policy_id))

    # --- moves ----------------------------------------------------------------------------

    def to_shadow(self, tx: Writer, scope: Scope, policy_id: UUID, *, reason: str) -> Moved:
        policy = self._for_admin(tx, scope, policy_id)
        return self._move(tx, scope, Verb.SHADOW_POLICY, policy, PolicyState.SHADOW, reason)

    def to_canary(
        self,
        tx: Writer,
        scope: Scope,
        policy_id: UUID,
        *,
        share: float,
        proof: Proof,
        override: str,
    ) -> Moved:
        """Gives it a share of the runs. Raises `PolicyNotProven` unless the log shows it to be
        better or a person overrides that with a reason, which is logged. A canary's share may
        be changed; its trial then starts anew. One canary at a time serves a namespace."""
        policy = self._for_admin(tx, scope, policy_id)
        doubt = proof.refusal or _outdated(tx, policy, proof)
        if doubt is not None and not override:
            raise PolicyNotProven(policy.id, "a canary", doubt)
        for other in tx.serving(policy.namespace, policy.role).policies:
            if other.state is PolicyState.CANARY and other.id != policy.id:
                raise WrongState("policy", other.id, "the canary", "joined by another one")
        widened = replace(policy, share=share)
        if policy.state is PolicyState.CANARY:
            return self._put(tx, scope, Verb.CANARY_POLICY, widened, _why(override, doubt))
        return self._move(
            tx, scope, Verb.CANARY_POLICY, widened, PolicyState.CANARY, _why(override, doubt)
        )

    def promote(
        self,
        tx: Writer,
        scope: Scope,
        policy_id: UUID,
        *,
        trial: Trial | None,
        override: str,
    ) -> Moved:
        """Makes it the active policy; the one before it is retired. Raises `PolicyNotProven`
        unless its canary showed it to be better, or a person overrides that with a reason. The
        trial of another canary starts anew: what it is compared with has changed."""
        policy = self._for_admin(tx, scope, policy_id)
        doubt = _doubt(policy, trial)
        if doubt is not None and not override:
            raise PolicyNotProven(policy.id, "promotion", doubt)
        if PolicyState.ACTIVE not in MOVES[policy.state]:
            raise WrongState("policy", policy.id, policy.state, "promoted")
        now = self._clock()
        active = _active(tx, policy)
        before = BUILT_IN_OF[policy.role] if active is None else active.name
        promoted = replace(
            policy,
            state=PolicyState.ACTIVE,
            share=0.0,
            since=now,
            reason=_why(override, doubt),
            previous=None if active is None else active.id,
            baseline=watching.scores_under(tx, policy, before, now - BASELINE_WINDOW),
        )
        retired = () if active is None else (self._retired(active, f"{policy.id} was promoted"),)
        puts = (promoted, *retired, *self._restarted(tx, policy))
        return Moved(promoted, self._apply(tx, scope, Verb.PROMOTE_POLICY, promoted.reason, *puts))

    def roll_back(
        self, tx: Writer, scope: Scope, namespace: Namespace, role: PolicyRole, *, reason: str
    ) -> Moved:
        """Retires the active policy; what was active before it serves again from the next
        request on. Raises `NoActivePolicy` where the built-in one serves."""
        self._access.require_admin(scope, "roll policies back")
        active = next(
            (p for p in tx.serving(namespace, role).policies if p.state is PolicyState.ACTIVE),
            None,
        )
        if active is None:
            raise NoActivePolicy(namespace.path, role)
        return self._taken_back(tx, scope, Verb.ROLL_BACK_POLICY, active, reason)

    def retire(self, tx: Writer, scope: Scope, policy_id: UUID, *, reason: str) -> Moved:
        """Takes a shadow or a canary out of use; the active policy is rolled back instead."""
        policy = self._for_admin(tx, scope, policy_id)
        if policy.state is PolicyState.ACTIVE:
            raise WrongState("policy", policy.id, policy.state, "retired; roll it back instead")
        return self._move(tx, scope, Verb.RETIRE_POLICY, policy, PolicyState.RETIRED, reason)

    def demote(self, tx: Writer, server: Scope, failed: Trial) -> Moved | None:
        """The guardrail: a canary that does worse goes back into the shadow, an active policy
        that does worse is rolled back. None where it has been moved meanwhile."""
        policy = tx.policy(server, failed.policy.id)
        if policy is None or policy != failed.policy or failed.verdict is not Verdict.WORSE:
            return None
        reason = f"guardrail: {failed.told}"
        if policy.state is PolicyState.CANARY:
            return self._move(tx, server, Verb.DEMOTE_POLICY, policy, PolicyState.SHADOW, reason)
        return self._taken_back(tx, server, Verb.DEMOTE_POLICY, policy, reason)

    # --- how ------------------------------------------------------------------------------

    def _for_admin(self, tx: Writer, scope: Scope, policy_id: UUID) -> Policy:
        self._access.require_admin(scope, "move policies between states")
        policy = self.get(tx, scope, policy_id)
        self._access.require_writable(scope, policy.namespace)
        return policy

    def _taken_back(
        self, tx: Writer, scope: Scope, verb: Verb, active: Policy, reason: str
    ) -> Moved:
        # Nothing came before it any more: two policies that were active in turn, each after the
        # other, would otherwise be taken back to one another for ever.
        retired = replace(self._retired(active, reason), previous=None)
        others = self._restarted(tx, active)
        before = None if active.previous is None else tx.policy(_all_of(active), active.previous)
        if before is None:
            return Moved(retired, self._apply(tx, scope, verb, reason, retired, *others))
        again = replace(
            before,
            state=PolicyState.ACTIVE,
            share=0.0,
            since=self._clock(),
            reason=f"{active.id} was taken back",
            baseline=(),
        )
        others = tuple(other for other in others if other.id != again.id)
        return Moved(retired, self._apply(tx, scope, verb, reason, retired, again, *others))

    def _restarted(self, tx: Reader, moved: Policy) -> tuple[Policy, ...]:
        """The canary beside a policy that comes or goes, with its trial begun anew."""
        return tuple(
            replace(other, since=self._clock())
            for other in tx.serving(moved.namespace, moved.role).policies
            if other.state is PolicyState.CANARY and other.id != moved.id
        )

    def _retired(self, policy: Policy, reason: str) -> Policy:
        return replace(
            policy, state=PolicyState.RETIRED, share=0.0, since=self._clock(), reason=reason
        )

    def _move(
        self,
        tx: Writer,
        scope: Scope,
        verb: Verb,
        policy: Policy,
        state: PolicyState,
        reason: str,
    ) -> Moved:
        if state not in MOVES[policy.state]:
            raise WrongState("policy", policy.id, policy.state, f"moved to {state}")
        share = policy.share if state is PolicyState.CANARY else 0.0
        return self._put(tx, scope, verb, replace(policy, state=state, share=share), reason)

    def _put(self, tx: Writer, scope: Scope, verb: Verb, policy: Policy, reason: str) -> Moved:
        moved = replace(policy, since=self._clock(), reason=reason)
        return Moved(moved, self._apply(tx, scope, verb, reason, moved))

    @staticmethod
    def _apply(tx: Writer, scope: Scope, verb: Verb, reason: str, *policies: Policy) -> Change:
        return tx.apply(
            Draft(tenant=scope.tenant, verb=verb, actor=scope.key, reason=reason, puts=policies)
        )


def trial_of(reader: Reader, policy: Policy) -> Trial | None:
    served = policy.state in (PolicyState.CANARY, PolicyState.ACTIVE)
    return watching.trial(reader, policy) if served else None


def _active(reader: Reader, policy: Policy) -> Policy | None:
    in_use = reader.serving(policy.namespace, policy.role).policies
    return next((one for one in in_use if one.state is PolicyState.ACTIVE), None)


def require_one_each(reader: Reader, scope: Scope, moved: Sequence[UUID]) -> None:
    """Raises `WrongState` where, of what serves beside one of the policies, two are active or two
    are canaries: an undo may bring one back whose place has been taken."""
    for policy_id in moved:
        policy = reader.policy(scope, policy_id)
        if policy is None or policy.state not in (PolicyState.CANARY, PolicyState.ACTIVE):
            continue
        for other in reader.serving(policy.namespace, policy.role).policies:
            if other.state is policy.state and other.id != policy.id:
                raise WrongState("policy", other.id, policy.state, "joined by another one")


def _outdated(reader: Reader, policy: Policy, proof: Proof) -> str | None:
    """Why a proof no longer says what it said; None where it does."""
    active = _active(reader, policy)
    if active is None or active.id == policy.id:
        serves = BUILT_IN_OF[policy.role]
    else:
        serves = active.name
    return None if serves == proof.reference else "what is active has changed meanwhile"


def _doubt(policy: Policy, trial: Trial | None) -> str | None:
    """Why a promotion is not borne out by outcomes; None where it is."""
    if policy.state is not PolicyState.CANARY:
        return f"it is {policy.state} and has served no run as a canary"
    if trial is None or trial.policy != policy:
        return "its canary has changed while it was looked at"
    return None if trial.verdict is Verdict.BETTER else f"its canary is {trial.told}"


def _why(override: str, doubt: str | None) -> str:
    if doubt is None:
        return override or "shown to be better"
    return f"override: {override} (without it: {doubt})"


def _all_of(policy: Policy) -> Scope:
    """A scope that sees the policy's whole namespace: what it goes back to is not the caller's
    to be granted."""
    return Scope(policy.namespace.tenant, UUID(int=0), Role.READER, grants=(policy.namespace.path,))
