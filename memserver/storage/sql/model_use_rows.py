"""What tenants used of chat models: plain rows, never undone."""

from uuid import UUID

from sqlalchemy import ColumnElement, insert, select, update

from memserver.domain.ports.model_use import ModelUse
from memserver.storage.sql.tables import MODEL_USE
from memserver.storage.sql.view import View


class ModelUseReads(View):
    def model_use(self, tenant: UUID, day: str) -> ModelUse:
        row = self._first(
            select(MODEL_USE.c.tokens, MODEL_USE.c.calls).where(
                MODEL_USE.c.tenant_id == tenant, MODEL_USE.c.day == day
            )
        )
        return ModelUse(tenant, day) if row is None else ModelUse(tenant, day, *row)


class ModelUseWrites(ModelUseReads):
    """There is one writer at a time, so that what was read still holds when it is written."""

    def reserve_model_tokens(self, tenant: UUID, day: str, tokens: int, *, most: int) -> bool:
        use = self.model_use(tenant, day)
        if use.tokens + tokens > most:
            return False
        cells = {"tokens": use.tokens + tokens, "calls": use.calls + 1}
        if use.calls:
            self._connection.execute(update(MODEL_USE).where(*_of(tenant, day)).values(cells))
        else:
            row = {"tenant_id": tenant, "day": day, **cells}
            self._connection.execute(insert(MODEL_USE).values(row))
        return True

    def settle_model_tokens(self, tenant: UUID, day: str, *, reserved: int, spent: int) -> None:
        self._connection.execute(
            update(MODEL_USE)
            .where(*_of(tenant, day))
            .values(tokens=MODEL_USE.c.tokens + (spent - reserved))
        )


def _of(tenant: UUID, day: str) -> tuple[ColumnElement[bool], ...]:
    return (MODEL_USE.c.tenant_id == tenant, MODEL_USE.c.day == day)
