"""Open slots: things that a goal does not name and that differ from run to run, such as where an
object was found."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memserver.domain.items import Slot
from memserver_skills.slots import Slotted
from memserver_skills.words import FUNCTION_WORDS, SLOT, slot_type, template_words

HOLE = "*"
# A word of an action is open when no one value fills it in more than this share of the runs that
# take the action, and this share of all runs takes it.
DOMINANT = 0.75
TAKEN = 0.3
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
            Slot(name, slot_type(name), word)
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
