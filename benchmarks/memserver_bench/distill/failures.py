"""Whether what is retrieved names the step at which a held-out failure went wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memserver_bench.distill.runs import Run
from memserver_bench.distill.slotting import slotted, things
from memserver_skills.steps_score import normal_lines

_ADVICE = ("do: ", "avoid: ", "when: ", "- ")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A failure that left the good run of its task: `right` is what should have been done at that
    point, `done` what was done in its place (nothing where the run ended there), both as
    compared."""

    run: Run
    right: str
    done: str
    slots: Mapping[str, str]

    def is_named(self, text: str) -> bool:
        """Whether a line of the text is what should have been done, or what was."""
        said = set(slotted(_lines(text), self.slots))
        return self.right in said or bool(self.done and self.done in said)

    def is_warned_of(self, text: str) -> bool:
        """Whether it is named as what to do at a point, or to avoid: not as one of many steps."""
        told = [
            line.partition(": ")[2]
            for line in text.splitlines()
            if line.lower().startswith(("do: ", "avoid: "))
        ]
        parts = [part for line in told for part in line.split(" or ")]
        said = set(slotted(parts, self.slots))
        return self.right in said or bool(self.done and self.done in said)


def wrong_steps(failures: Sequence[Run], good: Sequence[Run], heads: frozenset[str]) -> list[Wrong]:
    """The failures of which the recorder stored where they were made to leave their good run."""
    by_task = {run.template: run for run in good if run.template}
    found = []
    for run in failures:
        sibling = by_task.get(run.template) if run.template else None
        at = run.perturbed_at
        if sibling is None or at is None or at >= len(sibling.actions):
            continue
        slots = things(sibling, heads)
        done = slotted(run.actions[at : at + 1], slots)
        [right] = slotted([sibling.actions[at]], slots)
        found.append(Wrong(run, right, next(iter(done), ""), slots))
    return found


def _lines(text: str) -> list[str]:
    lines = []
    for line in text.splitlines():
        plain = line.strip()
        for mark in _ADVICE:
            if plain.lower().startswith(mark):
                plain = plain[len(mark) :]
        lines += [plain, *plain.split(" or ")]
    return [line for line in normal_lines(lines) if line]
