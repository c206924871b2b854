"""What the server does by itself, every now and then: it watches the policies that serve and takes
back one that does harm, it forgets decisions that have been kept long enough, and whatever else it
is given to look after."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from memserver.domain.policies import PolicyRole
from memserver.domain.ports import Clock, Store, Writer
from memserver.domain.scope import Namespace
from memserver.services.own_work import as_server
from memserver.services.policies.lifecycle import Lifecycle, Moved
from memserver.services.policies.watching import Trial, Verdict, can_fail, trial

logger = logging.getLogger(__name__)

FORGOTTEN_TOGETHER = 1_000
FORGETS_EVERY = timedelta(minutes=10)
"""Looking for decisions to forget counts all of them."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long decisions are kept, and how many a tenant."""

    days: int
    most: int


class Housekeeping:
    """One thread; `look` does everything once, what is handed in as `also` too. A part that fails
    is logged and tried again at the next look, and keeps no other from being done."""

    def __init__(
        self,
        store: Store,
        lifecycle: Lifecycle,
        keeping: Keeping,
        *,
        clock: Clock,
        every_s: float,
        also: Sequence[Callable[[], object]] = (),
    ) -> None:
        self._store = store
        self._lifecycle = lifecycle
        self._keeping = keeping
        self._clock = clock
        self._every_s = every_s
        self._also = tuple(also)
        self._guarded_at: int | None = None
        self._stopping = threading.Event()
        self._forget_at: datetime | None = None
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def look(self) -> None:
        parts: list[Callable[[], object]] = [self.guard, *self._also]
        if self._forget_at is None or self._clock() >= self._forget_at:
            self._forget_at = self._clock() + FORGETS_EVERY
            parts.append(self.forget)
        for part in parts:
            try:
                part()
            except Exception as error:
                logger.error("Housekeeping: %s failed: %s", part.__name__, type(error).__name__)

    def guard(self) -> list[Moved]:
        """Demotes what its outcomes show to do worse. What was demoted. A namespace that cannot
        be looked at keeps no other from it. Outcomes come by changes, so that without one since
        the last look there is nothing to see."""
        with self._store.reading() as reader:
            position = reader.head_position()
            if position == self._guarded_at:
                return []
            namespaces = reader.namespaces_with_policies()
        demoted: list[Moved] = []
        failures = 0
        for namespace in namespaces:
            try:
                demoted += self._guarded(namespace)
            except Exception as error:
                failures += 1
                logger.error("Housekeeping: a guard failed: %s", type(error).__name__)
        self._guarded_at = None if failures else position
        return demoted

    def _guarded(self, namespace: Namespace) -> list[Moved]:
        with self._store.reading() as reader:
            trials = [
                trial(reader, policy)
                for policy in reader.serving(namespace, PolicyRole.RETRIEVE).policies
                if can_fail(policy)
            ]
        demoted = []
        for failed in trials:
            if failed.verdict is not Verdict.WORSE:
                continue
            moved = self._store.write(partial(self._demote, failed))
            if moved is not None:
                logger.warning("The policy %s was demoted: %s", moved.policy.id, failed.told)
                demoted.append(moved)
        return demoted

    def forget(self) -> int:
        """Forgets old decisions, some at a time, so that no write waits long. How many."""
        before = self._clock() - timedelta(days=self._keeping.days)
        gone = 0
        while not self._stopping.is_set():
            some = self._store.write(
                lambda tx: tx.prune_decisions(
                    before=before, most=self._keeping.most, limit=FORGOTTEN_TOGETHER
                )
            )
            gone += some
            if some < FORGOTTEN_TOGETHER:
                break
        return gone

    def _demote(self, failed: Trial, tx: Writer) -> Moved | None:
        return self._lifecycle.demote(tx, as_server(failed.policy.namespace), failed)

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            self.look()
