"""Which policy answers a retrieve, and whether it explores."""

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from memserver.domain.policies import (
    Exploration,
    Mode,
    Policy,
    PolicyRole,
    PolicyState,
    exploration_id,
)
from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.folder import PolicyFolder, differences
from memserver.domain.policy.manifest import decoded
from memserver.domain.policy.sampling import assigned
from memserver.domain.policy.scorer import Scorer
from memserver.domain.ports import Encoder, Reader
from memserver.domain.ports.meter import Meter
from memserver.domain.scope import Namespace
from memserver.services.retrieval.rankers import (
    BUILT_IN_CHOICE,
    FIXED,
    Chosen,
    LearnedRanker,
    Ranker,
)

logger = logging.getLogger(__name__)

KEPT_BYTES = 256 * 1024 * 1024
"""Weights that are kept loaded, as they are stored; a scorer holds them twice as wide."""
MOST_SHADOWS = 8
"""Shadows that a retrieve scores, the newest: anyone who may write can register one."""
LoadScorer = Callable[[Reader, Policy], Scorer]


class Scorers:
    """Scorers by their weights: what is once loaded serves every later request, and
    a promotion is picked up by whoever reads the policy's row next. Those that were used last
    are kept."""

    def __init__(self, encoder: Encoder, *, kept_bytes: int = KEPT_BYTES) -> None:
        self._encoder = encoder
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[tuple[object, ...], _Loaded] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, reader: Reader, policy: Policy) -> Scorer:
        """Raises `InvalidPolicy`, also where the encoder has changed since the policy was
        registered, and `LookupError` where the weights are gone."""
        # What they were trained with is part of what they are: equal weights under another
        # manifest are another policy.
        said = (policy.manifest.get(name) for name in ("encoder", "dimension", "feature_schema"))
        key = (policy.weights_hash, policy.kind, *said)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known.scorer
        manifest = decoded(json.dumps(policy.manifest).encode())
        unfit = differences(
            manifest, encoder=self._encoder.fingerprint, dimension=self._encoder.dimension
        )
        if unfit:
            raise InvalidPolicy("; ".join(unfit))
        weights = reader.policy_weights(policy.weights_hash)
        if weights is None:
            raise LookupError(f"the weights {policy.weights_hash} are not stored")
        loaded = _Loaded(PolicyFolder(manifest, weights).scorer(), len(weights))
        with self._lock:
            self._kept[key] = loaded
            while len(self._kept) > 1 and self.size > self._kept_bytes:
                self._kept.popitem(last=False)
        return loaded.scorer

    @property
    def size(self) -> int:
        """Bytes of the weights that are kept."""
        return sum(loaded.size for loaded in self._kept.values())


@dataclass(frozen=True, slots=True)
class _Loaded:
    scorer: Scorer
    size: int


class Serving:
    """Reads the policies in use with every retrieve, in the retrieve's own transaction: a change
    of state holds from the next request on, in every replica, and none is dropped for it."""

    def __init__(self, load: LoadScorer, meter: Meter) -> None:
        self._load = load
        self._meter = meter

    def choose(self, reader: Reader, namespaces: Sequence[Namespace], unit: UUID) -> Chosen:
        """The first namespace decides. A policy that cannot be loaded does not serve: the
        built-in one answers, and the failure is counted."""
        if not namespaces:
            return BUILT_IN_CHOICE
        namespace = namespaces[0]
        in_use = reader.serving(namespace, PolicyRole.RETRIEVE)
        serving = policy_for(in_use.policies, unit)
        loaded = None if serving is None else self.ranker(reader, serving)
        shadowing = (p for p in in_use.policies if p.state is PolicyState.SHADOW)
        shadows = tuple(
            ranker
            for policy in islice(shadowing, MOST_SHADOWS)
            if (ranker := self.ranker(reader, policy)) is not None
        )
        explores = explores_here(in_use.exploration, unit)
        return Chosen(
            ranker=loaded or FIXED,
            shadows=shadows,
            explores=explores,
            temperature=in_use.exploration.temperature if explores and in_use.exploration else 0.0,
            exposure_slots=(
                in_use.exploration.exposure_slots if explores and in_use.exploration else 0
            ),
        )

    def ranker(self, reader: Reader, policy: Policy) -> Ranker | None:
        """None where the policy cannot be loaded."""
        try:
            return LearnedRanker(policy.name, self._load(reader, policy))
        except (ValueError, LookupError) as error:
            self._count(policy.name, error)
            return None

    def failed(self, ranker: Ranker, error: Exception) -> None:
        self._count(ranker.name, error)

    def _count(self, policy: str, error: Exception) -> None:
        logger.error("The policy %s could not answer: %s", policy, type(error).__name__)
        self._meter.policy_failed(policy)


def policy_for(in_use: Sequence[Policy], unit: UUID) -> Policy | None:
    """The learned policy that serves this run: a canary to which the run was assigned, else the
    active one; None means the built-in one."""
    for policy in in_use:
        if policy.state is PolicyState.CANARY and in_canary(policy, unit):
            return policy
    return next((policy for policy in in_use if policy.state is PolicyState.ACTIVE), None)


def in_canary(policy: Policy, unit: UUID) -> bool:
    return assigned(unit, policy.share, salt=f"canary:{policy.id}")


def explores_here(exploration: Exploration | None, unit: UUID) -> bool:
    if exploration is None or exploration.mode is Mode.FIXED:
        return False
    return assigned(unit, exploration.share, salt=f"explore:{exploration.id}")


def default_exploration(namespace: Namespace, role: PolicyRole) -> Exploration:
    return Exploration(id=exploration_id(namespace, role), namespace=namespace, role=role)
