"""The skill bank: its sections, the recursive update, and the order in which it is read."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memserver.domain.items import Form, Kind, RuleBody, SkillBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.experience import Experience, alike_by_words
from memserver_skills.plans import Rated
from memserver_skills.proposals import Proposal
from memserver_skills.skillbank import SECTION, SKILL_ID, Recursion, Section, distil_skillbank
from memserver_skills.skillbank_order import Caps, by_likeness, by_section
from tests.unit.skills.runs import heat, put, rated, run

PUTS = [
    put("mug", "dresser", "countertop", type="put"),
    put("towel", "cart", "shelf", type="put"),
    put("book", "bed", "desk", type="put"),
]
HEATS = [
    heat("mug", "cabinet", "countertop", type="heat"),
    heat("egg", "sidetable", "fridge", type="heat"),
]


def failures(count: int, *, kind: str = "heat", start: int = 0) -> list[Trajectory]:
    """Each of them with a mistake of its own."""
    return [
        run(
            f"heat some {thing} and put it in oven.",
            [],
            success=False,
            name=str(n),
            day=n,
            type=kind,
            mistakes=[f"{thing} {verb} the {thing}"],
        )
        for n, (thing, verb) in enumerate(
            zip(THINGS[start : start + count], VERBS[start : start + count], strict=True), start
        )
    ]


THINGS = [f"thing{letter}" for letter in "abcdefghijklmnopqrst"]
VERBS = [f"verb{letter}" for letter in "abcdefghijklmnopqrst"]


def bank_of(made: Sequence[Proposal]) -> list[Rated]:
    bank = []
    for one in made:
        item = rated(one.body, title=one.title, kind=one.kind, name=one.signature)
        version = replace(
            item.entry.version,
            method=one.method,
            metadata=one.metadata,
            task_type=one.task_type,
        )
        bank.append(replace(item, entry=replace(item.entry, version=version)))
    return bank


def section(made: Sequence[Proposal], name: Section) -> list[Proposal]:
    return [one for one in made if one.metadata[SECTION] == name]


def learned(made: Sequence[Proposal]) -> list[Proposal]:
    """What failures of one type taught."""
    return [one for one in section(made, Section.TASK_SPECIFIC) if one.title.startswith("Avoid")]


def test_what_several_types_do_is_general_and_the_rest_is_the_types_own() -> None:
    made = distil_skillbank(Experience([*PUTS, *HEATS]))

    general = {one.title for one in section(made, Section.GENERAL)}
    own = [one for one in section(made, Section.TASK_SPECIFIC) if one.task_type == "heat"]
    assert "Go to the place first, then move the object to the place" in general
    assert not any("microwave" in title for title in general)
    assert any("microwave first, then heat the object" in one.title for one in own)
    for one in [*section(made, Section.GENERAL), *own]:
        assert one.kind is Kind.SKILL
        assert isinstance(one.body, SkillBody)
        assert one.body.form == Form.DOCUMENT
        assert all((one.title, one.body.when, one.body.text))


def test_mistakes_of_several_types_are_common() -> None:
    shared = "walk past the open drawer without a look"
    runs = [
        run(f"find the {kind}", [], success=False, type=kind, mistakes=[shared])
        for kind in ("pen", "cup")
    ]

    [made] = section(distil_skillbank(Experience(runs)), Section.MISTAKE)

    assert made.kind is Kind.RULE
    assert isinstance(made.body, RuleBody)
    assert shared in made.body.text


def test_a_type_below_the_threshold_gets_at_most_three_skills_of_its_failures() -> None:
    made = learned(distil_skillbank(Experience([*PUTS, *HEATS, *failures(9)])))

    assert len(made) == 3
    assert {one.task_type for one in made} == {"heat"}


@pytest.mark.parametrize(("bad", "writes"), [(2, False), (3, False), (4, True)])
def test_a_type_at_or_above_the_threshold_is_left_alone(bad: int, writes: bool) -> None:
    """Two successes: of five they are .4, of six .33."""
    made = learned(distil_skillbank(Experience([*HEATS, *failures(bad)])))

    assert bool(made) is writes


def test_only_the_ten_newest_failures_are_considered() -> None:
    made = learned(
        distil_skillbank(Experience([*HEATS, *failures(20)]), recursion=Recursion(new=100))
    )
    old = {one.id for one in failures(10)}

    assert len(made) == 10
    assert not old & {source.trajectory_id for one in made for source in one.sources}


def test_repeated_updates_have_ids_of_their_own_and_are_read_at_once() -> None:
    runs = [*HEATS, *failures(4)]
    first = distil_skillbank(Experience(runs))
    bank = {one.metadata[SKILL_ID]: one for one in first}

    assert distil_skillbank(Experience(runs, bank_of(first))) == first

    second = distil_skillbank(Experience([*runs, *failures(10, start=4)], bank_of(first)))
    new = [one for one in learned(second) if one.metadata[SKILL_ID] not in bank]
    assert new
    assert len({one.metadata[SKILL_ID] for one in second}) == len(second)
    assert len({one.signature for one in second}) == len(second)
    read = by_section(bank_of([*bank.values(), *new]), "heat")
    ids = {one.entry.version.metadata[SKILL_ID] for one in read}
    assert ids >= {one.metadata[SKILL_ID] for one in new}


def test_what_the_bank_says_already_is_not_said_twice() -> None:
    made = distil_skillbank(Experience([*HEATS, *failures(4)]))
    [one, *_] = learned(made)
    [imported] = bank_of([replace(one, metadata={SECTION: "task_specific", SKILL_ID: "tsk_007"})])

    again = distil_skillbank(Experience([*HEATS, *failures(4)], [imported]))

    assert one.metadata[SKILL_ID] not in {other.metadata[SKILL_ID] for other in again}


def skill(name: str, part: Section, *, kind: str | None = None, wins: float = 0) -> Rated:
    one = rated(SkillBody(when="", text=name, form="document"), title=name, successes=wins)
    version = replace(
        one.entry.version, task_type=kind, metadata={SECTION: part.value, SKILL_ID: name}
    )
    return replace(one, entry=replace(one.entry, version=version))


def test_the_bank_is_read_general_first_then_the_type_whole_then_the_top_mistakes() -> None:
    general = [skill(f"g{n}", Section.GENERAL, wins=n) for n in range(4)]
    mine = [skill(f"t{n}", Section.TASK_SPECIFIC, kind="heat", wins=n) for n in range(9)]
    other = [skill("o", Section.TASK_SPECIFIC, kind="cool")]
    mistakes = [skill(f"m{n}", Section.MISTAKE, wins=n) for n in range(3)]

    read = by_section(
        [*mistakes, *other, *mine, *general], "heat", caps=Caps(general=2, mistakes=1)
    )

    assert [one.entry.version.title for one in read] == [
        "g3",
        "g2",
        *(f"t{n}" for n in reversed(range(9))),
        "m2",
    ]
    assert not [
        one for one in by_section(other, None) if one.entry.version.metadata[SECTION] != "general"
    ]


def test_by_likeness_the_nearest_of_any_section_comes_first() -> None:
    bank = [
        skill("boil the water in a kettle", Section.TASK_SPECIFIC, kind="boil"),
        skill("paint the fence", Section.GENERAL),
        skill("forget the kettle", Section.MISTAKE),
    ]

    read = by_likeness(bank, "boil water", alike_by_words, caps=Caps(similar=1))

    assert [one.entry.version.title for one in read] == [
        "boil the water in a kettle",
        "forget the kettle",
    ]
