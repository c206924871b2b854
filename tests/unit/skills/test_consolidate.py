"""Consolidation plans: what is merged and archived, and what never is."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.domain.evidence import Belief
from memserver.domain.items import Entry, FactBody, Kind, SkillBody, SkillStep, Slot, Status
from memserver.domain.scope import Namespace
from memserver_skills import consolidate
from memserver_skills.consolidate import plan
from memserver_skills.near_duplicates import Shingles, overlap
from memserver_skills.plans import Action, ActionKind, Plan, Rated, Replacement, Rule
from tests.unit.skills.runs import NAMESPACE, T0, rated

NOW = T0 + timedelta(days=100)
LONG = "when the drawer is closed open it first and then look for the mug inside of it"
NEAR = "when the drawer is closed open it first and then look for the mug inside of the drawer"


def alike(_left: UUID, _right: UUID) -> float | None:
    return 1.0


def unlike(_left: UUID, _right: UUID) -> float | None:
    return 0.5


def unknown(_left: UUID, _right: UUID) -> float | None:
    return None


def planned(*items: Rated) -> Plan:
    return plan(items, near=alike, now=NOW)


def only(found: Plan) -> Action:
    [action] = found.actions
    return action


def skill(*steps: str, names: Sequence[str] = ("object", "place"), title: str = "put") -> Rated:
    body = SkillBody(
        when="put some thing somewhere else in the same old house as always, every time",
        steps=tuple(SkillStep(step) for step in steps),
        slots=tuple(Slot(name) for name in names),
    )
    return rated(body, kind=Kind.SKILL, title=title)


def test_equal_content_is_merged_into_the_best_believed() -> None:
    old, good = rated("same", day=0), rated("same", day=5, successes=4)

    action = only(planned(old, good))

    assert (action.kind, action.rule) == (ActionKind.MERGE, Rule.EXACT_DUPLICATE)
    assert (action.item, action.into) == (old.item, good.version)


def test_of_equally_believed_duplicates_the_oldest_stays() -> None:
    old, new = rated("same", day=0), rated("same", day=5)

    assert only(planned(new, old)).into == old.version


def test_almost_the_same_wording_is_merged() -> None:
    older, same = rated(LONG, day=0), rated(LONG.replace("look for", "search for"), day=1)

    action = only(planned(older, same))

    assert (action.rule, action.into) == (Rule.NEAR_DUPLICATE, older.version)
    assert action.reason == f"reads the same as {older.item}"


def test_of_near_duplicates_the_one_that_says_more_stays() -> None:
    less, more = rated(LONG, day=0), rated(NEAR, day=1)

    action = only(planned(less, more))

    assert (action.item, action.into) == (less.item, more.version)


def test_near_duplicates_that_contradict_each_other_both_stay_and_the_plan_says_why() -> None:
    yes, no = rated(LONG, day=0), rated(LONG.replace("open it", "do not open it"), day=1)

    found = planned(yes, no)

    assert found.actions == ()
    [refusal] = found.refused
    assert set(refusal.items) == {yes.item, no.item}
    assert "do not open it" in refusal.reasons[0]


def test_near_wording_is_not_enough_where_the_vectors_differ() -> None:
    items = [rated(LONG), rated(NEAR)]

    assert plan(items, near=unlike, now=NOW).actions == ()


def test_without_vectors_the_wording_must_be_nearer() -> None:
    assert len(plan([rated(LONG), rated(NEAR)], near=unknown, now=NOW).actions) == 1
    half = "when the drawer is closed open it first but never look under the sofa for the cat"
    assert plan([rated(LONG), rated(half)], near=unknown, now=NOW).actions == ()


@pytest.mark.parametrize(
    "other",
    [
        rated("same", kind=Kind.RULE),
        rated("same", namespace=Namespace(2, NAMESPACE.tenant, "other")),
        rated("same", namespace=Namespace(1, UUID(int=9), "demo")),
    ],
)
def test_nothing_is_merged_across_kinds_namespaces_or_tenants(other: Rated) -> None:
    assert planned(rated("same"), other).actions == ()


def test_items_that_are_not_active_are_left_alone() -> None:
    quarantined = rated("same", status=Status.QUARANTINED, name="q")

    found = planned(rated("same"), quarantined)

    assert found.actions == ()
    assert quarantined.item not in found.kept


def test_skills_are_one_only_if_their_steps_match_but_for_the_slots_names() -> None:
    first = skill("go to {place}", "move {object} to {place}")
    renamed = skill("go to {spot}", "move {thing} to {spot}", names=("thing", "spot"), title="puts")
    swapped = skill("go to {object}", "move {place} to {place}")
    longer = skill("go to {place}", "move {object} to {place}", "look")

    assert only(planned(first, renamed)).rule is Rule.NEAR_DUPLICATE
    assert planned(first, swapped).actions == ()
    assert planned(first, longer).actions == ()


def fact(value: str, day: int = 0, key: str = "colour", **kwargs: object) -> Rated:
    body = FactBody("the old mug on the desk in the room", key, value)
    return rated(body, kind=Kind.FACT, title="mug", valid_from=T0 + timedelta(days=day), **kwargs)  # type: ignore[arg-type]


def test_a_later_value_of_a_fact_takes_in_the_earlier() -> None:
    old, new = fact("red", day=0), fact("blue", day=1)

    action = only(planned(old, new))

    assert (action.kind, action.rule) == (ActionKind.MERGE, Rule.LATER_VALUE)
    assert (action.item, action.into) == (old.item, new.version)
    assert str(new.item) in action.reason


def test_facts_are_one_in_any_spelling_of_their_names() -> None:
    old = fact("red", day=0, key="Colour ")
    new = fact("blue", day=1, key="colour")

    assert only(planned(old, new)).into == new.version


def test_facts_of_one_time_with_other_values_both_stay() -> None:
    assert planned(fact("C"), fact("C++")).actions == ()


def test_facts_of_other_keys_both_stay() -> None:
    assert planned(fact("red", day=0), fact("red", day=1, key="wall colour")).actions == ()


def test_a_fact_whose_validity_has_ended_stays_for_questions_about_then() -> None:
    ended = fact("red", valid_to=NOW - timedelta(days=1))
    coming = fact("red", valid_to=NOW + timedelta(days=1), name="c", key="shape")

    assert planned(ended, coming).actions == ()


def test_a_text_that_another_contains_is_archived() -> None:
    short, whole = rated(LONG[:40]), rated(LONG + " and whatever else you are told to bring along")

    action = only(planned(short, whole))

    assert (action.item, action.rule) == (short.item, Rule.SUPERSEDED)


def test_a_contained_text_that_is_better_believed_stays() -> None:
    short = rated(LONG[:40], successes=5)
    whole = rated(LONG + " and whatever else you are told to bring along", failures=1)

    assert planned(short, whole).actions == ()


def test_a_shorter_skill_is_not_contained_in_a_longer_one() -> None:
    assert planned(skill("go to {place}"), skill("go to {place}", "look")).actions == ()


def test_what_never_helped_is_archived_and_what_was_hardly_tried_is_not() -> None:
    bad, new, good = (
        rated("always sing", failures=3),
        rated("never dance", failures=2),
        rated("open drawers", failures=3, successes=3),
    )

    action = only(planned(bad, new, good))

    assert (action.item, action.rule) == (bad.item, Rule.NEVER_USEFUL)
    assert "3 outcomes" in action.reason


def test_duplicates_are_judged_by_their_outcomes_together() -> None:
    halves = [rated("same", failures=2, name="a"), rated("same", failures=2, name="b")]

    found = planned(*halves)

    assert {action.rule for action in found.actions} == {Rule.NEVER_USEFUL}
    assert found.after == 0


def test_a_plan_survives_json() -> None:
    found = planned(rated("same", day=0), rated("same", day=1), rated("bad", failures=4))

    assert Plan.from_json(found.to_json()) == found
    assert (found.to_json()["before"], found.to_json()["after"]) == (3, 1)


WORDS = ["open", "the", "drawer", "mug", "closed", "first", "then", "look", "inside", "never"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@st.composite
def banks(draw: st.DrawFn) -> list[Rated]:
    made = []
    for name in range(draw(st.integers(1, 14))):
        text = draw(TEXTS)
        body, kind = draw(
            st.sampled_from(
                [
                    (text, Kind.NOTE),
                    (text, Kind.SUMMARY),
                    (FactBody("mug", "colour", text), Kind.FACT),
                    (SkillBody(text, (SkillStep("go to {place}"),)), Kind.SKILL),
                ]
            )
        )
        made.append(
            rated(
                body,  # type: ignore[arg-type]
                kind=kind,
                name=str(name),
                day=draw(st.integers(0, 2)),
                namespace=Namespace(draw(st.integers(1, 2)), NAMESPACE.tenant, "n"),
                successes=draw(st.integers(0, 3)),
                failures=draw(st.integers(0, 4)),
            )
        )
    return made


def carried_out(bank: Sequence[Rated], done: Plan) -> list[Rated]:
    """The bank afterwards: a merge's target has the belief of all that was merged into it."""
    gone = {action.item for action in done.actions}
    targets = {action.item: action.into for action in done.actions}
    new = [
        replaced_by(made, next(one for one in bank if one.item == made.replaces[0]))
        for made in done.replacements
    ]
    left = []
    for one in [*bank, *new]:
        if one.item in gone:
            continue
        belief = one.belief
        for other in bank:
            if targets.get(other.item) == one.version:
                belief = belief.plus(other.belief)
        left.append(replace(one, belief=belief))
    return left


def replaced_by(made: Replacement, first: Rated) -> Rated:
    """The new item, made at the time of the first of those that it replaces."""
    item = replace(first.entry.item, id=made.item, title=made.title, head=made.version)
    version = replace(
        first.entry.version,
        id=made.version,
        item_id=made.item,
        title=made.title,
        body=made.body,
        valid_from=made.valid_from,
    )
    return Rated(Entry(item, version), Belief(made.version))


@settings(max_examples=100, deadline=None)
@given(banks(), st.randoms(use_true_random=False))
def test_plans_are_sound_whatever_the_bank(bank: list[Rated], chance: random.Random) -> None:
    found = planned(*bank)
    by_item = {one.item: one for one in bank}
    by_version = {one.version: one for one in carried_out(bank, found)}
    new = {made.item for made in found.replacements}

    # Every item has one fate, and the order of the items does not matter.
    named = [action.item for action in found.actions] + list(found.kept)
    assert sorted(named) == sorted(by_item)
    shuffled = chance.sample(bank, len(bank))
    assert planned(*shuffled) == found

    # A merge goes to an item that stays, of the same kind and namespace.
    for action in found.actions:
        assert (action.into is None) == (action.kind is ActionKind.ARCHIVE)
        if action.into is not None:
            one, other = by_item[action.item].entry.item, by_version[action.into].entry.item
            assert other.id in found.kept or other.id in new
            assert (one.kind, one.namespace) == (other.kind, other.namespace)

    # Of items with one content, one stays, unless a rule archives what they say.
    archived = {action.item for action in found.actions if action.kind is ActionKind.ARCHIVE}
    for one in bank:
        same = [
            other.item
            for other in bank
            if other.entry.version.content_hash == one.entry.version.content_hash
            and other.entry.item.kind == one.entry.item.kind
            and other.entry.item.namespace == one.entry.item.namespace
        ]
        assert set(same) <= archived or not set(same) & archived

    # It never grows, and carried out again and again it comes to an end.
    assert found.after <= found.before
    rounds = 0
    while found.actions:
        bank = carried_out(bank, found)
        found = planned(*bank)
        rounds += 1
        assert rounds < 6


def test_the_belief_of_a_merged_item_is_not_lost_to_the_second_plan() -> None:
    bank = [rated("same", failures=3, name="a"), rated("same", successes=3, name="b")]
    found = planned(*bank)

    [left] = carried_out(bank, found)

    assert left.belief == Belief(left.version, successes=3, failures=3, outcomes=6)
    assert planned(left).actions == ()


def test_texts_that_share_little_are_hardly_ever_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted rather than timed: comparing all pairs would be two million comparisons here."""
    compared = 0

    def counting(left: Shingles, right: Shingles) -> float:
        nonlocal compared
        compared += 1
        return overlap(left, right)

    monkeypatch.setattr(consolidate, "overlap", counting)
    chance = random.Random(0)
    words = [" ".join(f"w{chance.randrange(5000)}" for _ in range(20)) for _ in range(2000)]
    bank = [rated(text, name=str(n)) for n, text in enumerate([*words, words[0] + " w1"])]

    found = planned(*bank)

    assert [action.rule for action in found.actions] == [Rule.NEAR_DUPLICATE]
    assert 0 < compared < 2 * len(bank)
