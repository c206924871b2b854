"""What is said of runs that belong together, and from which of their steps it comes."""

from uuid import UUID

from memserver.domain.items import Source
from memserver_skills.run_groups import by_task, known_as, shared_type, slots_of, solved_by_kind
from memserver_skills.slots import slotted
from memserver_skills.sources import at_steps, doing, joined
from memserver_skills.tallies import by_frequency, commonest
from tests.unit.skills.runs import HEATS, PUTS, run

ONE, TWO = UUID(int=1), UUID(int=2)


def test_of_equally_common_texts_the_first_by_name_comes_first() -> None:
    counts = {"b": 2, "a": 2, "c": 3}

    assert by_frequency(counts) == ["c", "a", "b"]
    assert commonest({"b": 2, "a": 2}) == "a"
    assert commonest({}, "none") == "none"


def test_a_type_is_shared_only_where_all_runs_have_it() -> None:
    assert shared_type(["put", "put"]) == "put"
    assert shared_type(["put", None]) is None
    assert shared_type([]) is None


def test_goals_that_differ_in_case_and_closing_point_are_one_task() -> None:
    runs = slotted([run("Find a cup.", ["look"]), run("find a cup", ["look"])])

    assert [len(members) for members in by_task(runs).values()] == [2]


def test_only_successes_that_an_agent_can_follow_are_learned_from_as_a_whole() -> None:
    runs = [
        run("find a cup", ["look"]),
        run("find a cup", ["look"], success=False),
        run("find a cup", []),
        run("find a cup", ["look"] * 121),
    ]

    assert [one.run.id for kept in solved_by_kind(slotted(runs)).values() for one in kept] == [
        runs[0].id
    ]


def test_what_runs_teach_is_known_by_every_template_that_they_had() -> None:
    puts = slotted([*HEATS, *PUTS])
    own, *aliases = known_as("distill/code", puts)

    assert own == known_as("distill/code", puts[:1])[0]
    assert len({own, *aliases}) == len(aliases) + 1
    assert own != known_as("distill/milestones", puts)[0]


def test_a_slot_of_the_goal_shows_how_many_words_it_may_take() -> None:
    runs = slotted([one for one in HEATS if one.succeeded])
    slots = slots_of(runs, goal=runs[0].template, lines=[])
    longest = max(len(run.values[slots[0].name].split()) for run in runs)

    assert len(slots[0].example.split()) == longest
    assert {slot.name for slot in slots} <= {slot.name for run in runs for slot in run.slots}


def test_sources_name_each_step_once_and_all_of_a_run_that_one_source_names_whole() -> None:
    assert at_steps({TWO: [3, 1, 3], ONE: [0]}) == (Source(ONE, (0,)), Source(TWO, (1, 3)))
    assert joined([Source(TWO, (1,))], [Source(TWO, (4,)), Source(ONE)], [Source(ONE, (2,))]) == (
        Source(ONE),
        Source(TWO, (1, 4)),
    )


def test_the_doers_of_a_line_are_named_with_their_steps() -> None:
    did, other = run("find a cup", ["look", "open box", "look"]), run("find a cup", ["wait"])

    assert doing(["look"], slotted([did, other])) == (Source(did.id, (0, 2)),)
