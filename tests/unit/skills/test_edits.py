"""TeleTune's acceptance: interleaved logs come apart into their tasks; a rule is taken only if
strictly more of what was held out is foretold."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.items import HintBody, Kind, SkillBody, SkillStep
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Step, Trajectory
from memserver.services.importers import IMPORTERS
from memserver_skills.edits import METHOD, accepts, distil_edits, improve
from memserver_skills.experience import Experience
from memserver_skills.proposals import Proposal
from memserver_skills.sequels import Forecasting, Procedure, generalised, library_of
from memserver_skills.untangling import boundaries, boundary_f1, untangle
from tests.unit.skills.runs import rated, run

TAKE_THEN_GO: Procedure = ("take {a} from {b}", "go to {c}")
GO_THEN_MOVE: Procedure = ("take {a} from {b}", "go to {c}", "move {a} to {c}")
NOISE: Procedure = ("take {a} from {b}", "sing to {a}")
THINGS = ["mug", "pen", "cup", "key", "vase", "book", "plate", "fork", "lamp", "ring"]


def carried(thing: str) -> list[str]:
    return [
        f"go to shelf {len(thing)}",
        f"take {thing} from shelf {len(thing)}",
        f"go to bin {thing[0]}",
        f"move {thing} to bin {thing[0]}",
    ]


HELD_OUT = [carried(thing) for thing in THINGS[:4]]


@pytest.fixture(scope="module")
def real_runs(alfworld_runs: Path) -> list[Trajectory]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    namespace = Namespace(1, UUID(int=1), "alfworld")
    read = IMPORTERS["alfworld-condensed"]
    return list(read(alfworld_runs.read_bytes(), namespace, lambda: at))


def mixed(runs: Sequence[Trajectory], seed: int) -> tuple[list[Step], list[int]]:
    """The steps of all runs in one log, two tasks at a time, going over to the other one after a
    step in three; and the task of each step."""
    chance = random.Random(seed)
    waiting = chance.sample(list(runs), len(runs))
    open_tasks: list[tuple[int, list[Step]]] = []
    log: list[Step] = []
    labels: list[int] = []
    begun = 0
    while waiting or open_tasks:
        while waiting and len(open_tasks) < 2:
            open_tasks.append((begun, list(waiting.pop().steps)))
            begun += 1
        if not labels or chance.random() < 1 / 3 or labels[-1] not in {n for n, _ in open_tasks}:
            chance.shuffle(open_tasks)
        else:
            open_tasks.sort(key=lambda task: task[0] != labels[-1])
        number, steps = open_tasks[0]
        log.append(steps.pop(0))
        labels.append(number)
        if not steps:
            open_tasks.pop(0)
    return log, labels


@pytest.mark.parametrize("seed", [1])
def test_interleaved_logs_of_real_runs_come_apart_into_their_tasks(
    real_runs: list[Trajectory], seed: int
) -> None:
    told = [one for one in real_runs if one.steps]
    log, labels = mixed(told, seed)

    found = untangle(log)

    assert boundary_f1(found, labels) >= 0.9
    same = [1] * len(log)
    alternating = [place % 2 for place in range(len(log))]
    assert max(boundary_f1(same, labels), boundary_f1(alternating, labels)) < 0.8


def test_boundaries_are_where_the_log_goes_over_to_another_task() -> None:
    assert boundaries([0, 0, 1, 0]) == {2, 3}
    assert boundary_f1([0, 0, 1], [5, 5, 6]) == 1
    assert boundary_f1([0, 0, 0], [0, 1, 1]) == 0
    assert untangle([]) == ()


def test_things_become_slots_and_the_same_thing_the_same_slot() -> None:
    assert generalised(["Take the mug from shelf 2", "put mug on desk"]) == (
        "take {thing_1} from {thing_2}",
        "put {thing_1} on {thing_3}",
    )
    assert generalised(["go to sink", "wash mug"], keep=frozenset({"sink"})) == (
        "go to sink",
        "wash {thing_1}",
    )


def test_what_comes_next_is_foretold_with_what_the_history_says() -> None:
    said = Forecasting().predict(carried("mug")[:3], [TAKE_THEN_GO, GO_THEN_MOVE])

    assert said is not None
    assert (said.line, said.matched) == ("move mug to bin m", 2)


def test_a_procedure_does_not_speak_where_its_slots_would_mean_two_things() -> None:
    same: Procedure = ("take {a} from {b}", "return {a} to {b}", "rest")

    assert Forecasting().predict(["take mug from desk", "return mug to bed"], [same]) is None


def test_a_foretold_line_must_name_the_kind_of_action() -> None:
    forecasting = Forecasting()

    said = forecasting.predict(["go to shelf"], [("go to {a}", "{b}")])

    assert not forecasting.comes_true(said, "take mug")
    assert not forecasting.comes_true(None, "take mug")


def test_a_true_rule_is_accepted_and_a_noise_rule_rejected() -> None:
    edit = accepts([], TAKE_THEN_GO, HELD_OUT)

    assert edit is not None
    assert (edit.before, edit.after) == (0, pytest.approx(1 / 3))
    assert accepts([], NOISE, HELD_OUT) is None
    assert accepts([TAKE_THEN_GO], NOISE, HELD_OUT) is None


def test_a_rule_that_changes_nothing_is_not_accepted() -> None:
    assert accepts([TAKE_THEN_GO], TAKE_THEN_GO, HELD_OUT) is None
    assert accepts([], ("fly to {a}", "land on {a}"), HELD_OUT) is None
    assert accepts([], TAKE_THEN_GO, []) is None


def test_errors_propose_the_rules_that_were_missing() -> None:
    improved = improve([], [carried(thing) for thing in THINGS[4:]], HELD_OUT)

    assert improved.edits[-1].after == 1
    assert Forecasting().accuracy(improved.library, HELD_OUT) == 1


ACTIONS = st.sampled_from(
    ["go to a", "go to b", "take x from a", "take y from b", "put x on b", "sing", "sing x"]
)
TASKS = st.lists(st.lists(ACTIONS, max_size=6), max_size=6)


@settings(max_examples=25, deadline=None)
@given(training=TASKS, held_out=TASKS, library=st.lists(st.lists(ACTIONS, min_size=2, max_size=4)))
def test_accuracy_never_falls(
    training: list[list[str]], held_out: list[list[str]], library: list[list[str]]
) -> None:
    known = [generalised(lines) for lines in library]

    improved = improve(known, [*training, *training, *training], held_out)

    forecasting = Forecasting()
    accuracy = forecasting.accuracy(known, held_out)
    for edit in improved.edits:
        assert edit.before == pytest.approx(accuracy)
        assert edit.after > edit.before
        accuracy = edit.after
    assert forecasting.accuracy(improved.library, held_out) == pytest.approx(accuracy)
    assert len({edit.rule for edit in improved.edits}) == len(improved.edits)


def runs_of_things() -> list[Trajectory]:
    return [run(f"bin the {thing}", carried(thing)) for thing in THINGS]


def test_what_the_bank_foretells_already_is_not_proposed_again() -> None:
    body = SkillBody("bin it", tuple(map(SkillStep, GO_THEN_MOVE)))
    known = rated(body, kind=Kind.SKILL)

    without = distil_edits(Experience(runs_of_things()))
    within = distil_edits(Experience(runs_of_things(), [known]))

    def says(made: list[Proposal]) -> set[str]:
        return {one.body.do for one in made if isinstance(one.body, HintBody)}

    assert library_of([known], but=METHOD) == (GO_THEN_MOVE,)
    assert any(line.startswith("move") for line in says(without))
    assert not any(line.startswith("move") for line in says(within))


def test_its_own_edits_do_not_count_as_known() -> None:
    body = SkillBody("bin it", tuple(map(SkillStep, GO_THEN_MOVE)))
    known = rated(body, kind=Kind.SKILL)
    own = replace(
        known, entry=replace(known.entry, version=replace(known.entry.version, method=METHOD))
    )

    assert library_of([own], but=METHOD) == ()


def test_sources_are_the_steps_that_were_foretold() -> None:
    runs = runs_of_things()

    made = distil_edits(Experience(runs))

    [rule] = [one for one in made if isinstance(one.body, HintBody) and one.body.do[:4] == "take"]
    assert {source.steps for source in rule.sources} == {(1,)}
    assert {source.trajectory_id for source in rule.sources} == {one.id for one in runs}
    assert rule.metadata["foretold_after"] > rule.metadata["foretold_before"]


def test_a_log_said_to_be_interleaved_is_taken_apart_first() -> None:
    """Two tasks alternate: only apart does a take come after its own go."""
    told = [
        run(
            f"bin the {thing}",
            carried(thing),
            observations=[
                "",
                f"At shelf {len(thing)} stands a {thing}.",
                f"You hold the {thing} from shelf {len(thing)}.",
                f"At bin {thing[0]}.",
            ],
        )
        for thing in THINGS
    ]
    log, labels = mixed(told, 3)
    whole = replace(told[0], steps=tuple(log), metadata={"interleaved": True})
    tangled = replace(whole, metadata={})

    def named(run: Trajectory) -> set[int]:
        made = distil_edits(Experience([run, *(one for one in told if one.id != run.id)]))
        return {
            step
            for one in made
            for source in one.sources
            if source.trajectory_id == run.id
            for step in source.steps
        }

    assert boundary_f1(untangle(log), labels) >= 0.9
    assert len(named(whole)) > len(named(tangled))
