"""The fake engine keeps the promises of the real one."""

import pytest

from memserver.domain.ports import Jobs
from tests.contract.jobs.contract import JobsContract, Workshop
from tests.fakes.jobs import InlineJobs


class TestInlineJobs(JobsContract):
    @pytest.fixture
    def jobs(self, workshop: Workshop) -> Jobs:
        return InlineJobs(workshop.service)
