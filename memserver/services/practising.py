"""Practice before tasks: goals are proposed, the caller's agent tries them, and what can be
believed of its runs enters memory. What is rejected is known to the proposer alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid5

from memserver.domain.changes import Change
from memserver.domain.errors import PracticeGoalNotFound, WrongState
from memserver.domain.items import Form, Kind, SkillBody
from memserver.domain.ports import (
    Clock,
    Page,
    PageRequest,
    PracticeFilter,
    Reader,
    Store,
    TrajectoryFilter,
    Writer,
)
from memserver.domain.practice import PracticeGoal, PracticeState
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Trajectory, as_sent
from memserver.services.frozen import require_thawed
from memserver.services.paging import every
from memserver.services.rated import rated_items
from memserver.services.trajectories import Trajectories
from memserver_skills.practice.proposing import Exercise, propose
from memserver_skills.practice.space import said
from memserver_skills.practice.validating import Expectation, Verdict, validate

MARK = "practice"
"""Under this key the metadata of a run that was let in has the goal that it was practice for."""
VERIFYING = frozenset({Form.MILESTONES.value, Form.WORKFLOW.value})


@dataclass(frozen=True, slots=True)
class Judged:
    """A run as it is to be stored, what the validator says of it, and the hash of what would be
    left of it in the store."""

    run: Trajectory
    sent_hash: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Decided:
    """The goal as it now stands; `change` is None where the run did not enter memory, or had done
    so before (`existing`)."""

    goal: PracticeGoal
    change: Change | None = None
    existing: bool = False
    credited: int = 0


class Practising:
    def __init__(self, store: Store, trajectories: Trajectories, *, clock: Clock) -> None:
        self._store = store
        self._trajectories = trajectories
        self._clock = clock

    # --- proposing

    def exercises(
        self, scope: Scope, namespace: Namespace, *, k: int, seed: int
    ) -> tuple[Exercise, ...]:
        """The best `k` goals that nobody has set yet, by the namespace's runs and what was proposed
        there before. Nothing is stored."""
        where = PracticeFilter((namespace.id,))
        with self._store.reading() as reader:
            memory = list(every(lambda page: reader.practice_goals(scope, where, page)))
            return propose(_runs(reader, scope, namespace), memory, k=k, seed=seed)

    def keep(
        self, tx: Writer, namespace: Namespace, exercises: Sequence[Exercise]
    ) -> tuple[PracticeGoal, ...]:
        """Remembers that they were proposed. One that somebody else was given meanwhile is left
        out."""
        now = self._clock()
        return tx.add_practice_goals(
            [
                PracticeGoal(
                    id=_goal_id(namespace, one),
                    namespace=namespace,
                    task=one.task,
                    template=one.template,
                    values=one.values,
                    why=one.why,
                    # In the order in which they are worth trying.
                    created_at=now + timedelta(microseconds=place),
                )
                for place, one in enumerate(exercises)
            ]
        )

    def list(self, scope: Scope, where: PracticeFilter, page: PageRequest) -> Page[PracticeGoal]:
        with self._store.reading() as reader:
            return reader.practice_goals(scope, where, page)

    # --- validating

    def judge(self, scope: Scope, namespace: Namespace, goal_id: UUID, run: Trajectory) -> Judged:
        """Raises `PracticeGoalNotFound`, `LibraryFrozen`. Nothing is stored."""
        with self._store.reading() as reader:
            goal = _goal(reader, scope, namespace, goal_id)
            require_thawed(reader, namespace)
            marked = as_sent(replace(run, metadata={**run.metadata, MARK: str(goal_id)}))
            kept = as_sent(reader.protected([namespace], marked))
            if goal.state is not PracticeState.PROPOSED:
                return Judged(marked, kept.sent_hash, Verdict(goal.refusal, goal.reason))
            verdict = validate(
                goal,
                kept,
                others=_runs(reader, scope, namespace),
                expectations=_expectations(reader, scope, namespace),
            )
        return Judged(marked, kept.sent_hash, verdict)

    def decide(
        self, tx: Writer, scope: Scope, namespace: Namespace, goal_id: UUID, judged: Judged
    ) -> Decided:
        """Lets the run into memory, or remembers why not; each goal is decided once. Raises
        `PracticeGoalNotFound`, `LibraryFrozen`, `WrongState` where another run has decided it, and
        `IdConflict` where the run's id is another run's."""
        goal = _goal(tx, scope, namespace, goal_id)
        require_thawed(tx, namespace)
        run, verdict = judged.run, judged.verdict
        if goal.state is not PracticeState.PROPOSED:
            if goal.sent_hash != judged.sent_hash:
                raise WrongState("practice goal", goal_id, goal.state.value, "decided again")
            return Decided(goal, existing=True)
        decided = replace(
            goal,
            state=PracticeState.ACCEPTED if verdict.passes else PracticeState.REJECTED,
            refusal=verdict.refusal,
            reason=verdict.reason,
            decided_at=self._clock(),
            trajectory=run.id,
            sent_hash=judged.sent_hash,
        )
        if not verdict.passes:
            return Decided(tx.put_practice_goal(decided))
        stored = self._trajectories.add(tx, scope, [run])
        return Decided(tx.put_practice_goal(decided), stored.change, credited=stored.credited)


def _goal(reader: Reader, scope: Scope, namespace: Namespace, goal_id: UUID) -> PracticeGoal:
    goal = reader.practice_goal(scope, goal_id)
    if goal is None or goal.namespace != namespace:
        raise PracticeGoalNotFound(goal_id)
    return goal


def _runs(reader: Reader, scope: Scope, namespace: Namespace) -> list[Trajectory]:
    where = TrajectoryFilter(namespaces=(namespace.id,))
    return list(every(lambda page: reader.trajectories(scope, where, page)))


def _expectations(reader: Reader, scope: Scope, namespace: Namespace) -> list[Expectation]:
    """What the skills in use say that runs pass on their way."""
    skills = rated_items(reader, scope, namespace, kinds=(Kind.SKILL,))
    versions = [one.entry.version for one in skills]
    return [
        Expectation(version.body, version.metadata)
        for version in versions
        if isinstance(version.body, SkillBody) and version.body.form in VERIFYING
    ]


def _goal_id(namespace: Namespace, one: Exercise) -> UUID:
    """The same goal has the same id, so that two who ask at once are not given it twice."""
    spoken = " ".join(said(one.task.goal))
    name = "\x1f".join(("practice", str(namespace.id), one.task.environment or "", spoken))
    return uuid5(namespace.tenant, name)
