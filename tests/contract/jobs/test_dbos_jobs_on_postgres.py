"""The DBOS engine with its tables in PostgreSQL keeps the same promises."""

from collections.abc import Iterator

import pytest

from memserver.jobs import DbosJobs
from tests.contract.jobs.contract import JobsContract, Workshop
from tests.contract.store.conftest import fresh_database, postgres

__all__ = ["postgres"]


@pytest.fixture(scope="module")
def url(postgres: str) -> str:
    return fresh_database(postgres)


class TestDbosJobsOnPostgres(JobsContract):
    @pytest.fixture
    def jobs(self, workshop: Workshop, url: str) -> Iterator[DbosJobs]:
        jobs = DbosJobs(
            workshop.service, database_url=url, executor_id="the-worker", polling_interval=0.05
        )
        jobs.start()
        yield jobs
        jobs.stop()
