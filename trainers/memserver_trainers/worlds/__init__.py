"""Small seeded worlds in which the truth is known, so that what learns can be held to it."""

from memserver_trainers.worlds.bandit import BanditWorld, measure_bandit
from memserver_trainers.worlds.case_log import log_cases
from memserver_trainers.worlds.case_trial import measure_cases
from memserver_trainers.worlds.case_world import Case, CaseWorld, Encode, Task
from memserver_trainers.worlds.exposure import ExposureWorld, measure_exposure
from memserver_trainers.worlds.measured import Measured

__all__ = [
    "BanditWorld",
    "Case",
    "CaseWorld",
    "Encode",
    "ExposureWorld",
    "Measured",
    "Task",
    "log_cases",
    "measure_bandit",
    "measure_cases",
    "measure_exposure",
]
