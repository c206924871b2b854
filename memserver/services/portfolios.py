"""A portfolio of a namespace's skills, by the tasks that were solved with each."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from memserver.domain.items import Kind
from memserver.domain.ports import Reader, RunBrief, Store
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import normal_goal
from memserver.services.rated import rated_items
from memserver_skills.beliefs.utility import counting
from memserver_skills.evolution.admission import on_trial
from memserver_skills.portfolios.covering import Member, Portfolio, portfolio
from memserver_skills.portfolios.matching import Known, Matched, Tried, match

SOLVED = 0.5


@dataclass(frozen=True, slots=True)
class Assembled:
    """`solved` is how many tasks were solved with any proven skill; `matched` the members for a
    goal, the best first, where one was given."""

    portfolio: Portfolio
    titles: Mapping[UUID, str]
    goals: Mapping[str, str]
    solved: int
    matched: tuple[Matched, ...]


class Portfolios:
    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(
        self,
        scope: Scope,
        namespace: Namespace,
        *,
        k: int,
        goal: str | None = None,
        cost_weight: float = 0.0,
    ) -> Assembled:
        """At most `k` skills in use that are proven; what is on trial is no member."""
        with self._store.reading() as reader:
            admission = reader.namespace_settings(namespace).admission
            skills = [
                one
                for one in rated_items(reader, scope, namespace, kinds=(Kind.SKILL,))
                if not on_trial(one.entry.version, one.belief, admission)
            ]
            found = _Tasks(reader, scope)
            for one in skills:
                sources = [source.trajectory_id for source in one.entry.version.sources]
                found.drawn_from(one.item, sources)
            evidence = reader.lineage_evidence(scope, [one.version for one in skills])
            for one in skills:
                for piece in counting(evidence.get(one.version, ())):
                    if piece.cause is not None:
                        found.credited(one.item, piece.cause, piece.value)
            known = {one.skill: one for one in found.known()}
        members = [
            Member(
                one.skill,
                frozenset(tried.task for tried in one.tried if tried.value >= SOLVED),
                one.cost,
            )
            for one in known.values()
        ]
        chosen = portfolio(members, k=k)
        matched = (
            ()
            if goal is None
            else match(
                normal_goal(goal),
                [known[one.member.skill] for one in chosen.chosen],
                cost_weight=cost_weight,
            )
        )
        return Assembled(
            chosen,
            {one.item: one.entry.version.title for one in skills},
            found.goals,
            len({task for member in members for task in member.covers}),
            matched,
        )


class _Tasks:
    """What each skill was tried for. A run that it was drawn from counts as one that used it; where
    the run's credit is told, that counts instead."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope
        self._drawn: dict[UUID, list[UUID]] = {}
        self._values: dict[UUID, dict[UUID, float]] = defaultdict(dict)
        self.goals: dict[str, str] = {}

    def drawn_from(self, skill: UUID, runs: list[UUID]) -> None:
        self._drawn[skill] = runs

    def credited(self, skill: UUID, run: UUID, value: float) -> None:
        self._values[skill][run] = value

    def known(self) -> list[Known]:
        wanted = {run for runs in self._drawn.values() for run in runs}
        wanted |= {run for values in self._values.values() for run in values}
        runs = self._reader.runs_in_brief(self._scope, sorted(wanted))
        return [self._of(skill, runs) for skill in self._drawn]

    def _of(self, skill: UUID, runs: Mapping[UUID, RunBrief]) -> Known:
        values = dict(self._values.get(skill, {}))
        for run_id in self._drawn[skill]:
            run = runs.get(run_id)
            if run is not None and run.outcome is not None:
                values.setdefault(run_id, run.outcome.score)
        by_task: dict[str, list[float]] = defaultdict(list)
        costs: list[float] = []
        for run_id, value in values.items():
            run = runs.get(run_id)
            if run is None:
                continue
            task = normal_goal(run.task.goal)
            self.goals.setdefault(task, run.task.goal)
            by_task[task].append(value)
            if run.outcome is not None and run.outcome.cost is not None:
                costs.append(run.outcome.cost)
        tried = tuple(Tried(task, sum(each) / len(each)) for task, each in sorted(by_task.items()))
        return Known(skill, tried, sum(costs) / len(costs) if costs else 0.0)
