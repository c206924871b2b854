"""The stream's truth by hand-worked writes, its measures by hand-made items; no server."""

import json
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from memserver_bench.stream import body_of, calls
from memserver_bench.stream_measure import Live, Names, answered, hit_item, holds, lost_facts
from memserver_bench.stream_script import (
    About,
    Act,
    Attribute,
    Form,
    Held,
    Templates,
    Truth,
    Write,
    entities,
    read_templates,
    script,
)

TEMPLATES = Templates(
    entities=("Ana", "Bob", "Chen"),
    attributes=(
        Attribute("office", ("B12", "C3", "A7"), True),
        Attribute("lunch", ("soup", "rice"), False),
    ),
    new=("{entity}'s {attribute} is {value}.",),
    update=("The {attribute} of {entity} has changed to {value}.",),
    retract=("Forget the {attribute} of {entity}.",),
    chat=("Thanks.",),
)
OFFICE, DESK = About("Ana", "office"), About("Ana Chen", "office")


def of(*writes: Write) -> Truth:
    truth = Truth()
    for write in writes:
        truth.take(write)
    return truth


def said(about: About, value: str | None, form: Form = Form.TEXT, act: Act = Act.NEW) -> Write:
    return Write(act, form, f"{about} {value}", about, value)


def test_an_update_replaces_the_value_and_keeps_the_former_one() -> None:
    truth = of(said(OFFICE, "B12"), said(OFFICE, "C3", Form.MESSAGES))
    assert truth.now == {OFFICE: Held("C3", Form.MESSAGES)}
    assert truth.former == {OFFICE: ["B12"]}


def test_a_restatement_changes_nothing_not_even_the_form_in_which_the_value_came() -> None:
    truth = of(said(OFFICE, "B12"), said(OFFICE, "B12", Form.FACTS))
    assert truth == of(said(OFFICE, "B12"))


def test_what_is_taken_back_is_true_no_longer_until_it_is_stated_again() -> None:
    gone = of(said(OFFICE, "B12"), said(OFFICE, None))
    assert gone.now == {}
    assert gone.retracted == {OFFICE: Form.TEXT}
    gone.take(said(OFFICE, "A7"))
    assert gone.now == {OFFICE: Held("A7", Form.TEXT)}
    assert gone.retracted == {}
    assert gone.former == {OFFICE: ["B12"]}


def test_talk_and_what_was_never_true_change_nothing() -> None:
    assert of(Write(Act.TALK, Form.TEXT, "Thanks."), said(OFFICE, None)) == Truth()


def test_names_are_made_of_the_files_own_and_none_occurs_twice() -> None:
    names = list(islice(entities(TEMPLATES), 500))
    assert names[:5] == ["Ana", "Bob", "Chen", "Ana Bob", "Ana Chen"]
    assert len(set(names)) == 500


def test_a_stream_holds_its_shares_and_the_same_seed_gives_the_same() -> None:
    writes = list(script(TEMPLATES, 4000, random.Random(3)))
    shares = {act: count / 4000 for act, count in Counter(w.act for w in writes).items()}
    assert shares[Act.RESTATED] == pytest.approx(0.60, abs=0.03)
    assert shares[Act.UPDATED] == pytest.approx(0.05, abs=0.015)
    assert shares[Act.RETRACTED] == pytest.approx(0.02, abs=0.01)
    assert writes == list(script(TEMPLATES, 4000, random.Random(3)))


def test_every_write_says_what_the_truth_takes_from_it() -> None:
    truth = Truth()
    for write in script(TEMPLATES, 2000, random.Random(5)):
        held = truth.now.get(write.about) if write.about else None
        match write.act:
            case Act.NEW:
                assert held is None
                assert write.about not in truth.former
            case Act.RESTATED:
                assert held is not None
                assert held.value == write.value
            case Act.UPDATED:
                assert held is not None
                assert held.value != write.value
            case Act.RETRACTED:
                assert held is not None
                assert write.value is None
                assert write.form is not Form.FACTS
        if write.about and write.value:
            assert write.about.entity in write.said
            assert write.value in write.said
        truth.take(write)


def test_a_file_without_a_part_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"entities": ["Ana"], "attributes": {}}))
    with pytest.raises(ValueError, match="attributes"):
        read_templates(file)


def test_the_server_is_told_the_words_and_never_which_template_they_came_of() -> None:
    spoken = Write(Act.NEW, Form.MESSAGES, "Ana's office is B12.", OFFICE, "B12", "Thanks.")
    assert body_of([spoken]) == {
        "namespace": "bench/stream",
        "messages": [
            {"speaker": "user", "text": "Ana's office is B12."},
            {"speaker": "assistant", "text": "Thanks."},
        ],
        "keep_turns": False,
    }
    as_fact = body_of([said(OFFICE, "B12", Form.FACTS)])
    assert as_fact["facts"] == [{"entity": "Ana", "key": "office", "value": "B12"}]


def test_what_is_sent_together_keeps_its_order_where_it_is_about_one_thing() -> None:
    lane = list(script(TEMPLATES, 1500, random.Random(7)))
    sent = [write for call in calls(lane) for write in call]
    assert Counter(sent) == Counter(lane)
    for about in {write.about for write in lane} - {None}:
        assert [w for w in sent if w.about == about] == [w for w in lane if w.about == about]
    assert all(len({write.form for write in call}) == 1 for call in calls(lane))


def test_a_value_is_lost_where_no_live_item_states_it() -> None:
    truth = of(said(OFFICE, "B12"), said(DESK, "C3"))
    fact = Live("Ana · office: b12", About("ana", "Office"), "b12")
    assert lost_facts(truth, [fact]) == [DESK]
    note = Live("I hear the office of Ana Chen might be C3 now.")
    assert lost_facts(truth, [fact, note]) == []
    assert lost_facts(truth, [note]) == [OFFICE]


def test_an_answer_is_right_where_the_value_comes_before_any_other() -> None:
    truth = of(said(OFFICE, "B12"), said(OFFICE, "C3"))
    names = Names(["Ana", "Ana Chen"])
    now, old = Live("", OFFICE, "C3"), Live("", OFFICE, "B12")
    other = Live("", DESK, "B12")
    assert answered(OFFICE, "C3", [other, now, old], truth, names)
    assert not answered(OFFICE, "C3", [old, now], truth, names)
    assert not answered(OFFICE, "C3", [other], truth, names)
    assert not answered(OFFICE, "C3", [Live("Ana's office is B12."), now], truth, names)


def test_what_was_taken_back_must_not_come_back() -> None:
    truth = of(said(OFFICE, "B12"), said(OFFICE, None))
    names = Names(["Ana", "Ana Chen"])
    assert answered(OFFICE, None, [Live("", DESK, "B12")], truth, names)
    assert not answered(OFFICE, None, [Live("", OFFICE, "B12")], truth, names)
    assert answered(OFFICE, None, [Live("Forget the office of Ana.")], truth, names)


def test_a_hit_is_read_from_the_words_of_the_reply() -> None:
    hit = {"kind": "fact", "text": "Ana · office\nAna · office: B12: east"}
    assert hit_item(hit) == Live(hit["text"], OFFICE, "B12: east")
    assert hit_item({"kind": "note", "text": "x · y: z"}).about is None


def test_words_are_found_whole() -> None:
    assert holds("Ana's Office is B12.", "office")
    assert not holds("Mariana's office", "Ana")
    assert not holds("10 mg", "0 mg")
