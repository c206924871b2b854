"""Principles: what successes do and failures do not, merged where they say the same, pruned by
what came of them."""

from dataclasses import replace

import pytest

from memserver.domain.items import Body, Kind, Status, TextBody
from memserver_skills.experience import Experience
from memserver_skills.plans import Rated
from memserver_skills.principle_scores import merged_score, pruned, score
from memserver_skills.principles import NAMES, distil_principles
from memserver_skills.proposals import Proposal
from memserver_skills.same_saying import confirmed, says_the_same
from tests.unit.skills.runs import HEATS, heat, rated, run

BAD = [
    run(one.task.goal, ["go to sofa", "sing loudly"], success=False) for one in (HEATS[0], HEATS[1])
]


def text(body: Body) -> str:
    assert isinstance(body, TextBody)
    return body.text


def kept(made: Proposal, *, successes: float = 0, failures: float = 0) -> Rated:
    """The item that the proposal has become."""
    one = rated(made.body, title=made.title, kind=Kind.PRINCIPLE, name=made.signature)
    known = rated("", successes=successes, failures=failures)
    version = replace(
        one.entry.version, method=made.method, metadata=made.metadata, task_type=made.task_type
    )
    return replace(one, entry=replace(one.entry, version=version), belief=known.belief)


def test_successes_guide_by_what_comes_first_and_by_what_failures_leave_out() -> None:
    made = distil_principles(Experience([*HEATS, *BAD]))

    guiding = [one for one in made if one.metadata["stance"] == "guiding"]
    triples = [tuple(triple) for one in guiding for triple in one.metadata["triples"]]
    assert ("heat {object} with microwave", "comes before", "go to {place}") in triples
    assert any(
        subject == "heat {object} with microwave" and relation == "decides"
        for subject, relation, _ in triples
    )
    assert all("heat some {object} and put it in {place}" in text(one.body) for one in guiding)


def test_failures_warn_of_what_no_success_does() -> None:
    made = distil_principles(Experience([*HEATS, *BAD]))

    [warned] = [one for one in made if "sing loudly" in one.title]
    assert warned.metadata["stance"] == "cautionary"
    assert warned.kind is Kind.PRINCIPLE
    assert {source.trajectory_id for source in warned.sources} == {one.id for one in BAD}
    assert {source.steps for source in warned.sources} == {(1,)}


def test_what_a_success_does_too_warns_of_nothing() -> None:
    singing = heat("pan", "desk", "shelf")
    singing = replace(singing, steps=(BAD[0].steps[1], *singing.steps))

    made = distil_principles(Experience([*HEATS, singing, *BAD]))

    assert not any("sing" in one.title for one in made)


def test_mistakes_that_runs_were_told_become_principles_with_a_triple() -> None:
    told = run("tidy up", [], success=False, mistakes=["When: it is dark\nAvoid: running about"])

    [made] = distil_principles(Experience([told]))

    assert made.metadata["triples"] == [["it is dark", "fails by", "running about"]]
    assert text(made.body) == "When: it is dark\nAvoid: running about"


def test_the_score_is_successes_and_one_over_uses_and_two() -> None:
    assert score(rated("").belief) == 0.5
    assert score(rated("", successes=3, failures=1).belief) == pytest.approx(4 / 6)


def test_one_failed_use_keeps_a_principle_and_two_prune_it() -> None:
    once = rated("a", kind=Kind.PRINCIPLE, failures=1)
    twice = rated("b", kind=Kind.PRINCIPLE, failures=2)
    note = rated("c", kind=Kind.NOTE, failures=9)

    assert score(once.belief) == pytest.approx(0.333, abs=0.001)
    assert score(twice.belief) == 0.25
    assert pruned([once, twice, note]) == (twice.item,)


def test_a_merge_scores_all_uses_with_the_prior_once() -> None:
    good = rated("", successes=3).belief
    bad = rated("", successes=1, failures=4).belief

    assert merged_score([good, bad]) == pytest.approx((4 + 1) / (8 + 2))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Take the key from the desk.", "Pick up the key from the desk.", True),
        ("Open the drawer first.", "Do not open the drawer first.", False),
        ("Note the mess.", "Not the mess.", False),
        ("Wait for 3 minutes.", "Wait for 5 minutes.", False),
        ("Take the key from Ann.", "Take the key from Bob.", False),
        ("Move {object} to {place}.", "Move {object} to {source}.", False),
        ("Leave the key on the desk.", "Leave the mug on the desk.", False),
    ],
)
def test_likeness_alone_merges_nothing(left: str, right: str, same: bool) -> None:
    assert confirmed(left, right) is same
    assert says_the_same(left, right, lambda *_: 0.99) is same
    assert not says_the_same(left, right, lambda *_: 0.84)


def test_principles_that_say_the_same_are_one_with_the_sources_of_both() -> None:
    runs = [
        run(f"tidy the {room}", [], success=False, name=room, type=room, mistakes=[said])
        for room, said in [
            ("hall", "Take the key from the desk before the light is out."),
            ("loft", "Pick up the key from the desk before the light is out!"),
        ]
    ]

    [made] = distil_principles(Experience(runs, alike=lambda *_: 0.9))

    assert {source.trajectory_id for source in made.sources} == {one.id for one in runs}
    assert made.task_type is None
    assert [made.signature, *made.aliases] == made.metadata[NAMES]


def test_a_principle_of_the_bank_is_written_under_the_name_that_it_has() -> None:
    [first, *_] = distil_principles(Experience(HEATS))
    earlier = replace(first, metadata={**first.metadata, NAMES: ["its earlier name"]})

    found = distil_principles(Experience(HEATS, [kept(earlier)], alike=lambda *_: 0.9))

    [again] = [one for one in found if one.title == first.title]
    assert again.aliases == ("its earlier name",)
    settled = distil_principles(Experience(HEATS, [kept(one) for one in found]))
    assert settled == found


def test_what_people_wrote_is_not_said_again() -> None:
    [first, *others] = distil_principles(Experience(HEATS))
    theirs = rated(first.body, kind=Kind.PRINCIPLE)

    assert distil_principles(Experience(HEATS, [theirs])) == others


def test_a_pruned_principle_is_not_proposed_again() -> None:
    [first, *others] = distil_principles(Experience(HEATS))
    failing = kept(first, failures=2)
    retired = replace(
        kept(first),
        entry=replace(failing.entry, item=replace(failing.entry.item, status=Status.ARCHIVED)),
    )

    assert pruned([failing]) == (failing.item,)
    for gone in (failing, retired):
        assert distil_principles(Experience(HEATS, [gone])) == others
    assert first in distil_principles(Experience(HEATS, [kept(first, failures=1)]))
