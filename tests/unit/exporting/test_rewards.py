"""What came of a decision, by the services that record it: runs, feedback, and who asked."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from memserver.domain.decisions import Considered, Decision
from memserver.domain.items import Entry
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Outcome, OutcomeSource, Task, Trajectory
from memserver.services.access import Access
from memserver.services.exporting.rewards import Rewarded, rewards_of
from memserver.services.exporting.splits import group_of, group_of_goal
from memserver.services.trajectories import Trajectories
from tests.contract.store.world import World, ref, rows_of


class Loop:
    """Retrieves, runs and feedback in one namespace, without an index."""

    def __init__(self, world: World) -> None:
        self.world = world
        access = Access(world.store, clock=world.clock, new_id=uuid4)
        self.trajectories = Trajectories(world.store, access, clock=world.clock, new_id=uuid4)
        self.namespace = world.namespace()

    def entries(self, number: int) -> list[Entry]:
        made = [self.world.entry(self.namespace, f"note {uuid4()}") for _ in range(number)]
        self.world.apply(*rows_of(*made))
        return made

    def retrieved(
        self,
        *packed: Entry,
        run: UUID | None = None,
        by: UUID | None = None,
        seen: tuple[Entry, ...] = (),
    ) -> Decision:
        candidates = (
            *(Considered(entry.version.id, (0.5,), n, True) for n, entry in enumerate(packed, 1)),
            *(Considered(entry.version.id, (0.5,), None, False) for entry in seen),
        )
        made = replace(
            self.world.decision(self.namespace, trajectory_id=run, candidates=candidates),
            asked_by=by or self.world.actor,
        )
        self.world.store.write(lambda tx: tx.add_decision(made))
        return made

    def ran(
        self, run_id: UUID, outcome: Outcome | None, used: tuple[Entry, ...] | None = None
    ) -> Trajectory:
        run = replace(
            self.world.run(self.namespace),
            id=run_id,
            outcome=outcome,
            used=None if used is None else tuple(entry.version.id for entry in used),
        )
        self.world.store.write(lambda tx: self.trajectories.add(tx, self.world.scope(), [run]))
        return run

    def told(
        self,
        score: float,
        source: OutcomeSource,
        *,
        run: UUID | None = None,
        retrieval: Decision | None = None,
        used: tuple[Entry, ...] | None = None,
    ) -> None:
        named = None if used is None else tuple(entry.version.id for entry in used)
        self.world.store.write(
            lambda tx: self.trajectories.feedback(
                tx,
                self.world.scope(),
                Outcome(score, score >= 0.5, source),
                trajectory_id=run,
                retrieval_id=None if retrieval is None else retrieval.id,
                used=named,
            )
        )

    def came_of(self, decision: Decision, scope: Scope | None = None) -> Rewarded:
        with self.world.store.reading() as reader:
            return rewards_of(reader, scope or self.world.scope(), [decision])[decision.id]


@pytest.fixture
def loop(world: World) -> Loop:
    return Loop(world)


ENVIRONMENT, JUDGE = OutcomeSource.ENVIRONMENT, OutcomeSource.JUDGE
HUMAN, AGENT = OutcomeSource.HUMAN, OutcomeSource.AGENT


def test_where_nothing_is_known_there_is_no_reward(loop: Loop) -> None:
    decision = loop.retrieved(*loop.entries(2))
    assert loop.came_of(decision) == Rewarded({}, {}, group_of_goal(decision.query))


def test_a_run_rewards_its_retrieves_and_shares_the_credit_among_what_was_packed(
    loop: Loop,
) -> None:
    one, two, unpacked = loop.entries(3)
    decision = loop.retrieved(one, two, run=(run := uuid4()), seen=(unpacked,))
    loop.ran(run, Outcome(0.75, True))
    came = loop.came_of(decision)
    assert came.rewards == {"outcome": 0.75, "environment": 0.75}
    assert came.credits == {one.version.id: 0.5, two.version.id: 0.5}


def test_what_is_named_as_used_has_the_whole_credit(loop: Loop) -> None:
    one, two = loop.entries(2)
    decision = loop.retrieved(one, two, run=(run := uuid4()))
    loop.ran(run, Outcome(1.0, True), used=(two,))
    assert loop.came_of(decision).credits == {two.version.id: 1.0}


def test_a_retrieve_that_packed_nothing_has_the_outcome_of_its_run(loop: Loop) -> None:
    decision = loop.retrieved(run=(run := uuid4()), seen=tuple(loop.entries(1)))
    loop.ran(run, Outcome(0.25, False))
    came = loop.came_of(decision)
    assert came.rewards == {"outcome": 0.25, "environment": 0.25}
    assert came.credits == {}


def test_a_run_that_used_only_another_retrieve_s_still_rewards_this_one(loop: Loop) -> None:
    mine, other = loop.entries(2)
    decision = loop.retrieved(mine, run=(run := uuid4()))
    loop.retrieved(other, run=run)
    loop.ran(run, Outcome(1.0, True), used=(other,))
    came = loop.came_of(decision)
    assert (came.rewards["outcome"], came.credits) == (1.0, {})


def test_another_key_s_retrieve_in_the_name_of_a_run_has_no_part_in_its_outcome(
    loop: Loop,
) -> None:
    [entry] = loop.entries(1)
    run = uuid4()
    own = loop.retrieved(entry, run=run)
    foreign = loop.retrieved(entry, run=run, by=uuid4())
    loop.ran(run, Outcome(1.0, True))
    assert loop.came_of(own).rewards["outcome"] == 1.0
    came = loop.came_of(foreign)
    assert (came.rewards, came.credits) == ({}, {})
    assert came.group == loop.came_of(own).group


def test_the_environment_is_believed_before_a_judge_and_a_judge_before_a_human(
    loop: Loop,
) -> None:
    decision = loop.retrieved(*loop.entries(1))
    for score, source in ((0.1, HUMAN), (0.2, JUDGE), (0.3, ENVIRONMENT)):
        loop.told(score, source, retrieval=decision)
        assert loop.came_of(decision).rewards["outcome"] == pytest.approx(score)
    assert loop.came_of(decision).rewards == pytest.approx(
        {"outcome": 0.3, "environment": 0.3, "judge": 0.2, "human": 0.1}
    )


def test_what_an_agent_says_of_itself_is_told_and_makes_no_outcome(loop: Loop) -> None:
    decision = loop.retrieved(*loop.entries(1))
    loop.told(1.0, AGENT, retrieval=decision)
    came = loop.came_of(decision)
    assert (came.rewards, came.credits) == ({"agent": 1.0}, {})


def test_feedback_that_was_replaced_does_not_count(loop: Loop) -> None:
    one, two = loop.entries(2)
    decision = loop.retrieved(one, two)
    loop.told(0.0, HUMAN, retrieval=decision)
    loop.told(1.0, HUMAN, retrieval=decision, used=(one,))
    came = loop.came_of(decision)
    assert came.rewards == {"outcome": 1.0, "human": 1.0}
    assert came.credits == {one.version.id: 1.0}


def test_feedback_on_one_retrieve_of_a_run_is_not_feedback_on_another(loop: Loop) -> None:
    one, two = loop.entries(2)
    run = uuid4()
    good, bad = loop.retrieved(one, run=run), loop.retrieved(two, run=run)
    loop.told(1.0, HUMAN, retrieval=good)
    loop.told(0.0, HUMAN, retrieval=bad)
    assert loop.came_of(good).rewards["outcome"] == 1.0
    assert loop.came_of(bad).rewards["outcome"] == 0.0


def test_who_may_write_only_another_namespace_of_a_retrieve_gives_it_no_reward(
    loop: Loop,
) -> None:
    here, there = loop.entries(1)[0], loop.world.entry(loop.world.namespace("there"))
    loop.world.apply(*rows_of(there))
    decision = replace(
        loop.retrieved(here, there), namespaces=(loop.namespace, there.item.namespace)
    )
    told = [loop.world.evidence(one, 0.0, cause=decision.id, source=HUMAN) for one in (here, there)]
    loop.world.apply(told[1])
    assert loop.came_of(decision).rewards == {}
    loop.world.apply(told[0])
    assert loop.came_of(decision).credits == {here.version.id: 1.0}


def test_what_a_deleted_run_taught_still_counts(loop: Loop) -> None:
    [entry] = loop.entries(1)
    decision = loop.retrieved(entry, run=(run_id := uuid4()))
    run = loop.ran(run_id, Outcome(1.0, True))
    loop.world.apply(deletes=(ref(run),))
    came = loop.came_of(decision)
    assert came.rewards["outcome"] == 1.0
    assert came.group == group_of_goal(decision.query)


def test_a_run_s_task_is_its_decisions_group(loop: Loop) -> None:
    run = replace(loop.world.run(loop.namespace), task=Task("g", template_id="t"))
    loop.world.apply(run)
    decision = loop.retrieved(run=run.id)
    assert loop.came_of(decision).group == group_of(run.task)


def test_out_of_reach_is_out_of_the_rewards(loop: Loop) -> None:
    [entry] = loop.entries(1)
    decision = loop.retrieved(entry, run=(run := uuid4()))
    loop.ran(run, Outcome(1.0, True))
    for scope in (loop.world.scope("other"), loop.world.another().scope()):
        came = loop.came_of(decision, scope)
        assert (came.rewards, came.credits) == ({}, {})
