"""From requests for what was learnt to what the services are asked, and back."""

from collections.abc import Sequence
from dataclasses import asdict

from memserver.domain.trajectories import Step
from memserver.services.similar_cases import SimilarCase
from memserver.wire import learned as wire
from memserver_skills.guiding import Guidance, Milestone


def steps(sent: wire.GuideRequest) -> tuple[Step, ...]:
    return tuple(Step(one.observation, one.action, one.reward, one.metadata) for one in sent.steps)


def guidance(of: Guidance) -> wire.Guidance:
    return wire.Guidance(
        milestone=None if of.milestone is None else _milestone(of.milestone),
        done=[_milestone(one) for one in of.done],
        gap=list(of.gap),
        correction=of.correction,
    )


def _milestone(of: Milestone) -> wire.Milestone:
    return wire.Milestone(**asdict(of))


def similar_cases(of: Sequence[SimilarCase]) -> wire.SimilarCases:
    return wire.SimilarCases(cases=[_case(one) for one in of])


def _case(of: SimilarCase) -> wire.SimilarCase:
    item, version, body = of.entry.item, of.entry.version, of.body
    return wire.SimilarCase(
        id=item.id,
        version_id=version.id,
        namespace=item.namespace.path,
        title=version.title,
        goal=body.goal,
        steps=list(body.steps),
        operations=list(body.operations),
        notes=list(body.notes),
        solved=body.score >= SOLVED,
        outcome_score=body.score,
        semantic=of.score.semantic,
        structural=of.score.structural,
        score=of.score.score,
    )


SOLVED = 0.5
"""From this score on a task counts as solved, as feedback has it that does not say."""
