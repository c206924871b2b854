"""The job engine behind the `Jobs` port, and the dispatcher that feeds it."""

from memserver.jobs.dbos_jobs import DbosJobs
from memserver.jobs.dispatcher import Dispatcher
from memserver.jobs.executor import executor_identity

__all__ = ["DbosJobs", "Dispatcher", "executor_identity"]
