"""Cases with the shape of their plan, by APEX-EM's acceptance: the same shape is found in another
domain that shares no word."""

from memserver.domain.items import CaseBody, Kind
from memserver_skills.experience import alike_by_words
from memserver_skills.experiences import distil_experiences
from memserver_skills.proposals import Proposal
from memserver_skills.structures import case_score, operations, same_shape
from memserver_skills.words import forms
from tests.unit.skills.runs import HEATS, PUTS, run

NOTHING = "Nothing happens."


def body(proposal: Proposal) -> CaseBody:
    assert isinstance(proposal.body, CaseBody)
    return proposal.body


def test_a_task_becomes_a_case_with_its_best_plan_and_shape() -> None:
    long = run(
        PUTS[0].task.goal, ["look around", *(step.action for step in PUTS[0].steps)], name="long"
    )

    [case] = distil_experiences([PUTS[0], long])

    assert case.kind is Kind.CASE
    assert body(case).steps == tuple(step.action for step in PUTS[0].steps)
    assert body(case).operations == ("go", "take", "go", "move")
    assert body(case).score == 1
    assert case.metadata == {"runs": 2, "successes": 2, "solved": True, "quality": 1.0}


def test_quality_falls_with_the_length_that_the_kind_of_task_did_not_need() -> None:
    slow = run(
        "put some vase on rack.",
        [
            "wait",
            "wait",
            "go to bed",
            "take vase from bed",
            "go to hall",
            "turn",
            "go to rack",
            "move vase to rack",
        ],
    )

    [made] = [one for one in distil_experiences([*PUTS, slow]) if "vase" in one.title]

    assert made.metadata["quality"] == 0.5


def test_failures_leave_notes_of_what_was_seen_and_their_steps_as_sources() -> None:
    failed = run(
        PUTS[0].task.goal,
        ["sing loudly", "go nowhere", "take air", "leave"],
        observations=["a room", NOTHING, NOTHING, NOTHING],
        success=False,
    )

    [case] = distil_experiences([PUTS[0], failed])

    assert body(case).notes == ("Did nothing: take air; seen: Nothing happens.",)
    assert {(source.trajectory_id, source.steps) for source in case.sources} == {
        (PUTS[0].id, (0, 1, 2, 3)),
        (failed.id, (2,)),
    }


def test_a_task_that_nobody_solved_is_a_case_of_notes_alone() -> None:
    told = run("paint the wall", [], success=False, mistakes=["Avoid: painting the floor"])

    [case] = distil_experiences([told])

    assert body(case).steps == ()
    assert body(case).score == 0
    assert body(case).notes == ("Avoid: painting the floor",)
    assert not case.metadata["solved"]


def test_a_run_without_outcome_or_of_ten_thousand_steps_is_no_plan() -> None:
    endless = run("count sheep", ["count one sheep"] * 10_000)

    assert distil_experiences([endless]) == []


def test_the_same_shape_is_found_in_another_domain_with_no_word_in_common() -> None:
    shape = ["query", "filter", "aggregate"]
    sought = "average rainfall of coastal towns"
    cases = {
        "total salary per department above a threshold": ("query", "filter", "aggregate"),
        "mean rainfall of towns by river": ("open", "read", "copy", "close"),
        "rename every file": ("list", "loop", "rename"),
    }

    scores = {
        goal: case_score(alike_by_words(sought, goal), same_shape(shape, held))
        for goal, held in cases.items()
    }
    first = max(scores, key=lambda goal: scores[goal].score)

    assert first == "total salary per department above a threshold"
    assert not set(forms(first)) & set(forms(sought))
    assert (scores[first].semantic, scores[first].structural) == (0, 1)
    assert max(scores, key=lambda goal: scores[goal].semantic) == "mean rainfall of towns by river"


def test_shapes_are_compared_in_their_order() -> None:
    assert same_shape(["Query", "filter"], ["query", "FILTER"]) == 1
    assert same_shape(["query", "filter"], ["filter", "query"]) == 0.5
    assert same_shape([], []) == same_shape([], ["query"]) == 0
    assert operations(["Take mug", "", "click('12')", "…"]) == ("take", "click")


def test_a_negative_cosine_counts_as_no_likeness() -> None:
    assert case_score(-0.3, 0.5).score == 0.25
    assert case_score(1.0, 0.0, semantic_share=0.25).score == 0.25


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [*PUTS, *HEATS, run(PUTS[0].task.goal, ["sing"], success=False)]

    assert distil_experiences(runs[::-1]) == distil_experiences(runs)
