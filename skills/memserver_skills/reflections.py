"""Distils reflections: what a finished task teaches, as {success patterns, mistakes, golden
workflow}.

After Skill-SD (self-distillation conditioned on skills): a teacher is shown the reflection on a
run, a student never. Here it is an item like others, and whoever trains picks it by its form."""

from collections.abc import Sequence
from dataclasses import dataclass

from memserver.domain.items import Form, Kind, SkillBody, SkillStep, Slot, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import by_task, can_be_followed
from memserver_skills.slots import Slotted
from memserver_skills.task_kinds import TaskKind, kinds_of_task
from memserver_skills.words import shorten

METHOD = "distill/reflections"

TITLE = 100
PATTERNS = 4
MISTAKES = 5
LONGEST_LINE = 600
"""Characters of a pattern or a mistake."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """`golden` is the run whose course is to be followed, None where none succeeded."""

    patterns: tuple[str, ...]
    mistakes: tuple[str, ...]
    golden: Slotted | None

    @property
    def workflow(self) -> tuple[str, ...]:
        return () if self.golden is None else self.golden.lines

    @property
    def text(self) -> str:
        parts = (("What worked", self.patterns), ("Mistakes", self.mistakes))
        return "\n".join(
            "\n".join([f"{name}:", *(f"- {line}" for line in lines)])
            for name, lines in parts
            if lines
        )


def distil_reflections(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One reflection a task whose runs are finished, by signature. Tasks whose runs say nothing,
    neither what was done nor what was wrong, have none."""
    made = []
    for kind in kinds_of_task(runs):
        for goal, members in by_task(kind.runs).items():
            reflection = reflect(members, kind)
            if reflection.golden is not None or reflection.mistakes:
                made.append(_propose(goal, members, reflection, kind))
    return sorted(made, key=lambda one: one.signature)


def reflect(runs: Sequence[Slotted], kind: TaskKind) -> Reflection:
    """On one finished run or on all of one task; `kind` holds them among their likes."""
    good = [run for run in runs if run.run.succeeded and can_be_followed(run)]
    bad = [run for run in runs if not run.run.succeeded]
    golden = min(good, default=None, key=_cheapest)
    return Reflection(
        patterns=() if golden is None else _patterns(golden, kind),
        mistakes=_mistakes(bad, golden, kind),
        golden=golden,
    )


def _cheapest(run: Slotted) -> tuple[float, int, int]:
    """The best score, then the fewest steps, then the oldest."""
    return (-run.score, len(run.lines), run.run.id.int)


def _patterns(golden: Slotted, kind: TaskKind) -> tuple[str, ...]:
    """What the golden run has in common with most successes of its kind; what failures leave out
    comes first, what raised the reward next. A run with no likes has its own last step to show."""
    held = set(golden.lines)
    raised = {line for line in rises(golden) if line in held}
    usual = [line for line in dict.fromkeys(kind.usual) if line in held]
    decisive = [line for line in kind.decisive if line in held]
    ranked = dict.fromkeys([*decisive, *(line for line in golden.lines if line in raised)])
    orders = [
        f"{order.first}, then {order.then}"
        for order in kind.orders
        if {order.first, order.then} <= held
    ]
    found = [*ranked, *orders] or usual or [f"it ended with: {golden.lines[-1]}"]
    return tuple(shorten(text, LONGEST_LINE) for text in found[:PATTERNS])


def rises(run: Slotted) -> list[str]:
    """The actions at which the run's reward rose above what it had been; none without rewards."""
    found, best = [], 0.0
    for line, place in zip(run.lines, run.positions, strict=True):
        reward = run.run.steps[place].reward
        if reward is not None and reward > best:
            found.append(line)
            best = reward
    return found


def _mistakes(bad: Sequence[Slotted], golden: Slotted | None, kind: TaskKind) -> tuple[str, ...]:
    """What the failures were told, what they did that no success of the kind does, and where they
    stopped on the golden way; a failure with nothing of it says at least how far it came."""
    found: list[str] = [
        text.replace("\nAvoid: ", "; avoid: ")
        for run in bad
        for text in run.run.mistakes
        if text.strip()
    ]
    for run in bad:
        found += [f"do not {line}" for line in dict.fromkeys(run.lines) if line in kind.wrong]
        if golden is not None and run.lines:
            missing = _left_out(run, golden)
            found += [f"it was left out to {missing}"] if missing else []
        elif run.lines:
            found.append(f"it went no further than: {run.lines[-1]}")
    return tuple(dict.fromkeys(shorten(text, LONGEST_LINE) for text in found))[:MISTAKES]


def _left_out(run: Slotted, golden: Slotted) -> str:
    """The first action of the golden way that the run has not, in order."""
    done = iter(run.lines)
    return next((line for line in golden.lines if line not in done), "")


def _propose(
    goal: str, runs: Sequence[Slotted], reflection: Reflection, kind: TaskKind
) -> Proposal:
    shown = reflection.golden or runs[0]
    golden = reflection.golden
    said = "\n".join([shown.template, reflection.text, *reflection.workflow])
    return Proposal(
        signature=signature(METHOD, kind.name, goal),
        kind=Kind.SKILL,
        title=shorten(f"Reflection: {shown.run.task.goal}", TITLE),
        body=SkillBody(
            when=shorten(shown.run.task.goal, TITLE),
            steps=() if golden is None else tuple(map(SkillStep, golden.lines)),
            slots=_named(shown.slots, said),
            goal=shown.template,
            form=Form.REFLECTION.value,
            text=reflection.text,
        ),
        method=METHOD,
        sources=tuple(
            sorted(
                (Source(run.run.id, run.positions if run is golden else ()) for run in runs),
                key=lambda source: source.trajectory_id,
            )
        ),
        task_type=kind.task_type,
        metadata={
            "success_patterns": list(reflection.patterns),
            "mistakes": list(reflection.mistakes),
            "golden_workflow": list(reflection.workflow),
            "successes": sum(run.run.succeeded for run in runs),
            "runs": len(runs),
        },
    )


def _named(slots: Sequence[Slot], text: str) -> tuple[Slot, ...]:
    return tuple(slot for slot in slots if "{" + slot.name + "}" in text)
