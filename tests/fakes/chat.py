"""A chat model that answers by script, and a budget's rows in memory."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from memserver.domain.ports.chat import Completion
from memserver.domain.ports.model_use import ModelUse

T = TypeVar("T")


class ScriptedModel:
    """Gives the next of `script` (a text, a completion or an error to raise), the last one again
    and again. Notes what it was asked; tokens are counted as characters."""

    name = "scripted"

    def __init__(self, *script: str | Completion | Exception) -> None:
        self.script = list(script)
        self.asked: list[tuple[str, str, int]] = []

    def complete(self, system: str, user: str, *, max_tokens: int) -> Completion:
        self.asked.append((system, user, max_tokens))
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Completion):
            return said
        return Completion(said, len(system) + len(user) + len(said))

    def most_tokens(self, text: str) -> int:
        return len(text)

    def close(self) -> None:
        pass


class UseRows:
    """One transaction on what was used."""

    def __init__(self, rows: dict[tuple[UUID, str], ModelUse]) -> None:
        self._rows = rows

    def model_use(self, tenant: UUID, day: str) -> ModelUse:
        return self._rows.get((tenant, day), ModelUse(tenant, day))

    def reserve_model_tokens(self, tenant: UUID, day: str, tokens: int, *, most: int) -> bool:
        use = self.model_use(tenant, day)
        if use.tokens + tokens > most:
            return False
        self._rows[tenant, day] = replace(use, tokens=use.tokens + tokens, calls=use.calls + 1)
        return True

    def settle_model_tokens(self, tenant: UUID, day: str, *, reserved: int, spent: int) -> None:
        use = self.model_use(tenant, day)
        self._rows[tenant, day] = replace(use, tokens=use.tokens - reserved + spent)


class UseStore:
    """Transactions one after another, as a store has them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[tuple[UUID, str], ModelUse] = {}

    @contextmanager
    def reading(self) -> Iterator[Any]:
        with self._lock:
            yield UseRows(dict(self._rows))

    def write(self, work: Callable[[Any], T]) -> T:
        with self._lock:
            return work(UseRows(self._rows))
