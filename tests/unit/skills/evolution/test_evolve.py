"""What a library's evidence asks for, act by act."""

from dataclasses import replace

from memserver.domain.items import SkillStep, Source, Status
from memserver_skills.evolution.acts import Act, ActKind, Evolution, Why
from memserver_skills.evolution.admission import AWAITS, FIRST_USES
from memserver_skills.evolution.evolve import evolve
from tests.unit.skills.evolution.library import WASH, library, skill, washed


def only(evolution: Evolution) -> Act:
    (act,) = evolution.acts
    return act


def test_a_library_without_outcomes_is_left_as_it_is() -> None:
    assert evolve(library([skill("a"), skill("b")], {}), admission="none").acts == ()


def test_on_trial_a_skill_is_in_use_and_not_proven() -> None:
    one = skill("a")
    few = {one.item: [washed(str(n), success=True) for n in range(FIRST_USES - 1)]}
    found = evolve(library([one], few), admission="first_uses")
    assert (found.acts, found.on_trial) == ((), (one.item,))
    assert evolve(library([one], few), admission="none").on_trial == ()


def test_its_first_uses_admit_a_skill() -> None:
    one = skill("a")
    enough = {one.item: [washed(str(n), success=n > 0) for n in range(FIRST_USES)]}
    found = evolve(library([one], enough), admission="first_uses")
    assert (found.acts, found.on_trial) == ((), ())


def test_its_first_uses_retire_a_skill() -> None:
    one = skill("a")
    enough = {one.item: [washed(str(n), success=n == 0) for n in range(FIRST_USES)]}
    act = only(evolve(library([one], enough), admission="first_uses"))
    assert (act.kind, act.rule) == (ActKind.RETIRE, Why.FIRST_USES)
    assert only(evolve(library([one], enough), admission="none")).rule is not Why.FIRST_USES


def test_what_people_wrote_is_on_no_trial() -> None:
    one = skill("a", method="api")
    assert evolve(library([one], {}), admission="first_uses").on_trial == ()


def test_a_newcomer_comes_in_where_it_tells_held_out_runs_better() -> None:
    known = skill("known", replace(WASH, steps=(SkillStep("look at {object}"),)))
    new = skill("new", status=Status.QUARANTINED, metadata={AWAITS: "held_out"})
    held_out = washed("held out", success=True)
    act = only(evolve(library([known, new], {}, held_out), admission="held_out"))
    assert (act.kind, act.rule, act.item) == (ActKind.ADMIT, Why.HELD_OUT, new.item)
    assert act.runs == (held_out.id,)


def test_a_newcomer_that_the_library_can_do_without_waits() -> None:
    new = skill("new", status=Status.QUARANTINED, metadata={AWAITS: "held_out"})
    found = evolve(library([skill("known"), new], {}, washed("a", success=True)), admission="none")
    assert (found.acts, found.waiting) == ((), (new.item,))


def test_the_runs_that_a_newcomer_was_made_from_do_not_speak_for_it() -> None:
    own = washed("own", success=True)
    waiting = {"status": Status.QUARANTINED, "metadata": {AWAITS: "held_out"}}
    new = skill("new", sources=(Source(own.id),), **waiting)
    assert evolve(library([new], {}, own), admission="held_out").waiting == (new.item,)


def test_of_two_newcomers_that_say_the_same_one_comes_in() -> None:
    waiting = {"status": Status.QUARANTINED, "metadata": {AWAITS: "held_out"}}
    two = [skill("one", **waiting), skill("other", **waiting)]
    found = evolve(library(two, {}, washed("a", success=True)), admission="held_out")
    assert len(found.acts) == len(found.waiting) == 1


def test_a_hypothesis_waits_for_a_success_that_did_it() -> None:
    waiting = {"status": Status.QUARANTINED, "metadata": {AWAITS: "verification"}}
    one = skill("guess", **waiting)
    assert evolve(library([one], {}, washed("a", success=False)), admission="none").acts == ()
    act = only(evolve(library([one], {}, washed("a", success=True)), admission="none"))
    assert (act.kind, act.rule) == (ActKind.ADMIT, Why.VERIFIED)


def test_what_others_quarantined_is_left_to_them() -> None:
    imported = skill("imported", status=Status.QUARANTINED)
    found = evolve(library([imported], {}, washed("a", success=True)), admission="held_out")
    assert (found.acts, found.waiting) == ((), ())


def test_a_skill_that_helps_one_kind_of_task_and_harms_another_becomes_two() -> None:
    one = skill("a")
    runs = [washed(f"{n}", success=True, type="clean") for n in range(3)]
    runs += [washed(f"{n}", success=False, type="heat") for n in range(3)]
    act = only(evolve(library([one], {one.item: runs}), admission="none"))
    assert act.kind is ActKind.SPLIT
    assert act.now is not None
    assert act.apart is not None
    assert "type clean, not heat" in act.now.body.when
    assert (act.now.task_type, act.apart.task_type) == ("clean", "heat")
    assert (act.now.belief.successes, act.now.belief.failures) == (3, 0)
    assert (act.apart.belief.successes, act.apart.belief.failures) == (0, 3)


def test_a_skill_is_not_cut_where_one_side_is_hardly_known() -> None:
    one = skill("a")
    runs = [washed(f"{n}", success=True, type="clean") for n in range(3)]
    runs += [washed(f"{n}", success=False, type="heat") for n in range(2)]
    assert evolve(library([one], {one.item: runs}), admission="none").acts == ()


def test_what_harms_at_large_and_helps_somewhere_is_split_not_retired() -> None:
    one = skill("a")
    runs = [washed(f"{n}", success=True, type="clean") for n in range(3)]
    runs += [washed(f"{n}", success=False, type="heat") for n in range(60)]
    assert only(evolve(library([one], {one.item: runs}), admission="none")).kind is ActKind.SPLIT


def test_what_successes_did_before_a_failed_step_becomes_a_step() -> None:
    one = skill("a")
    right = [
        washed(f"{n}", success=True, actions=["take mug 1", "open tap", "clean mug 1 in sink"])
        for n in range(2)
    ]
    wrong = [washed(f"{n}", success=False, actions=["take mug 1", "wipe mug 1"]) for n in range(2)]
    act = only(evolve(library([one], {one.item: [*right, *wrong]}), admission="none"))
    assert act.kind is ActKind.REFINE
    assert act.now is not None
    assert [step.action for step in act.now.body.steps] == [
        "take {object}",
        "open tap",
        "clean {object} in sink",
    ]
    assert set(act.runs) == {found.id for found in (*wrong, *right)}


def test_where_successes_did_nothing_else_the_wrong_action_is_warned_of() -> None:
    one = skill("a")
    right = [washed("right", success=True)]
    wrong = [washed(f"{n}", success=False, actions=["take mug 1", "wipe mug 1"]) for n in range(2)]
    act = only(evolve(library([one], {one.item: [*right, *wrong]}), admission="none"))
    assert act.now is not None
    assert "do not “wipe {object} 1” instead" in act.now.body.text or (
        "do not “wipe {object}” instead" in act.now.body.text
    )
    assert act.now.body.steps == WASH.steps


def test_one_failure_refines_nothing() -> None:
    one = skill("a")
    runs = [washed("r", success=True), washed("w", success=False, actions=["take mug 1", "go"])]
    assert evolve(library([one], {one.item: runs}), admission="none").acts == ()


def test_past_the_cap_low_utility_and_few_uses_go_first() -> None:
    good, poor, unused = skill("good"), skill("poor"), skill("unused")
    used = {
        good.item: [washed(f"{n}", success=True) for n in range(4)],
        poor.item: [washed(f"{n}", success=n > 0) for n in range(2)],
    }
    found = evolve(library([good, poor, unused], used), admission="none", cap=2)
    assert [act.item for act in found.acts] == [unused.item]
    assert found.acts[0].rule is Why.CAP
    both = evolve(library([good, poor, unused], used), admission="none", cap=1)
    assert {act.item for act in both.acts} == {unused.item, poor.item}


def test_the_order_of_the_items_does_not_matter() -> None:
    items = [skill(name) for name in "abcd"]
    used = {items[0].item: [washed(f"{n}", success=False) for n in range(6)]}
    one = evolve(library(items, used), admission="none", cap=2)
    assert one == evolve(library(items[::-1], used), admission="none", cap=2)
