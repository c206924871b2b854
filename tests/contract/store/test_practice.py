"""Goals to practise on in the store: kept once, decided once, in order, and gone with the person
whose run decided them."""

from dataclasses import replace
from uuid import UUID, uuid4

from memserver.domain.ports import PageRequest, PracticeFilter
from memserver.domain.ports.privacy import Erasing, subject_digest
from memserver.domain.practice import PracticeGoal, PracticeState, Refusal, Why
from memserver.domain.trajectories import Task
from tests.contract.store.world import World, pages

WHY = Why(0.2, 0.8, 0.5, 1.0, 0.5, ("object: mug", "object: mug, place: grüner Tisch"))


def made(world: World, goal: str = "put mug on table", goal_id: UUID | None = None) -> PracticeGoal:
    return PracticeGoal(
        goal_id or uuid4(),
        world.namespace("team"),
        Task(goal, "put", "house"),
        "put {object} on {place}",
        {"object": "mug", "place": "grüner Tisch"},
        WHY,
        world.clock.now,
    )


def test_a_goal_comes_back_as_it_was_put_and_once(world: World) -> None:
    goal = made(world)
    other = replace(goal, task=Task("another"))
    assert world.store.write(lambda tx: tx.add_practice_goals([goal])) == (goal,)
    assert world.store.write(lambda tx: tx.add_practice_goals([other])) == ()
    with world.store.reading() as reader:
        assert reader.practice_goal(world.scope(), goal.id) == goal
        assert reader.practice_goal(world.scope(), uuid4()) is None


def test_goals_are_listed_by_state_in_the_order_in_which_they_were_proposed(world: World) -> None:
    goals = []
    for place in range(5):
        goals.append(made(world, f"put {place}"))
        world.clock.turn(seconds=1)
    world.store.write(lambda tx: tx.add_practice_goals(goals[::-1]))
    rejected = replace(
        goals[3],
        state=PracticeState.REJECTED,
        refusal=Refusal.INFEASIBLE,
        reason="no mug was seen",
        decided_at=world.clock.now,
        trajectory=uuid4(),
        sent_hash="abc",
    )
    world.store.write(lambda tx: tx.put_practice_goal(rejected))
    everything = PracticeFilter((rejected.namespace.id,))
    open_ones = replace(everything, state=PracticeState.PROPOSED)
    with world.store.reading() as reader:
        listed = [
            goal
            for page in pages(lambda p: reader.practice_goals(world.scope(), everything, p), 2)
            for goal in page.rows
        ]
        proposed = reader.practice_goals(world.scope(), open_ones, PageRequest(10)).rows
    assert listed == [*goals[:3], rejected, goals[4]]
    assert list(proposed) == [goals[0], goals[1], goals[2], goals[4]]


def test_erasing_a_person_forgets_what_their_runs_decided(world: World) -> None:
    here = world.namespace("team")
    run = replace(world.run(here), subject="ana")
    world.apply(run)
    theirs = replace(made(world), state=PracticeState.ACCEPTED, trajectory=run.id)
    others = made(world, "put another")
    world.store.write(lambda tx: tx.add_practice_goals([theirs, others]))
    tenant = world.tenant.id
    erasing = Erasing(tenant, subject_digest(tenant, "ana"), "**", world.actor)
    erasure = world.store.write(lambda tx: tx.erase(erasing, lambda text: []))
    assert erasure.counts["practice_goal"] == 1
    with world.store.reading() as reader:
        assert reader.practice_goal(world.scope(), theirs.id) is None
        assert reader.practice_goal(world.scope(), others.id) == others
