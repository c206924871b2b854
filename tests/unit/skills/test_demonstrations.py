"""Demonstrations, by LearnAct's row: {steps, semantics} found for tasks that were never shown; and
the few of them that show all that a task needs."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.items import Form, SkillBody
from memserver_skills.covering import greedy_cover, subgoals_of
from memserver_skills.demonstrations import achieved, distil_demonstrations
from memserver_skills.grounding import ground
from tests.unit.skills.runs import HEATS, PUTS, run

WEIGHED = run(
    "weigh the mug",
    ["take mug", "place mug on scale", "read scale"],
    observations=[
        "You see a mug. The lamp is on.",
        "The lamp is on. You hold the mug.",
        "The display flashes. The lamp is on.",
        "It says 3 kg.",
    ],
)


def test_the_best_run_of_a_kind_is_shown_with_what_each_step_achieved() -> None:
    slow = run("weigh the pen", ["wait", "take pen", "place pen on scale", "read scale"])
    worse = run("weigh the cup", ["take cup", "drop cup"])

    [made] = distil_demonstrations([WEIGHED, slow, worse])

    body = made.body
    assert isinstance(body, SkillBody)
    assert body.form == Form.DEMONSTRATION.value
    assert [(step.action, step.expect) for step in body.steps] == [
        ("take {object}", "You hold the {object}."),
        ("place {object} on scale", "The display flashes."),
        ("read scale", "It says 3 kg."),
    ]
    assert [(source.trajectory_id, source.steps) for source in made.sources] == [
        (WEIGHED.id, (0, 1, 2))
    ]


def test_a_demonstration_fits_a_task_that_was_never_shown() -> None:
    bodies = [one.body for one in distil_demonstrations([*PUTS, *HEATS])]

    fits = [
        fit
        for body in bodies
        if isinstance(body, SkillBody)
        and (fit := ground(body, "heat some teapot and put it in wardrobe.")) is not None
    ]

    [fit] = fits
    assert fit.steps[-1].action == "move teapot to wardrobe"


def test_failures_and_steps_that_did_nothing_are_not_shown() -> None:
    nothing = "Nothing happens."
    stuck = run(
        "weigh the mug",
        ["sing", "dance", "jump", "take mug"],
        observations=["a room", nothing, nothing, nothing, "You hold it."],
    )

    [made] = distil_demonstrations([stuck])

    assert isinstance(made.body, SkillBody)
    assert [step.action for step in made.body.steps] == ["take {object}"]
    assert distil_demonstrations([run("weigh the mug", ["take mug"], success=False)]) == []


def test_what_was_seen_before_was_not_achieved() -> None:
    assert achieved("A lamp. A desk.", "a  lamp. A desk.\nA pen lies there.") == "A pen lies there."
    assert achieved("", "") == ""


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [*PUTS, *HEATS, WEIGHED]

    assert distil_demonstrations(runs[::-1]) == distil_demonstrations(runs)


def test_a_task_is_covered_by_the_demonstrations_of_its_subgoals() -> None:
    shows = {
        one.title: subgoals_of(one.body)
        for one in distil_demonstrations([*PUTS, *HEATS, WEIGHED])
        if isinstance(one.body, SkillBody)
    }

    cover = greedy_cover({"heat {} with microwave", "take {}", "sail {}"}, shows)

    assert {title.split()[1] for title in cover.chosen} == {"heat", "weigh"}
    assert cover.missing == {"sail {}"}


@given(
    st.dictionaries(
        st.integers(0, 9), st.frozensets(st.sampled_from("abcdefgh"), max_size=5), max_size=7
    )
)
def test_the_greedy_cover_covers_what_can_be_and_is_near_the_smallest(
    shows: dict[int, frozenset[str]],
) -> None:
    wanted = set("abcdefgh")
    cover = greedy_cover(wanted, shows)
    reachable = frozenset().union(*shows.values()) if shows else frozenset()

    assert cover.missing == wanted - reachable
    smallest = next(
        count
        for count in range(len(shows) + 1)
        for chosen in combinations(shows, count)
        if frozenset().union(*(shows[name] for name in chosen)) >= reachable
    )
    harmonic = sum(1 / n for n in range(1, 6))
    assert smallest <= len(cover.chosen) <= harmonic * smallest
    assert greedy_cover(wanted, shows, most=1).chosen == cover.chosen[:1]
