"""What rules leave is offered to whoever words it, and nothing of what is said is believed."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from memserver.domain.items import Kind, RuleBody, SkillBody, SkillStep, TextBody
from memserver_skills.consolidate import plan
from memserver_skills.drafts import Draft, Judge, Judged, Proposal
from memserver_skills.grounding import ground
from memserver_skills.inspecting import Inspecting
from memserver_skills.offers import MOST_MEMBERS
from memserver_skills.plans import By, NearDuplicates, Offered, Plan, Rated, Rule, Settings
from tests.unit.skills.runs import T0, rated

NOW = T0 + timedelta(days=100)
SLOWLY = "Open the drawer of the desk slowly and take the mug that is in it."
BLUE = "Open the drawer of the desk and take the blue mug that is in it."
BOTH = "Open the drawer of the desk slowly. Take the blue mug that is in it."
BELL = "Ring the bell at the gate."
GATE = "Whoever comes late in the evening to the gate has to ring the bell there."


def close(_left: UUID, _right: UUID) -> float | None:
    return 0.9


class Author:
    """Gives its drafts for each region in turn, made of the region's items, and notes what it
    was asked and what came of it. Looks around first as often as it is told."""

    def __init__(self, *drafts: Draft, looks: int = 0, ends: bool = False) -> None:
        self.drafts = drafts
        self.looks = looks
        self.ends = ends
        self.regions: list[tuple[UUID, ...]] = []
        self.verdicts: list[Judged] = []

    def wants(self, region: Sequence[Rated]) -> bool:
        return True

    def propose(self, region: Sequence[Rated], inspecting: Inspecting, *, judge: Judge) -> Proposal:
        self.regions.append(tuple(one.item for one in region))
        for _ in range(self.looks):
            inspecting.search("drawer")
        self.verdicts.append(judge(self.drafts))
        return Proposal(self.drafts, ends=self.ends)


def planned(author: Author, *items: Rated, **settings: int) -> Plan:
    return plan(items, near=close, now=NOW, settings=Settings(**settings), proposer=author)


def near_only(*alike: Rated) -> NearDuplicates:
    held = {one.version for one in alike}
    return lambda left, right: 0.9 if {left, right} <= held else 0.1


def note(text: str, **more: object) -> Rated:
    return rated(TextBody(text), kind=Kind.NOTE, title="desk", **more)  # type: ignore[arg-type]


def skill(goal: str, *steps: str, expect: str = "") -> Rated:
    made = tuple(SkillStep(step, expect) for step in steps)
    return rated(SkillBody("to do it", made, goal=goal), kind=Kind.SKILL, title=goal)


def merge(*items: Rated, **said: object) -> Draft:
    kind = items[0].entry.item.kind.value
    return Draft(tuple(one.item for one in items), kind, **said)  # type: ignore[arg-type]


def test_two_that_say_something_more_each_are_one_where_somebody_words_it() -> None:
    slowly, blue = note(SLOWLY), note(BLUE, day=1)
    assert plan([slowly, blue], near=close, now=NOW).actions == ()
    author = Author(merge(slowly, blue, text=BOTH))

    found = planned(author, slowly, blue)

    [made] = found.replacements
    assert (made.rule, made.body, made.kind) == (Rule.WORDED, TextBody(BOTH), Kind.NOTE)
    assert set(made.replaces) == {slowly.item, blue.item}
    assert {action.into for action in found.actions} == {made.version}
    assert found.offered == (Offered((slowly.item, blue.item), By.MODEL),)
    assert (found.before, found.after, found.refused) == (2, 1, ())
    assert Plan.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOTH + " Lock the drawer.", "invented: replacement: Lock the drawer."),
        ("Open the drawer of the desk slowly.", "omitted"),
        (BOTH.replace("Take", "Do not take"), "invented"),
        ("", "omitted"),
    ],
)
def test_what_loses_or_makes_up_something_is_not_taken_and_says_why(text: str, why: str) -> None:
    slowly, blue = note(SLOWLY), note(BLUE, day=1)
    author = Author(merge(slowly, blue, text=text))

    found = planned(author, slowly, blue)

    assert (found.actions, found.replacements) == ((), ())
    [told] = found.offered
    assert told.by is By.RULES
    assert any(why in reason for reason in told.reasons)
    assert author.verdicts[0].reasons == told.reasons


def test_paraphrases_that_share_few_words_are_offered_and_the_rules_never_see_them() -> None:
    bell, gate, other = note(BELL), note(GATE, day=1), note("The cat sleeps on the sofa.", day=2)
    author = Author()

    near = near_only(bell, gate)
    found = plan([bell, gate, other], near=near, now=NOW, proposer=author)

    assert author.regions == [(bell.item, gate.item)]
    assert found.looks.search > 0
    assert found.offered[0].by is By.RULES
    assert found.actions == ()


def test_the_vectors_must_be_near() -> None:
    author = Author()
    plan([note(BELL), note(GATE)], near=lambda *_: 0.5, now=NOW, proposer=author)
    plan([note(BELL), note(GATE)], near=lambda *_: None, now=NOW, proposer=author)

    assert author.regions == []


def test_items_of_two_subjects_or_kinds_are_never_offered_together() -> None:
    author = Author()
    rule = rated(RuleBody(GATE), kind=Kind.RULE, title="desk", day=1)

    planned(author, note(BELL), rule)

    assert author.regions == []


def test_what_an_item_stands_for_already_must_be_said_as_well_and_goes_along() -> None:
    slowly, again, blue = note(SLOWLY), note(SLOWLY, day=1), note(BLUE, day=2)

    found = planned(Author(merge(slowly, blue, text=BOTH)), slowly, again, blue)

    [made] = found.replacements
    assert set(made.replaces) == {slowly.item, again.item, blue.item}
    assert {action.into for action in found.actions} == {made.version}
    assert len(found.actions) == 3


def test_skills_whose_goals_differ_share_one_procedure() -> None:
    steps = ("go to shelf", "take mug from shelf", "put mug in box")
    tidy, pack = skill("tidy the shelf", *steps), skill("pack the mug", *steps)
    goals = "tidy the shelf\npack the mug"

    [made] = planned(Author(merge(tidy, pack, goal=goals, steps=steps)), tidy, pack).replacements

    assert isinstance(made.body, SkillBody)
    assert (made.body.goal, made.body.slots) == (goals, ())
    assert made.body.when == made.title == "tidy the shelf"


def box(thing: str) -> Rated:
    steps = ("go to shelf", f"take {thing} from shelf", f"put {thing} in box")
    return skill(f"put {thing} in box", *steps)


STEPS = ("go to shelf", "take {object} from shelf", "put {object} in box")


def test_what_a_slot_stands_for_may_have_several_words() -> None:
    mug, soap = box("mug"), box("bar soap")
    assert plan([mug, soap], near=close, now=NOW).actions == ()
    draft = merge(mug, soap, goal="put {object} in box", steps=STEPS)

    [made] = planned(Author(draft), mug, soap).replacements

    assert isinstance(made.body, SkillBody)
    assert made.values == {"object": ("bar soap", "mug")}
    assert [(slot.name, slot.example) for slot in made.body.slots] == [("object", "bar soap")]
    for thing in ("mug", "bar soap"):
        fitted = ground(made.body, f"put {thing} in box")
        assert fitted is not None
        assert fitted.steps[1].action == f"take {thing} from shelf"


def test_a_slot_that_a_goal_does_not_name_would_show_what_belongs_to_another_goal() -> None:
    steps = ("go to {x}", "take {y} from {x}", "put {y} in box")
    mug = skill("tidy the shelf", "go to shelf", "take mug from shelf", "put mug in box")
    soap = skill("pack the soap", "go to sink", "take soap from sink", "put soap in box")
    draft = merge(mug, soap, goal="tidy the shelf\npack the soap", steps=steps)

    found = planned(Author(draft), mug, soap)

    assert found.actions == ()
    assert found.offered[0].reasons == (
        "omitted: what {x} stands for where the goal is: tidy the shelf",
    )


def test_of_a_skill_nothing_is_taken_from_a_draft_that_no_source_has() -> None:
    mug, soap = box("mug"), box("bar soap")

    def told(goal: str = "put {object} in box", steps: Sequence[str] = STEPS) -> str:
        found = planned(Author(merge(mug, soap, goal=goal, steps=tuple(steps))), mug, soap)
        assert found.actions == ()
        return "; ".join(found.offered[0].reasons)

    assert "goal: sell {object}" in told("put {object} in box\nsell {object}")
    assert "omitted" in told("put mug in box")
    assert "omitted" in told(steps=(*STEPS[:2], "put {object} in bin"))
    assert "as many steps" in told(steps=(*STEPS, "close the box"))
    many = ("go {a}{b}{c}{d}", "take {e} from {f}", "put {g} in box")
    assert "more than 6 slots" in told(steps=many)
    assert "less than half" in told(steps=("{all}", "{the}", "{steps}"))


def test_what_is_expected_of_a_step_is_kept_or_nothing_is_done() -> None:
    steps = ("go to shelf", "take mug from shelf", "put mug in box")
    one, two = skill("tidy up", *steps, expect="done"), skill("pack", *steps, expect="done")
    draft = merge(one, two, goal="tidy up\npack", steps=steps)
    [made] = planned(Author(draft), one, two).replacements
    assert isinstance(made.body, SkillBody)
    assert {step.expect for step in made.body.steps} == {"done"}

    two = skill("pack", *steps, expect="fails")
    found = planned(Author(merge(one, two, goal="tidy up\npack", steps=steps)), one, two)
    assert "what is expected of step 1" in found.offered[0].reasons[0]


def test_a_draft_may_name_only_what_it_was_offered_and_each_item_once() -> None:
    slowly, blue, far = note(SLOWLY), note(BLUE, day=1), note("The cat sleeps.", day=2)
    good = merge(slowly, blue, text=BOTH)
    author = Author(
        merge(slowly, far, text=BOTH),
        merge(slowly, text=BOTH),
        Draft((slowly.item, blue.item), "rule", text=BOTH),
        good,
        good,
    )

    near = near_only(slowly, blue)
    found = plan([slowly, blue, far], near=near, now=NOW, proposer=author)

    assert len(found.replacements) == 1
    [told] = found.offered
    assert told.by is By.MODEL
    assert len(told.reasons) == 4


def test_looks_are_counted_and_where_they_are_spent_the_rules_result_stands() -> None:
    slowly, blue = note(SLOWLY), note(BLUE, day=1)
    same, again = note(GATE, day=2), note(GATE, day=3)
    author = Author(merge(slowly, blue, text=BOTH), looks=100)

    found = planned(author, slowly, blue, same, again, inspections=12)

    assert [action.rule for action in found.actions] == [Rule.EXACT_DUPLICATE]
    assert found.looks.search + found.looks.inspect == found.looks.budget == 12
    [told] = found.offered
    assert (told.by, told.reasons) == (By.RULES, ("the 12 looks at the bank are spent",))


def test_no_more_regions_are_offered_than_may_be_and_none_after_the_end() -> None:
    things = ("lamp", "towel", "letter")
    items = [
        note(said.format(thing), day=day)
        for day, thing in enumerate(things)
        for said in ("Put the {} away.", "Whoever has a {} at night shall put it back.")
    ]
    about = {one.version: one.entry.item.created_at for one in items}

    def asked(author: Author, **settings: int) -> int:
        plan(
            items,
            near=lambda left, right: 0.9 if about[left] == about[right] else 0.1,
            now=NOW,
            settings=Settings(**settings),
            proposer=author,
        )
        return len(author.regions)

    assert (asked(Author()), asked(Author(), offered=2), asked(Author(ends=True))) == (3, 2, 1)


def test_a_region_has_no_more_members_than_can_be_read_together() -> None:
    author = Author()

    planned(author, *(note(f"{thing}. {GATE}", day=n) for n, thing in enumerate("abcdefghij")))

    assert max(map(len, author.regions)) == MOST_MEMBERS
