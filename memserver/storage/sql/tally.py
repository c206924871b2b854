"""What a store counts for whoever watches it: the changes that have become durable, by verb."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.ports.store import Writer
from memserver.domain.scope import Scope
from memserver.storage.sql.writing import SqlWriter

T = TypeVar("T")


class NotingWriter(SqlWriter):
    """Notes why each change of its transaction was made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.verbs: list[Verb] = []

    def apply(self, draft: Draft) -> Change:
        return self._noted(super().apply(draft))

    def undo(self, scope: Scope, change_id: UUID, reason: str) -> Change:
        return self._noted(super().undo(scope, change_id, reason))

    def _noted(self, change: Change) -> Change:
        self.verbs.append(change.verb)
        return change


class Tally:
    """Safe for use by many threads. Counts nothing of what was rolled back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._written: Counter[Verb] = Counter()

    def written(self) -> Mapping[Verb, int]:
        with self._lock:
            return {verb: self._written[verb] for verb in Verb}

    def noting(self, work: Callable[[Writer], T], into: list[Verb]) -> Callable[[Writer], T]:
        """`work`, which leaves the verbs of its changes in `into`; only those of its last run,
        where it had to be run again."""

        def noted(tx: Writer) -> T:
            assert isinstance(tx, NotingWriter)
            result = work(tx)
            into[:] = tx.verbs
            return result

        return noted

    def add(self, verbs: Sequence[Verb]) -> None:
        with self._lock:
            self._written.update(verbs)
