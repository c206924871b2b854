"""Between what is asked and said of a library of skills, and the values that services go by."""

from uuid import UUID

from memserver.services.valuing import ContextWorth, RunCredit, Worth
from memserver.wire import library as wire


def worth(found: Worth) -> wire.Worth:
    return wire.Worth(
        id=found.item,
        version_id=found.version,
        overall=_in_context(found.overall),
        contexts=[_in_context(one) for one in found.contexts],
        credits=[
            wire.DistilledCredit(trajectory_id=run, credit=credit)
            for run, credit in found.credits.items()
        ],
    )


def run_credit(run_id: UUID, found: RunCredit | None) -> wire.RunCredit:
    rankings = {} if found is None else found.rankings
    return wire.RunCredit(
        trajectory_id=run_id,
        distilled=None if found is None else found.distilled,
        rankings=[
            wire.RankingReward(retrieval_id=retrieve, reward=reward)
            for retrieve, reward in rankings.items()
        ],
    )


def _in_context(one: ContextWorth) -> wire.ContextWorth:
    belief = one.belief
    return wire.ContextWorth(
        context=belief.context,
        successes=belief.successes,
        failures=belief.failures,
        outcomes=belief.outcomes,
        mean=belief.mean,
        lower_bound=belief.lower_bound,
        utility=one.utility.value,
        offered=one.offered,
    )
