"""What a tenant may spend on a chat model in a day: a bound that parallel callers keep to."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from memserver.domain.ports import Clock, Store
from memserver.domain.ports.model_use import ModelUse

TOKENS_A_DAY = 200_000


@dataclass(frozen=True, slots=True)
class Reserved:
    """Tokens that are counted as spent until the call that they are for has ended. A server that
    dies in between leaves them spent: too much was never given."""

    tenant: UUID
    day: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a tenant stands today."""

    use: ModelUse
    tokens_a_day: int
    renewed_at: datetime

    @property
    def left(self) -> int:
        return max(0, self.tokens_a_day - self.use.tokens)


class ModelBudget:
    """Days are those of UTC. A call that runs past midnight is of the day in which it began."""

    def __init__(self, store: Store, *, clock: Clock, tokens_a_day: int = TOKENS_A_DAY) -> None:
        self._store = store
        self._clock = clock
        self.tokens_a_day = tokens_a_day

    def reserve(self, tenant: UUID, tokens: int) -> Reserved | None:
        """None where the day's budget has not that much left; then nothing is taken."""
        reserved = Reserved(tenant, self.today(), tokens)
        given = self._store.write(
            lambda tx: tx.reserve_model_tokens(tenant, reserved.day, tokens, most=self.tokens_a_day)
        )
        return reserved if given else None

    def settle(self, reserved: Reserved, *, spent: int) -> None:
        """Gives back what was not spent."""
        self._store.write(
            lambda tx: tx.settle_model_tokens(
                reserved.tenant, reserved.day, reserved=reserved.tokens, spent=spent
            )
        )

    def use(self, tenant: UUID) -> ModelUse:
        """Today's so far."""
        with self._store.reading() as reader:
            return reader.model_use(tenant, self.today())

    def standing(self, tenant: UUID) -> Standing:
        midnight = datetime.combine(self._clock().astimezone(UTC).date(), time(), UTC)
        return Standing(self.use(tenant), self.tokens_a_day, midnight + timedelta(days=1))

    def today(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()
