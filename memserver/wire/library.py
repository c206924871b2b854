"""What is asked of a library of skills as a whole, and what it says of its parts."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from memserver.wire.base import Model, NamespacePath, ShortText

AgentName = Annotated[str, StringConstraints(min_length=1, max_length=500)]
CostWeight = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class ContextWorth(Model):
    """What is believed in one context (the empty one where tasks named no type). `mean` is
    (successes + 1) / (outcomes' weight + 2), `utility` moves a twentieth of the way with each
    outcome, and `offered` says whether the lower bound lets the item be offered there."""

    context: str
    successes: float
    failures: float
    outcomes: int
    mean: float
    lower_bound: float
    utility: float
    offered: bool


class DistilledCredit(Model):
    """Of a run that the item was made from: its score less the utility of the best that the run
    was offered."""

    trajectory_id: UUID
    credit: float


class Worth(Model):
    """What an item's present version is worth, with all that was merged into it. On trial it is
    offered and not yet counted as proven; what `awaits` something is not offered until then."""

    id: UUID
    version_id: UUID
    overall: ContextWorth
    contexts: list[ContextWorth]
    on_trial: bool
    awaits: str | None
    credits: list[DistilledCredit]


class RankingReward(Model):
    """How well the order of a retrieve agrees with the utilities that were known then: 1 where no
    order does so better."""

    retrieval_id: UUID
    reward: float


class RunCredit(Model):
    """What a run's outcome says of what is distilled from it, and of what it was offered. Null
    where nobody has said yet how it went."""

    trajectory_id: UUID
    distilled: float | None
    rankings: list[RankingReward]


class RouteRequest(Model):
    """Which agent is to have a task: give its `goal`, or the `skills` that it needs. `agents` are
    those to choose from, all that are known where none is named; `cost_weight` is how much a unit
    of cost takes from the score."""

    namespace: NamespacePath
    goal: Annotated[str, StringConstraints(min_length=1, max_length=20_000)] | None = None
    skills: Annotated[list[UUID], Field(min_length=1, max_length=100)] | None = None
    agents: Annotated[list[AgentName], Field(min_length=1, max_length=100)] | None = None
    cost_weight: CostWeight = 0.0
    task_type: ShortText | None = None

    @model_validator(mode="after")
    def names_a_goal_or_skills(self) -> "RouteRequest":
        if (self.goal is None) == (self.skills is None):
            raise ValueError("give either goal or skills")
        return self


class SkillCompetence(Model):
    """How good an agent is expected to be at one skill. `outcomes` are its own, which weigh
    against a `prior` taken from what `prior_from` says."""

    skill: UUID
    title: str
    weight: float
    competence: float
    outcomes: int
    prior: float
    prior_from: str
    cost: float


class AgentScore(Model):
    """`score` is competence − cost_weight · cost."""

    agent: str
    score: float
    competence: float
    cost: float
    skills: list[SkillCompetence]


class Route(Model):
    """The agent to give the task to, and all of them, the best first, with why."""

    agent: str
    agents: list[AgentScore]
    retrieval_id: UUID | None


class Evolve(Model):
    """Change a namespace's library by what came of it. Without `apply` the operation's report is a
    plan to read. `cap` is how many items the library may hold."""

    namespace: NamespacePath
    apply: bool = False
    cap: Annotated[int, Field(ge=1, le=1_000_000)] = 5_000


class Window(Model):
    """So many runs on end: how many items changed with or after them, and how many there were then.
    `share` is the part of the library that changed for each run."""

    runs: int
    changed: int
    library: int
    share: float


class Convergence(Model):
    """How fast a namespace's library changes; `share` is that of the newest window, null where
    there is no run."""

    namespace: str
    share: float | None
    windows: list[Window]


class PortfolioRequest(Model):
    """At most `k` skills that together solved most tasks; with a `goal`, also which of them it is
    for, a unit of cost taking `cost_weight` off what is expected."""

    namespace: NamespacePath
    k: Annotated[int, Field(ge=1, le=1_000)] = 5
    goal: Annotated[str, StringConstraints(min_length=1, max_length=20_000)] | None = None
    cost_weight: CostWeight = 0.0


class PortfolioMember(Model):
    """A chosen skill, the goals that were solved with it, and how many of them no member before it
    covers. `cost` is the mean of what runs with it cost."""

    skill: UUID
    title: str
    covers: list[str]
    adds: int
    cost: float


class PortfolioMatch(Model):
    """What a member is expected to come to with the goal; `score` is that less its weighed cost."""

    skill: UUID
    predicted: float
    cost: float
    score: float


class Portfolio(Model):
    """`covered` of the `solved` tasks are covered by the members. `dominated` are skills of which
    another one covers all for no more. `matches` are the members for the goal, best first."""

    members: list[PortfolioMember]
    covered: int
    solved: int
    dominated: list[UUID]
    matches: list[PortfolioMatch]
