"""Credit: which item versions an outcome speaks for, and the evidence that follows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.errors import VersionNotFound
from memserver.domain.evidence import Event, Evidence
from memserver.domain.ports import Clock, Reader
from memserver.domain.scope import Namespace, Scope


@dataclass(frozen=True, slots=True)
class Credit:
    """One outcome to be credited. `used` are the versions that are known to have been used;
    where it is None, `offered` share the outcome equally. It replaces what its cause and source
    said before: of all versions, or only of those in `about`."""

    cause: UUID
    source: str
    score: float
    context: str
    namespace: Namespace
    used: tuple[UUID, ...] | None
    offered: tuple[UUID, ...]
    about: frozenset[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Credited:
    """The evidence to store: new outcomes, and retractions of what they replace."""

    outcomes: tuple[Evidence, ...]
    retractions: tuple[Evidence, ...]

    @property
    def rows(self) -> tuple[Evidence, ...]:
        return (*self.retractions, *self.outcomes)


class Crediting:
    def __init__(self, *, clock: Clock, new_id: Callable[[], UUID]) -> None:
        self._clock = clock
        self._new_id = new_id

    def evidence(self, reader: Reader, scope: Scope, credit: Credit) -> Credited:
        """Evidence for every credited version: weight 1 each where their use is known, else
        1/k for the k that were offered. Earlier evidence of the same cause and source is taken
        back. Raises `VersionNotFound` for a used version that the scope cannot see."""
        visible = reader.entries_by_version(scope, credit.used or credit.offered)
        for version_id in credit.used or ():
            if version_id not in visible:
                raise VersionNotFound(version_id)
        subjects = [v for v in dict.fromkeys(credit.used or credit.offered) if v in visible]
        if credit.used is not None and not credit.used:
            subjects = []
        weight = 1.0 if credit.used is not None else 1.0 / max(len(subjects), 1)
        return Credited(
            outcomes=tuple(
                self._piece(credit, subject, Event.OUTCOME, credit.score, weight)
                for subject in subjects
            ),
            retractions=tuple(
                self._piece(
                    credit, old.subject, Event.RETRACTION, old.value, old.weight, retracts=old
                )
                for old in standing(reader.evidence_of_cause(scope, credit.cause))
                if old.source == credit.source
                and (credit.about is None or old.subject in credit.about)
            ),
        )

    def _piece(
        self,
        credit: Credit,
        subject: UUID,
        event: Event,
        value: float,
        weight: float,
        *,
        retracts: Evidence | None = None,
    ) -> Evidence:
        return Evidence(
            id=self._new_id(),
            namespace=retracts.namespace if retracts else credit.namespace,
            subject=subject,
            event=event,
            value=value,
            weight=weight,
            recorded_at=self._clock(),
            context=retracts.context if retracts else credit.context,
            source=credit.source,
            cause=credit.cause,
            retracts=retracts.id if retracts else None,
        )


def standing(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Outcomes that nothing has taken back."""
    retracted = {piece.retracts for piece in evidence if piece.event is Event.RETRACTION}
    return [
        piece for piece in evidence if piece.event is Event.OUTCOME and piece.id not in retracted
    ]
