"""How runs turn out under the policies that serve: the canary's test, and the guardrail that takes
a policy back by itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memserver.domain.policies import Policy, PolicyState, ScoredRun
from memserver.domain.policy.interval import Interval
from memserver.domain.policy.sequential import MIN_PER_ARM, against, difference
from memserver.domain.ports import Reader
from memserver.services.policies.serving import in_canary

MOST_RUNS = 5_000
BASELINE_RUNS = 500
CONFIDENCE = 0.95


class Verdict(StrEnum):
    UNDECIDED = "undecided"
    BETTER = "better"
    WORSE = "worse"


@dataclass(frozen=True, slots=True)
class Trial:
    """A policy's runs against those it is compared with: the runs beside it for a canary, those
    before it for an active policy. A run belongs to a canary by its assignment, so that one that
    the policy failed to serve counts as its own. `difference` is an interval that holds however
    often it is looked at, for the first MOST_RUNS runs; past these it is over the newest of them,
    and errs a little more often than it says. None where there are too few runs."""

    policy: Policy
    runs: int
    mean: float | None
    compared_runs: int
    compared_mean: float | None
    difference: Interval | None
    verdict: Verdict

    @property
    def told(self) -> str:
        """One sentence for people."""
        if self.difference is None:
            return (
                f"undecided: {self.runs} runs with an outcome against {self.compared_runs}, "
                f"and {MIN_PER_ARM} of each are needed"
            )
        return (
            f"{self.verdict}: {self.mean:.3f} over {self.runs} runs against "
            f"{self.compared_mean:.3f} over {self.compared_runs}, difference "
            f"{self.difference.estimate:+.3f} "
            f"[{self.difference.low:+.3f}, {self.difference.high:+.3f}]"
        )


def trial(reader: Reader, policy: Policy) -> Trial:
    """The standing of a canary or an active policy, from the runs since it came into its
    state."""
    runs = reader.scored_runs(policy.namespace, since=policy.since, limit=MOST_RUNS)
    if policy.state is PolicyState.CANARY:
        own = _scores(run for run in runs if in_canary(policy, run.unit))
        others = _scores(run for run in runs if not in_canary(policy, run.unit))
        share = policy.share
        found = difference(own, others, share=share, confidence=CONFIDENCE) if share < 1 else None
    else:
        own = _scores(_unexplored(runs, policy.name))
        others = list(policy.baseline)
        found = against(own, others, confidence=CONFIDENCE)
    return Trial(
        policy=policy,
        runs=len(own),
        mean=_mean(own),
        compared_runs=len(others),
        compared_mean=_mean(others),
        difference=found,
        verdict=_verdict(found),
    )


def can_fail(policy: Policy) -> bool:
    """Whether outcomes could ever show it to do worse. An active policy that has nothing to be
    compared with, such as one that came back, need not be looked at."""
    if policy.state is PolicyState.ACTIVE:
        return len(policy.baseline) >= MIN_PER_ARM
    return policy.state is PolicyState.CANARY


def scores_under(reader: Reader, policy: Policy, name: str, since: datetime) -> tuple[float, ...]:
    """The newest scores of runs that the policy called `name` served in this namespace."""
    runs = reader.scored_runs(policy.namespace, since=since, limit=MOST_RUNS)
    return tuple(_scores(_unexplored(runs, name))[-BASELINE_RUNS:])


def _unexplored(runs: Iterable[ScoredRun], name: str) -> Iterable[ScoredRun]:
    """Exploring costs success, and how much of it there is changes: an active policy is compared
    with what came before by the runs of either that left nothing to chance."""
    return (run for run in runs if run.policy == name and not run.explored)


def _verdict(found: Interval | None) -> Verdict:
    if found is None or found.low <= 0 <= found.high:
        return Verdict.UNDECIDED
    return Verdict.BETTER if found.low > 0 else Verdict.WORSE


def _scores(runs: Iterable[ScoredRun]) -> list[float]:
    return [run.score for run in runs]


def _mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None
