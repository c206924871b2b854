"""What goes past a bound, and what does not; regions, looks, and the past of facts."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from memserver.domain.evidence import Belief
from memserver.domain.forgetting import decay, keeping
from memserver.domain.items import FactBody, Kind, Turn
from memserver_skills.evicting import evictions
from memserver_skills.facts import history
from memserver_skills.groups import Group
from memserver_skills.inspecting import BudgetSpent, Inspecting
from memserver_skills.plans import Rated, Rule
from memserver_skills.regions import regions
from tests.unit.skills.runs import T0, rated

NOW = T0 + timedelta(days=100)


def with_metadata(one: Rated, **metadata: object) -> Rated:
    version = replace(one.entry.version, metadata=metadata)
    return replace(one, entry=replace(one.entry, version=version))


def test_standing_halves_with_every_half_life_and_never_reaches_nothing() -> None:
    assert decay(NOW, now=NOW, half_life_days=10) == 1
    assert decay(NOW - timedelta(days=10), now=NOW, half_life_days=10) == pytest.approx(0.5)
    assert decay(NOW - timedelta(days=30), now=NOW, half_life_days=10) == pytest.approx(0.125)
    assert decay(NOW + timedelta(days=1), now=NOW, half_life_days=10) == 1
    assert decay(T0 - timedelta(days=100_000), now=NOW, half_life_days=0.01) > 0


def test_what_helps_and_is_used_is_worth_more() -> None:
    def worth(**belief: object) -> float:
        return keeping(Belief(UUID(int=1), **belief), T0, now=NOW, half_life_days=30)  # type: ignore[arg-type]

    helps = worth(successes=3, outcomes=3, last=NOW)
    assert helps > worth(failures=3, outcomes=3, last=NOW) > 0
    assert helps > worth(successes=3, outcomes=3, last=T0)
    assert worth(mentions=4, last=NOW) > worth(mentions=1, last=NOW) > worth()


def test_the_least_worth_keeping_go_and_no_more_than_must() -> None:
    bank = [rated(f"note {n}", day=n, name=str(n)) for n in range(10)]
    helps = rated("helps", day=0, successes=5)

    found = evictions([*bank, helps], most=8, now=NOW, half_life_days=None)

    assert [one.item for one in found.gone] == [one.item for one in bank[:3]]
    assert found.short == 0
    assert evictions(bank, most=10, now=NOW, half_life_days=None).gone == ()


def test_what_a_live_item_names_as_its_source_stays_as_long_as_that_does() -> None:
    source = rated("source", day=0)
    summary = with_metadata(rated("summary", day=50, successes=5), of=[str(source.item)])
    others = [rated(f"other {n}", day=n + 1, name=str(n)) for n in range(3)]

    found = evictions([source, summary, *others], most=3, now=NOW, half_life_days=None)

    assert {one.item for one in found.gone} == {others[0].item, others[1].item}
    # With the summary itself gone, its source may go as well.
    nothing = evictions([source, summary, *others], most=1, now=NOW, half_life_days=None)
    assert len(nothing.gone) == 4


def test_a_turn_stays_as_long_as_a_fact_that_was_drawn_from_it() -> None:
    turn = Turn(UUID(int=5), 0, "Ada")

    def said(one: Rated) -> Rated:
        version = replace(one.entry.version, turn=turn)
        return replace(one, entry=replace(one.entry, version=version))

    note = said(rated("I live in Rome", day=0))
    fact = said(rated(FactBody("Ada", "city", "Rome"), kind=Kind.FACT, day=1, successes=2))
    other = rated("other", day=5)

    found = evictions([note, fact, other], most=2, now=NOW, half_life_days=None)

    assert [one.item for one in found.gone] == [other.item]


def test_items_that_name_each_other_are_both_kept_and_the_bound_is_said_to_be_missed() -> None:
    one, other = rated("one"), rated("other")
    bank = [with_metadata(one, of=str(other.item)), with_metadata(other, of=str(one.item))]

    found = evictions(bank, most=1, now=NOW, half_life_days=None)

    assert (found.gone, found.short) == ((), 1)


def test_regions_with_more_to_gain_come_first_and_one_member_is_none() -> None:
    def group(*members: Rated) -> Group:
        first, *others = members
        made = Group(first, first.belief)
        for one in others:
            made.absorb(Group(one, one.belief), Rule.NEAR_DUPLICATE, "near")
        return made

    text = "go to the shelf and take the cup from it"
    two = group(*(rated(text, name=str(n)) for n in range(2)))
    four = group(*(rated(text, name=f"f{n}") for n in range(4)))
    used = group(*(rated(text, name=f"u{n}", successes=9) for n in range(2)))
    new = group(*(rated(text, name=f"n{n}", day=100) for n in range(2)))
    alone = group(rated(text, name="alone"))

    found = regions([alone, used, new, two, four], now=NOW)

    assert [region.group for region in found][:2] == [four, two]
    assert len(found) == 4
    assert found[0].redundancy == 1


def test_every_look_counts_and_none_is_had_past_the_budget() -> None:
    bank = [rated(f"the {word} hangs by the door", name=word) for word in ("key", "lamp")]
    inspecting = Inspecting(bank, trace=lambda _: None, budget=3)

    [hit] = inspecting.search("where does the lamp", k=1)
    assert hit.item == bank[1].item
    assert inspecting.inspect(hit.item) is bank[1]
    assert inspecting.trace(UUID(int=1)) is None
    with pytest.raises(BudgetSpent):
        inspecting.inspect(hit.item)
    looks = inspecting.looks
    assert (looks.search, looks.inspect, looks.trace, looks.budget) == (1, 1, 1, 3)


def test_a_facts_past_is_woven_in_with_the_time_until_which_each_value_held() -> None:
    def value(said: str, day: int) -> Rated:
        body = FactBody("Ada", "city", said)
        return rated(body, kind=Kind.FACT, day=day, name=said)

    paris, rome, oslo = value("Paris", 0), value("Rome", 10), value("Oslo", 20)

    again = replace(
        paris.entry.version,
        id=UUID(int=3),
        body=FactBody("Ada", "city", "Rome"),
        valid_from=T0 + timedelta(days=15),
    )

    woven = history(
        [rome.entry.version, replace(oslo.entry.version, number=2)],
        [paris.entry.version, again],
        now=NOW,
    )

    [before] = woven.added
    assert before.body == FactBody("Ada", "city", "Paris")
    assert (before.valid_to, before.closed_at) == (T0 + timedelta(days=10), NOW)
    # What says the same as what held then is no new past.
    assert [version.body for version in woven.changed] == [rome.entry.version.body]
    assert woven.changed[0].valid_to == T0 + timedelta(days=20)
