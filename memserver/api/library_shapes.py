"""Between what is asked and said of a library of skills, and the values that services go by."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from memserver.services.portfolios import Assembled
from memserver.services.routing import Routed
from memserver.services.valuing import ContextWorth, RunCredit, Worth
from memserver.wire import library as wire
from memserver_skills.evolution.convergence import Window
from memserver_skills.routing.choosing import Scored


def worth(found: Worth) -> wire.Worth:
    return wire.Worth(
        id=found.item,
        version_id=found.version,
        overall=_in_context(found.overall),
        contexts=[_in_context(one) for one in found.contexts],
        on_trial=found.on_trial,
        awaits=found.awaits,
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


def route(found: Routed) -> wire.Route:
    return wire.Route(
        agent=found.scored[0].agent,
        agents=[_agent(one, found.titles) for one in found.scored],
        retrieval_id=found.retrieval_id,
    )


def convergence(namespace: str, windows: Sequence[Window]) -> wire.Convergence:
    return wire.Convergence(
        namespace=namespace,
        share=windows[-1].share if windows else None,
        windows=[
            wire.Window(runs=one.runs, changed=one.changed, library=one.library, share=one.share)
            for one in windows
        ],
    )


def portfolio(found: Assembled) -> wire.Portfolio:
    chosen = found.portfolio.chosen
    return wire.Portfolio(
        members=[
            wire.PortfolioMember(
                skill=one.member.skill,
                title=found.titles[one.member.skill],
                covers=sorted(found.goals[task] for task in one.member.covers),
                adds=len(one.adds),
                cost=one.member.cost,
            )
            for one in chosen
        ],
        covered=len(found.portfolio.covers),
        solved=found.solved,
        dominated=list(found.portfolio.dominated),
        matches=[
            wire.PortfolioMatch(
                skill=one.skill, predicted=one.predicted, cost=one.cost, score=one.score
            )
            for one in found.matched
        ],
    )


def _agent(scored: Scored, titles: Mapping[UUID, str]) -> wire.AgentScore:
    return wire.AgentScore(
        agent=scored.agent,
        score=scored.score,
        competence=scored.competence,
        cost=scored.cost,
        skills=[
            wire.SkillCompetence(
                skill=part.skill,
                title=titles.get(part.skill, ""),
                weight=part.weight,
                competence=part.competence.mean,
                outcomes=part.competence.outcomes,
                prior=part.competence.prior,
                prior_from=part.competence.from_,
                cost=part.competence.cost,
            )
            for part in scored.parts
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
