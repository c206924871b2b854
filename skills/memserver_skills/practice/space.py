"""What could be practised: for each kind of goal in each environment, every combination of the
values that were seen there in the role of its slots."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from memserver.domain.trajectories import Trajectory
from memserver_skills.goal_templates import WIDEST
from memserver_skills.grounding import bind, fill
from memserver_skills.slots import Slotted, slotted
from memserver_skills.tallies import by_frequency, commonest
from memserver_skills.words import SLOT, slot_type, words

# How many combinations of one kind of goal are looked at. Where there are more, as many are drawn.
LOOKED_AT = 512
MOST_OPTIONS = 500

Said = tuple[str, ...]
"""A goal as goals are compared: folded words, no determiners."""
Unit = tuple[str, ...]
"""A part of a combination: slots and their values, one after another."""


@dataclass(frozen=True, slots=True)
class Family:
    """Goals of one template in one environment. `text` is the template as it is mostly worded,
    `roles[n]` what the slot `slots[n]` is for, `options[n]` the values that it may take."""

    template: str
    environment: str | None
    text: str
    type: str | None
    slots: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]

    def bound(self, goal: str) -> dict[str, str] | None:
        """The values of the slots in a goal of this family, folded; None where it is of another."""
        widths = dict.fromkeys(self.slots, WIDEST)
        found = bind(self.template, goal, widths=widths)
        return None if found is None else {name: fold(value) for name, value in found.items()}

    def goal(self, values: Mapping[str, str]) -> str | None:
        """The goal with these values; None where it would not be read as it is meant."""
        said = fill(self.text, values)
        meant = {name: fold(value) for name, value in values.items()}
        return said if self.bound(said) == meant else None

    def combinations(self, random: Random) -> Iterator[tuple[str, ...]]:
        """All of them where they are not too many; otherwise every option at least once, and others
        by chance. No value stands in two slots."""
        size = 1
        for options in self.options:
            size *= len(options)
        drawn = self._all() if size <= LOOKED_AT else self._drawn(random)
        return (one for one in drawn if len({fold(value) for value in one}) == len(one))

    def _all(self) -> Iterator[tuple[str, ...]]:
        made: list[tuple[str, ...]] = [()]
        for options in self.options:
            made = [(*begun, value) for begun in made for value in options]
        return iter(made)

    def _drawn(self, random: Random) -> Iterator[tuple[str, ...]]:
        shuffled = [random.sample(options, len(options)) for options in self.options]
        seen = {
            tuple(options[place % len(options)] for options in shuffled)
            for place in range(max(map(len, shuffled)))
        }
        for _ in range(LOOKED_AT * 4):
            if len(seen) >= LOOKED_AT:
                break
            seen.add(tuple(random.choice(options) for options in self.options))
        return iter(sorted(seen))


@dataclass(frozen=True, slots=True)
class Space:
    """The families, and the runs that were read for them."""

    families: tuple[Family, ...]
    runs: tuple[Slotted, ...]


def read_space(runs: Sequence[Trajectory]) -> Space:
    """A goal that is about a person is nobody else's exercise: such runs are left out. The order of
    the runs does not matter."""
    read = slotted([run for run in runs if run.subject is None])
    by_role: dict[tuple[str | None, str], Counter[str]] = defaultdict(Counter)
    spelt: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[tuple[str, str], list[Slotted]] = defaultdict(list)
    environments: dict[str, str | None] = {}
    for run in read:
        environment = run.run.task.environment
        environments[environment or ""] = environment
        kinds[run.key, environment or ""].append(run)
        for slot in run.slots:
            by_role[environment, slot.type][fold(slot.example)] += 1
            spelt[fold(slot.example)][slot.example] += 1
    families = []
    for (template, name), members in sorted(kinds.items()):
        slots = tuple(dict.fromkeys(SLOT.findall(template)))
        if slots:
            known = [by_role[environments[name], slot_type(slot)] for slot in slots]
            options = tuple(
                tuple(commonest(spelt[value]) for value in _commonest(held)) for held in known
            )
            texts = Counter(run.template for run in members)
            types = Counter(run.run.task.type for run in members)
            families.append(
                Family(
                    template,
                    environments[name],
                    commonest(texts),
                    min(types, key=lambda one: (-types[one], one or "")),
                    slots,
                    options,
                )
            )
    return Space(tuple(family for family in families if all(family.options)), read)


def units(slots: Sequence[str], values: Sequence[str]) -> list[Unit]:
    """The parts that make a goal what it is: each value in its slot, and each two of them."""
    held = sorted((slot, fold(value)) for slot, value in zip(slots, values, strict=True))
    return [*held, *((*a, *b) for a, b in combinations(held, 2))]


def fold(value: str) -> str:
    return " ".join(value.casefold().split())


def said(goal: str) -> Said:
    return tuple(word.form for word in words(goal))


def _commonest(held: Counter[str]) -> list[str]:
    return sorted(by_frequency(held)[:MOST_OPTIONS])
