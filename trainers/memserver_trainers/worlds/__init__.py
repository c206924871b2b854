"""Small seeded worlds in which the truth is known, so that what learns can be held to it."""

from memserver_trainers.worlds.case_log import log_cases
from memserver_trainers.worlds.case_world import Case, CaseWorld, Encode, Task

__all__ = ["Case", "CaseWorld", "Encode", "Task", "log_cases"]
