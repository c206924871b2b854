"""The verifier: what a replacement must say, must not make up, and must leave alone."""

import pytest

from memserver.domain.items import (
    Body,
    FactBody,
    HintBody,
    RuleBody,
    SkillBody,
    SkillStep,
    Slot,
    TextBody,
)
from memserver_skills.pieces import Piece
from memserver_skills.verify import Fault, Stated, Verdict, verify

LAMP = "When both the mug and the lamp are on the desk, take the mug before you use the lamp."


def note(text: str, name: str = "note") -> Piece:
    return Piece(name, "a title of its own", TextBody(text))


def judged(old: str, new: str) -> Verdict:
    return verify([note(old, "old")], [note(new, "new")])


def skill(*steps: str, goal: str = "", name: str = "skill", **more: object) -> Piece:
    slots = tuple(Slot(slot) for slot in more)
    values = {slot: tuple(value) for slot, value in more.items()}  # type: ignore[arg-type]
    body = SkillBody(when="", steps=tuple(map(SkillStep, steps)), slots=slots, goal=goal)
    return Piece(name, "a skill", body, values)


@pytest.mark.parametrize(
    "new",
    [
        LAMP,
        "If both the mug and the lamp are on the desk, pick up the mug prior to using the lamp!",
        "Take the mug before you use the lamp whenever both the mug and the lamp are on the desk.",
        "when both the mug and the lamp are on the desk take the mug before you utilize the lamp",
    ],
)
def test_the_same_in_other_words_passes(new: str) -> None:
    verdict = judged(LAMP, new)

    assert verdict.passes, verdict.reasons
    assert verdict.score == 1.0


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        ("Take the mug before you use the lamp.", Fault.OMITTED),
        (LAMP.replace("desk", "shelf"), Fault.INVENTED),
        (LAMP.replace("before", "after"), Fault.INVENTED),
        (LAMP.replace("both", "neither"), Fault.INVENTED),
        (LAMP.replace("take the mug", "do not take the mug"), Fault.INVENTED),
        (
            LAMP.replace("mug before you use the lamp", "lamp before you use the mug"),
            Fault.INVENTED,
        ),
        (LAMP + " The cat sleeps on the desk.", Fault.INVENTED),
        (LAMP[:-1] + " unless the desk is locked.", Fault.INVENTED),
        (LAMP.replace("mug before", "mug or the cup before"), Fault.INVENTED),
    ],
)
def test_one_word_that_matters_is_enough_to_be_refused(new: str, fault: Fault) -> None:
    verdict = judged(LAMP, new)

    assert not verdict.passes
    assert fault in {reason.fault for reason in verdict.reasons}
    assert verdict.score < 1


def test_numbers_are_compared_whether_they_are_written_out_or_not() -> None:
    assert judged("Open two of the 12 drawers.", "Open 2 of the twelve drawers.").passes
    assert not judged("Open two of the 12 drawers.", "Open 12 of the two drawers.").passes
    assert not judged("It costs 2.50 a day.", "It costs 2.5 a week.").passes


def test_the_order_of_what_is_to_be_done_is_part_of_it() -> None:
    said = "Open the door, put the cup in, and press start."
    assert judged(said, "Open the door, place the cup inside and press start.").passes
    assert not judged(said, "Open the door, press start, and put the cup in.").passes
    assert not judged("Wash it, then dry it.", "Dry it, then wash it.").passes


def test_sentences_that_stand_by_themselves_may_change_places() -> None:
    assert judged(
        "Cups are on shelves. Keys hang by doors.", "Keys hang by doors. Cups are on shelves."
    ).passes


def test_a_condition_belongs_to_what_it_was_said_of() -> None:
    rules = [
        Piece("a", "a", RuleBody("Open the window and wait.", "the room is full of smoke")),
        Piece("b", "a", RuleBody("Close the window and wait.", "the rain is coming in")),
    ]
    right = note(
        "When: the room is full of smoke: Open the window and wait.\n"
        "When: the rain is coming in: Close the window and wait."
    )
    wrong = note(
        "When: the rain is coming in: Open the window and wait.\n"
        "When: the room is full of smoke: Close the window and wait."
    )

    assert verify(rules, [Piece("new", "a", right.body)]).passes
    assert not verify(rules, [Piece("new", "a", wrong.body)]).passes


def test_what_the_rest_of_the_bank_says_need_not_be_said_again() -> None:
    gone, stays = note("Keys hang by doors, always on the left."), note("Keys hang by doors.")
    twin = note("Keys hang by doors, on the left.")

    assert not verify([gone], [], stays=Stated([stays])).passes
    assert verify([gone], [], stays=Stated([stays, twin])).passes


def test_what_the_rest_of_the_bank_says_is_no_source_of_the_replacement() -> None:
    old, elsewhere = note("Keys hang by doors."), note("Cups are on shelves.")

    verdict = verify(
        [old], [note("Keys hang by doors. Cups are on shelves.")], stays=Stated([elsewhere])
    )

    assert [reason.fault for reason in verdict.reasons] == [Fault.INVENTED]


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        (FactBody("ada ", "City", "Rome"), True),
        (FactBody("Ada", "city", "Paris"), False),
        (FactBody("Ada", "street", "Rome"), False),
        (TextBody("Ada: city"), False),
    ],
)
def test_facts_keep_entity_key_and_value(body: Body, passes: bool) -> None:
    old = Piece("old", "Ada", FactBody("Ada", "city", "Rome"))

    assert verify([old], [Piece("new", "Ada", body)]).passes is passes


def test_steps_must_all_be_there_in_their_order() -> None:
    steps = ("go to the sink", "wash the cup", "put the cup on the shelf")

    assert verify([skill(*steps)], [skill("navigate to the sink", *steps[1:])]).passes
    assert not verify([skill(*steps)], [skill(*steps[:2])]).passes
    assert not verify([skill(*steps)], [skill(steps[1], steps[0], steps[2])]).passes
    assert not verify([skill(*steps)], [skill(*steps, "sing")]).passes


def test_a_slot_stands_for_what_it_stood_for_and_for_nothing_else() -> None:
    old = [
        skill("take cup", "put cup on shelf", goal="put cup on shelf", name="cup"),
        skill("take key", "put key on shelf", goal="put key on shelf", name="key"),
    ]

    def general(*values: str) -> Piece:
        steps = ("take {object}", "put {object} on shelf")
        return skill(*steps, goal="put {object} on shelf", object=values)

    assert verify(old, [general("cup", "key")]).passes
    assert not verify(old, [general("cup")]).passes


def test_a_goal_that_no_source_has_is_made_up_however_many_others_are_not() -> None:
    old = [
        skill("take mug", "put mug in box", goal="pack the mug", name="one"),
        skill("take mug", "put mug in box", goal="put the mug away", name="two"),
    ]
    both = "pack the mug\nput the mug away"
    assert verify(old, [skill("take mug", "put mug in box", goal=both)]).passes

    verdict = verify(old, [skill("take mug", "put mug in box", goal=f"{both}\nsell the mug")])

    assert [str(reason) for reason in verdict.reasons] == ["invented: skill: goal: sell the mug"]


def test_two_slots_are_never_one() -> None:
    old = skill("take {a}", "put {b} on shelf", a=("cup",), b=("cup",))
    new = skill("take {a}", "put {a} on shelf", a=("cup",))

    assert not verify([old], [new]).passes


def test_hints_say_what_to_avoid_as_well() -> None:
    old = Piece("old", "t", HintBody("at the door", "knock twice", "kick it"))

    assert verify(
        [old], [Piece("new", "t", HintBody("at the door", "knock twice", "kick it"))]
    ).passes
    assert not verify([old], [Piece("new", "t", HintBody("at the door", "knock twice"))]).passes
    swapped = HintBody("at the door", "kick it", "knock twice")
    assert not verify([old], [Piece("new", "t", swapped)]).passes


def test_what_lies_outside_must_be_as_it_was() -> None:
    same = [note("Keys hang by doors.")]

    verdict = verify(same, same, before={"x": "1", "y": "2"}, after={"x": "1", "y": "3"})

    assert [(reason.fault, reason.item) for reason in verdict.reasons] == [(Fault.TOUCHED, "y")]
    assert verdict.preservation == 0.5


def test_a_reason_names_the_item_and_the_words() -> None:
    [reason] = verify(
        [note("Keys hang by doors.", "n1"), note("Cups break.", "n2")],
        [note("Keys hang by doors.")],
    ).reasons

    assert str(reason) == "omitted: n2: Cups break."


@pytest.mark.parametrize("text", ["钥匙在门边。", "→ ★", "Ключи висят у двери."])
def test_text_of_any_script_is_kept(text: str) -> None:
    assert verify([note(text)], [note(text)]).passes
    assert not verify([note(text)], [note("Keys.")]).passes
