"""Gates: reasons for which a candidate is never offered, whatever its score."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memserver.domain.items import Status
from memserver.domain.times import TimeFrame
from memserver.services.retrieval.query import TRAJECTORY, Candidate
from memserver_skills.beliefs.gates import never_helps


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the gates go by: the time, the run that asks, and the runs that must stay out.
    `frame` takes the place of now where a question is about other times. `by_belief` says whether
    what failed too often elsewhere stays out: not where a retrieve explores, which is how it gets
    another chance, nor under a learned policy, which weighs the belief itself, nor in a question
    about other times."""

    now: datetime
    own_run: UUID | None
    excluded_runs: frozenset[UUID]
    by_belief: bool = True
    frame: TimeFrame | None = None


Refuses = Callable[[Candidate, Circumstances], bool]


def _inactive(candidate: Candidate, _: Circumstances) -> bool:
    return candidate.status != Status.ACTIVE


def _expired(candidate: Candidate, at: Circumstances) -> bool:
    """Whatever time a question is about: what was to be forgotten by now is."""
    return candidate.expires_at is not None and candidate.expires_at <= at.now


def _out_of_time(candidate: Candidate, at: Circumstances) -> bool:
    if at.frame is not None:
        return not at.frame.admits(candidate)
    over = candidate.valid_to is not None and candidate.valid_to <= at.now
    return over or candidate.valid_from > at.now


def _of_own_run(candidate: Candidate, at: Circumstances) -> bool:
    return at.own_run is not None and _stems_only_from(candidate, frozenset({at.own_run}))


def _of_excluded_task(candidate: Candidate, at: Circumstances) -> bool:
    return _stems_only_from(candidate, at.excluded_runs)


def _never_helps(candidate: Candidate, at: Circumstances) -> bool:
    """By the type of task at hand once enough is known of that, by all together before."""
    belief = candidate.here or candidate.belief
    return at.by_belief and never_helps(belief.outcomes, belief.lower_bound)


def _stems_only_from(candidate: Candidate, runs: frozenset[UUID]) -> bool:
    if candidate.kind == TRAJECTORY:
        return candidate.id in runs
    sources = {source.trajectory_id for source in candidate.sources}
    return bool(sources) and sources <= runs


GATES: dict[str, Refuses] = {
    "inactive": _inactive,
    "expired": _expired,
    "out_of_time": _out_of_time,
    "own_run": _of_own_run,
    "excluded_task": _of_excluded_task,
    "lower_bound": _never_helps,
}


def refusal(candidate: Candidate, at: Circumstances) -> str | None:
    """The name of the first gate that refuses the candidate, None where all admit it."""
    return next((name for name, refuses in GATES.items() if refuses(candidate, at)), None)
