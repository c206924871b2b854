"""Distils demonstrations: for each kind of task the one best run, with what each step achieved.

After LearnAct (Liu et al. 2025, "LearnAct: Few-Shot Mobile GUI Agent with a Unified Demonstration
Benchmark"): knowledge of {steps, semantics} drawn from demonstrations, found again for tasks that
were never shown. There a model says what a step achieved; here it is what is newly seen."""

import re
from collections.abc import Sequence

from memserver.domain.items import Form, Kind, SkillBody, SkillStep, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.failed_actions import did_nothing, failed_answers, seen_after
from memserver_skills.proposals import Proposal
from memserver_skills.run_groups import known_as, shared_type, solved_by_kind
from memserver_skills.sequences import Reference, mean_agreement, spread
from memserver_skills.slots import Slotted, put_in_slots, slotted
from memserver_skills.words import SLOT, one_line, shorten, stems

METHOD = "distill/demonstrations"

TITLE = 100
SEEN = 160
REFERENCES = 32

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|;\s*|\n+")


def distil_demonstrations(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One demonstration per kind of task that was solved."""
    failed = frozenset(failed_answers(runs))
    made = [_propose(members, failed) for members in solved_by_kind(slotted(runs)).values()]
    return sorted(made, key=lambda one: one.signature)


def best_of(runs: Sequence[Slotted]) -> Slotted:
    """The run with the best score; of those the one that agrees best with all, then the shorter
    one, then the older one."""
    references = [Reference(lines) for lines in spread([run.lines for run in runs], REFERENCES)]
    return min(
        runs,
        key=lambda run: (
            -run.score,
            -mean_agreement(run.lines, references),
            len(run.lines),
            run.run.created_at,
            run.run.id.int,
        ),
    )


def achieved(before: str, after: str) -> str:
    """What is seen after an action and was not before it: the sentences that are new."""
    known = {one_line(part).casefold() for part in _SENTENCE.split(before)}
    news = [
        one_line(part)
        for part in _SENTENCE.split(after)
        if part.strip() and one_line(part).casefold() not in known
    ]
    return shorten(" ".join(news), SEEN)


def _propose(members: Sequence[Slotted], failed: frozenset[str]) -> Proposal:
    best = best_of(members)
    steps = best.run.steps
    kept: list[int] = []
    shown: list[SkillStep] = []
    for line, place in zip(best.lines, best.positions, strict=True):
        if did_nothing(steps, place, failed):
            continue
        seen = seen_after(steps, place)
        news = put_in_slots(achieved(steps[place].observation, seen), best.values)
        kept.append(place)
        shown.append(SkillStep(line, "" if stems(news) <= stems(line) else news))
    own, *aliases = known_as(METHOD, members)
    used = {name for text in (best.template, *best.lines) for name in SLOT.findall(text)}
    return Proposal(
        signature=own,
        aliases=tuple(aliases),
        kind=Kind.SKILL,
        title=shorten(f"Shown: {best.template}", TITLE),
        body=SkillBody(
            when=f"as it was done for: {shorten(best.run.task.goal, 240)}",
            steps=tuple(shown),
            slots=tuple(slot for slot in best.slots if slot.name in used),
            goal=best.template,
            form=Form.DEMONSTRATION.value,
        ),
        method=METHOD,
        sources=(Source(best.run.id, tuple(kept)),),
        task_type=shared_type(run.run.task.type for run in members),
        metadata={"runs": len(members)},
    )
