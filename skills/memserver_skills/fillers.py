"""Open slots: things that a goal does not name and that differ from run to run, such as where
an object was found, with what is known about which value goes with which object."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memserver.domain.items import Slot
from memserver_skills.slots import Slotted
from memserver_skills.words import FUNCTION_WORDS, SLOT, template_words

HOLE = "*"
# A word of an action is open when no one value fills it in more than this share of the runs that
# take the action, and this share of all runs takes it.
DOMINANT = 0.75
TAKEN = 0.3
PRIOR = 3.0
CANDIDATES = 3
_ROLES = {"from": "source", "off": "source", "with": "tool", "using": "tool"}


def open_slots(runs: Sequence[Slotted], heads: frozenset[str]) -> tuple[Slotted, ...]:
    """The runs of one group with their open words as slots, in the order given."""
    frames = _open_frames(runs, heads)
    return tuple(_open(run, frames, heads) for run in runs)


def _open_frames(runs: Sequence[Slotted], heads: frozenset[str]) -> frozenset[str]:
    filled: dict[str, Counter[str]] = defaultdict(Counter)
    takers: Counter[str] = Counter()
    for run in runs:
        held = {pair for line in run.lines for pair in _frames(line, heads)}
        for frame, word in sorted(held):
            filled[frame][word] += 1
        takers.update({frame for frame, _ in held})
    return frozenset(
        frame
        for frame, words in filled.items()
        if takers[frame] >= max(2, TAKEN * len(runs))
        and max(words.values()) <= DOMINANT * words.total()
    )


def _frames(line: str, heads: frozenset[str]) -> list[tuple[str, str]]:
    """The frames of an action that names an object of the goal, each with the word left out: a
    slot or a word that could be a thing. The goal's first object in it is never left out."""
    spoken = template_words(line)
    if not any(word.slot for word in spoken):
        return []
    frames = []
    anchored = False
    for word in spoken[1:]:
        if word.slot and not anchored:
            anchored = True
            continue
        if word.slot or not (
            word.form in FUNCTION_WORDS or word.form in heads or word.form.isdigit()
        ):
            frames.append(
                (line[: word.start] + HOLE + line[word.end :], line[word.start : word.end])
            )
    return frames


def _open(run: Slotted, frames: frozenset[str], heads: frozenset[str]) -> Slotted:
    names: dict[str, str] = {}
    taken = {slot.name for slot in run.slots}
    for line in run.lines:
        for frame, word in _frames(line, heads):
            if frame in frames and not SLOT.fullmatch(word) and word not in names:
                names[word] = _name(frame, taken)
                taken.add(names[word])
    if not names:
        return run
    return replace(
        run,
        lines=tuple(_rename(line, names) for line in run.lines),
        after=tuple(_rename(seen, names) for seen in run.after),
        slots=run.slots
        + tuple(
            Slot(name, name.rstrip("0123456789").rstrip("_"), word)
            for word, name in sorted(names.items(), key=lambda pair: pair[1])
        ),
    )


def _name(frame: str, taken: set[str]) -> str:
    before = template_words(frame[: frame.index(HOLE)])
    role = _ROLES.get(before[-1].form, "place") if before else "place"
    number = 1
    while (name := role if number == 1 else f"{role}_{number}") in taken:
        number += 1
    return name


def _rename(line: str, names: Mapping[str, str]) -> str:
    out, position = [], 0
    for word in template_words(line):
        text = line[word.start : word.end]
        if text in names:
            out.append(line[position : word.start] + "{" + names[text] + "}")
            position = word.end
    return "".join(out) + line[position:]


class Habits:
    """Which word stood where with which object, over all runs: what fills an open slot when the
    goal's object is known from other tasks."""

    def __init__(self, runs: Sequence[Slotted], heads: frozenset[str]) -> None:
        self._heads = heads
        self._seen: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for run in runs:
            for line in run.lines:
                for frame, word in _frames(line, heads):
                    anchor = SLOT.search(frame)
                    if anchor and not SLOT.fullmatch(word):
                        value = run.values[anchor.group(1)].casefold()
                        self._seen[frame][value][word] += 1

    def fillers(
        self, opened: Sequence[Slotted], goal_slots: frozenset[str]
    ) -> dict[str, dict[str, list[str]]]:
        """For the open slots of a group's runs the likeliest values, best first: in general
        (under the empty word), and with each object for which it is something else.

        What was seen with an object is weighed against what is usual in the group: an object
        seen once says little (a Dirichlet prior of weight `PRIOR`).
        """
        frames = self._frames_of(opened)
        usual: dict[str, Counter[str]] = defaultdict(Counter)
        for run in opened:
            for slot in run.slots:
                usual[slot.name][slot.example] += 1
        table: dict[str, dict[str, list[str]]] = {}
        for name, held in sorted(frames.items()):
            if name in goal_slots:
                continue
            by_value: dict[str, Counter[str]] = defaultdict(Counter)
            for frame in sorted(held):
                for value, seen in self._seen[frame].items():
                    by_value[value].update(seen)
            prior = {word: PRIOR * n / usual[name].total() for word, n in usual[name].items()}
            general = likeliest(prior)
            table[name] = {"": general}
            for value, counts in sorted(by_value.items()):
                known = likeliest(
                    {word: counts[word] + prior.get(word, 0.0) for word in {*counts, *prior}}
                )
                if known != general:
                    table[name][value] = known
        return table

    def _frames_of(self, opened: Sequence[Slotted]) -> dict[str, set[str]]:
        frames: dict[str, set[str]] = defaultdict(set)
        for run in opened:
            for line in run.lines:
                for frame, word in _frames(line, self._heads):
                    slot = SLOT.fullmatch(word)
                    if slot and frame in self._seen:
                        frames[slot.group(1)].add(frame)
        return frames


def likeliest(weights: Mapping[str, float]) -> list[str]:
    """The best few, best first."""
    return sorted(weights, key=lambda word: (-weights[word], word))[:CANDIDATES]
