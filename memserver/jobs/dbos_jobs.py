"""The `Jobs` port on DBOS: durable workflows that a restart resumes. DBOS knows only ids; what an
operation does, and what became of it, stays in our own rows."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import UTC, datetime, timedelta
from uuid import UUID

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, WorkflowStatus

from memserver.domain.errors import OperationAbandoned
from memserver.domain.ports import Work
from memserver.jobs.lost_work import LostWork

logger = logging.getLogger(__name__)

QUEUE = "memserver-operations"
WORKFLOW = "memserver-operation"
WORKFLOW_VERSION = "1"
"""Raised only when the workflow below changes its shape. DBOS resumes only workflows of its own
version, so by default it would leave work behind whenever a comment changed."""

STARTS_AT_MOST = 50
"""Starts of one attempt, after which its work is taken for what stops the server."""

KEPT = timedelta(days=7)
"""How long DBOS keeps what has ended; our own rows keep it for good."""

ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

_only_one = threading.Lock()
"""DBOS is one per process: a second one would silently run its work in the first one's context."""


class _Stopped(BaseException):
    """Leaves a workflow without an outcome, so that DBOS resumes it at the next start. DBOS
    records an outcome for every `Exception`, hence the base class."""


class DbosJobs:
    """Drives `work` on at most `workers` threads of this process.

    `database_url` is where DBOS keeps its own tables (SQLite or PostgreSQL). `executor_id` must
    be this worker's own and outlive a restart (`executor_identity`). A workflow of another
    worker that shows no sign of life for `abandoned_after` is taken over; by default that is 15
    minutes, and no time at all on SQLite, where there can be no other worker.
    """

    def __init__(
        self,
        work: Work,
        *,
        database_url: str,
        executor_id: str,
        application_version: str = WORKFLOW_VERSION,
        workers: int = 2,
        polling_interval: float = 0.2,
        abandoned_after: timedelta | None = None,
        stop_timeout: float = 5.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        if abandoned_after is None:
            single = database_url.startswith("sqlite")
            abandoned_after = timedelta(0) if single else timedelta(minutes=15)
        self._work = work
        self._config = DBOSConfig(
            name="memserver",
            system_database_url=database_url,
            executor_id=executor_id,
            application_version=application_version,
            serializer=DBOSPortableJSONSerializer(),
            notification_listener_polling_interval_sec=polling_interval,
            enable_otlp=False,
            log_level="WARNING",
        )
        self._lost = LostWork(
            executor_id=executor_id,
            application_version=application_version,
            abandoned_after=abandoned_after,
            now=now,
        )
        self._workers = workers
        self._polling_interval = polling_interval
        self._stop_timeout = stop_timeout
        self._now = now
        self._workflow: Callable[[str, int], None] | None = None
        self._stopping = threading.Event()
        self._given_up: Future[None] = Future()
        self._steps: set[Future[None]] = set()

    def start(self) -> None:
        if not _only_one.acquire(blocking=False):
            raise RuntimeError("another DbosJobs runs in this process")
        self._stopping.clear()
        self._given_up = Future()
        # A handler of our own keeps DBOS from adding one that prints to the console.
        if not (quiet := logging.getLogger("dbos")).handlers:
            quiet.addHandler(logging.NullHandler())

        def workflow(operation_id: str, attempt: int) -> None:
            self._run(operation_id, attempt)

        try:
            DBOS(config=self._config)
            self._workflow = DBOS.workflow(name=WORKFLOW, max_recovery_attempts=STARTS_AT_MOST)(
                workflow
            )
            DBOS.launch()
            DBOS.register_queue(
                QUEUE,
                worker_concurrency=self._workers,
                polling_interval_sec=self._polling_interval,
                on_conflict="always_update",
            )
            self._forget_what_ended_long_ago()
        except BaseException:
            self._destroy()
            raise

    def stop(self) -> None:
        """Starts no further step and lets those that run finish for `stop_timeout` seconds. What
        has not finished by then is left to the next start: its thread dies with the process."""
        if self._workflow is None:
            return
        self._stopping.set()
        wait(tuple(self._steps), timeout=self._stop_timeout)
        self._given_up.set_result(None)
        self._destroy()

    def submit(self, operation_id: UUID, attempt: int) -> None:
        """Enqueues the attempt, unless DBOS has it. An attempt that DBOS has lost, or has ended
        without our row having ended, goes on under the next name."""
        workflow = self._workflow
        if workflow is None:
            raise RuntimeError("DbosJobs was not started")
        name, generation = f"{operation_id}:{attempt}", 0
        while (status := DBOS.get_workflow_status(name)) is not None:
            if status.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
                self._work.fail(operation_id, OperationAbandoned(operation_id, STARTS_AT_MOST))
                return
            if status.status not in ENDED and not self._lost.is_lost(status):
                return
            generation += 1
            name = f"{operation_id}:{attempt}:{generation}"
        with SetWorkflowID(name):
            DBOS.enqueue_workflow(QUEUE, workflow, str(operation_id), attempt)

    # --- inside a workflow ----------------------------------------------------------------

    def _run(self, operation_id: str, attempt: int) -> None:
        """The workflow. `begin` is no recorded step: whether the operation has ended must be
        asked anew when a workflow is resumed."""
        identity = UUID(operation_id)
        with self._lost.running(DBOS.workflow_id):
            steps: list[str] = []
            if not self._safely(
                identity, lambda: steps.extend(self._work.begin(identity, attempt))
            ):
                return
            for name in steps:
                if not DBOS.run_step({"name": name}, self._step, operation_id, name):
                    return
            if steps:
                self._safely(identity, lambda: self._work.succeed(identity))

    def _step(self, operation_id: str, name: str) -> bool:
        identity = UUID(operation_id)
        return self._safely(identity, lambda: self._work.step(identity, name))

    def _safely(self, operation_id: UUID, call: Callable[[], None]) -> bool:
        """Whether `call` succeeded. A failure is recorded in our row and goes no further, so that
        DBOS stores and logs no message that may quote what users stored."""
        if self._stopping.is_set():
            raise _Stopped
        try:
            self._aside(call)
        except Exception as error:
            if self._stopping.is_set():
                # Perhaps it failed because its surroundings are being closed.
                raise _Stopped from None
            try:
                self._work.fail(operation_id, error)
            except Exception as failure:
                raise RuntimeError(
                    f"recording a failure failed with {type(failure).__name__}"
                ) from None
            return False
        return True

    def _aside(self, call: Callable[[], None]) -> None:
        """Runs `call` in a thread that does not keep the process from ending."""
        done: Future[None] = Future()

        def run() -> None:
            try:
                call()
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

        self._steps.add(done)
        try:
            threading.Thread(target=run, name="operation-step", daemon=True).start()
            wait((done, self._given_up), return_when=FIRST_COMPLETED)
            if not done.done():
                raise _Stopped
            done.result()
        finally:
            self._steps.discard(done)

    # --- around it ------------------------------------------------------------------------

    def _forget_what_ended_long_ago(self) -> None:
        before = datetime.fromtimestamp(self._now(), UTC) - KEPT
        while True:
            old: list[WorkflowStatus] = DBOS.list_workflows(
                status=list(ENDED),
                completed_before=before.isoformat(),
                limit=500,
                load_input=False,
                load_output=False,
            )
            if not old:
                return
            DBOS.delete_workflows([status.workflow_id for status in old])

    def _destroy(self) -> None:
        self._workflow = None
        try:
            DBOS.destroy(destroy_registry=True)
        finally:
            _only_one.release()
