"""Code skills, by the acceptance of RATs and LearnAct: programs that replay a run, versioned per
failure that revised them."""

import ast
from uuid import UUID

import pytest

from memserver.cli.isolated_tests import SkillFile as PlacedFile
from memserver.cli.isolated_tests import run_tests
from memserver.domain.items import Form, SkillBody, SkillFile, Slot
from memserver.domain.trajectories import Trajectory
from memserver_skills.code_skills import distil_code
from memserver_skills.programs import FUNCTION, program_of, replay_test
from memserver_skills.proposals import Proposal
from memserver_skills.revising import Failure, revise
from tests.unit.skills.runs import HEATS, PUTS, run

NOTHING = "Nothing happens."


def body(proposal: Proposal) -> SkillBody:
    assert isinstance(proposal.body, SkillBody)
    return proposal.body


def acted(program: str, **values: str) -> list[str]:
    """What a program of ours yields; it is read as syntax first."""
    names: dict[str, object] = {}
    exec(compile(ast.parse(program), "skill", "exec"), names)
    made = names[FUNCTION]
    assert callable(made)
    return list(made(**values))


def test_a_workflow_becomes_a_program_for_things_never_seen() -> None:
    [made] = distil_code(PUTS)

    assert body(made).form == Form.CODE.value
    assert acted(body(made).text, object="teapot", place="sofa") == [
        "go to countertop",
        "take teapot from countertop",
        "go to sofa",
        "move teapot to sofa",
    ]
    assert acted(body(made).text, object="teapot", place="sofa", source="bed")[0] == "go to bed"


def test_its_stored_test_replays_the_run_that_it_names() -> None:
    [made] = distil_code(HEATS)

    [source] = made.sources
    [replayed] = [one for one in HEATS if one.id == source.trajectory_id]
    [test] = body(made).files
    assert all(repr(step.action)[1:-1] in test.content for step in replayed.steps)
    assert source.steps == (0, 1, 2, 3, 4, 5)
    placed = [PlacedFile(test.path, test.content.encode())]
    assert run_tests(body(made).text, placed).passed
    broken = body(made).text.replace("microwave", "toaster")
    assert not run_tests(broken, placed).passed


@pytest.mark.parametrize(
    "text",
    [
        "say ' + __import__('os').getcwd() + '",
        'say """ + str(1) + """',
        "say \\' + open\\n(1) #",
        "say {object} {unknown} {0.__class__}",
        "say \u2028 \x85 \\",
    ],
)
def test_what_a_run_said_is_never_code(text: str) -> None:
    slots = (Slot("object", example=text),)

    program = program_of([text, "go {object}"], slots, goal=text)
    test = replay_test({"object": text}, [text], run=str(UUID(int=1)))

    calls = [
        node
        for tree in (ast.parse(program), ast.parse(test))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]
    assert {ast.unparse(call.func) for call in calls} == {"list", FUNCTION}


def test_a_slot_that_is_a_word_of_the_language_gets_another_name() -> None:
    program = program_of(["go {class}"], (Slot("class"),), goal="do {class}")

    assert acted(program, class_="home") == ["go home"]


def fridge(thing: str, *, opened: bool, success: bool = True) -> Trajectory:
    actions = [
        f"take {thing}",
        "go to fridge",
        *(["open fridge"] if opened else []),
        f"cool {thing} in fridge",
    ]
    seen = [
        "a room",
        f"You hold {thing}.",
        "A fridge.",
        *(["It is open."] if opened else []),
        "It is cold." if success else NOTHING,
    ]
    return run(f"cool some {thing}", actions, observations=seen, success=success)


NOISE = run(
    "put some jar on rack.",
    ["lick jar", "fly up", "shout loudly"],
    observations=["", NOTHING, NOTHING, NOTHING],
    success=False,
)


def test_a_failure_revises_the_program_and_is_named_by_the_version_it_led_to() -> None:
    good = [
        *(fridge(thing, opened=False) for thing in ("egg", "pan", "cup")),
        *(fridge(thing, opened=True) for thing in ("mug", "jug")),
    ]
    bad = fridge("pot", opened=False, success=False)

    [before] = distil_code(good)
    [after] = distil_code([*good, bad, NOISE])

    assert "revisions" not in before.metadata
    assert acted(body(before).text, object="tea")[2] == "cool tea in fridge"
    assert acted(body(after).text, object="tea")[2:] == ["open fridge", "cool tea in fridge"]
    [revision] = after.metadata["revisions"]
    assert (revision["version"], revision["failure"], revision["step"]) == (2, str(bad.id), 2)
    assert revision["seen"] == NOTHING
    assert after.signature == before.signature
    assert (bad.id, (2,)) in {(one.trajectory_id, one.steps) for one in after.sources}
    [test] = body(after).files
    assert run_tests(body(after).text, [PlacedFile(test.path, test.content.encode())]).passed


def test_every_failure_adds_a_version_and_keeps_those_before_it() -> None:
    skill = SkillBody("when", form="code", text="1", files=(SkillFile("tests/test_a.py", "a"),))
    first = Failure(UUID(int=1), 3, "go", "no door")

    once = revise(skill, {"runs": 4}, first, text="2", files=[SkillFile("tests/test_b.py", "b")])
    twice = revise(once.body, once.metadata, Failure(UUID(int=2), 0, "sit"), text="3")

    assert [file.path for file in twice.body.files] == ["tests/test_a.py", "tests/test_b.py"]
    assert twice.body.text == "3"
    assert [(one["version"], one["failure"]) for one in twice.metadata["revisions"]] == [
        (2, str(UUID(int=1))),
        (3, str(UUID(int=2))),
    ]
    assert twice.metadata["runs"] == 4
    with pytest.raises(ValueError, match="changes the program"):
        revise(once.body, once.metadata, first, text="2")
    with pytest.raises(ValueError, match="workflow"):
        revise(SkillBody("when"), {}, first, text="2")


def test_what_no_run_replays_word_by_word_is_no_program() -> None:
    shouted = run("press the button", ["press BUTTON <3", "wait {object}"])

    assert distil_code([shouted]) == []
    assert distil_code([run("press the button", ["press button"], success=False)]) == []


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [*PUTS, *HEATS, NOISE, fridge("egg", opened=True)]

    assert distil_code(runs[::-1]) == distil_code(runs)
