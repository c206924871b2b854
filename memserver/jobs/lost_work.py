"""Which workflows DBOS takes for alive although nobody works on them: after an upgrade, a lost
executor id or a failed recovery they would stay "pending" for ever."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from dbos import DBOS, WorkflowStatus

HANDED_OVER = timedelta(seconds=30)
"""How long DBOS may take to hand a workflow to this process before it is taken for lost."""


class LostWork:
    """Judges workflows that have not ended. Being wrong is harmless, merely slow: two workflows
    of one operation do each of its steps once."""

    def __init__(
        self,
        *,
        executor_id: str,
        application_version: str,
        abandoned_after: timedelta,
        now: Callable[[], float],
    ) -> None:
        self._executor_id = executor_id
        self._application_version = application_version
        self._abandoned_after = abandoned_after
        self._now = now
        self._lock = threading.Lock()
        self._running: set[str] = set()

    @contextmanager
    def running(self, workflow_id: str | None) -> Iterator[None]:
        """Says that this process works on the workflow."""
        name = workflow_id or ""
        with self._lock:
            self._running.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(name)

    def is_lost(self, status: WorkflowStatus) -> bool:
        waiting = status.status != "PENDING"
        if status.app_version != self._application_version:
            return self._idle(status) >= self._abandoned_after
        if waiting:
            return False
        if status.executor_id != self._executor_id:
            return self._idle(status) >= self._abandoned_after
        with self._lock:
            here = status.workflow_id in self._running
        return not here and self._idle(status) >= HANDED_OVER

    def _idle(self, status: WorkflowStatus) -> timedelta:
        """Time since DBOS last recorded anything about the workflow."""
        seen = [status.updated_at or 0]
        for step in DBOS.list_workflow_steps(status.workflow_id, load_output=False):
            seen.append(step["completed_at_epoch_ms"] or 0)
        return timedelta(seconds=self._now() - max(seen) / 1000)
