"""Distils demonstrations: for each kind of task the one best run, with what each step achieved.

After LearnAct (Liu et al. 2025, "LearnAct: Few-Shot Mobile GUI Agent with a Unified Demonstration
Benchmark"): knowledge of {steps, semantics} drawn from demonstrations, found again for tasks that
were never shown. There a model says what a step achieved; here it is what is newly seen."""

import re
from collections import defaultdict
from collections.abc import Sequence

from memserver.domain.items import Form, Kind, SkillBody, SkillStep, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.failed_actions import failed_answers, normal_answer
from memserver_skills.proposals import Proposal, signature
from memserver_skills.sequences import Reference, mean_agreement, spread
from memserver_skills.slots import Slotted, put_in_slots, slotted
from memserver_skills.words import SLOT, one_line, shorten, stems

METHOD = "distill/demonstrations"

LONGEST = 120
TITLE = 100
SEEN = 160
REFERENCES = 32

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|;\s*|\n+")


def distil_demonstrations(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One demonstration per kind of task that was solved."""
    failed = frozenset(failed_answers(runs))
    by_key: dict[str, list[Slotted]] = defaultdict(list)
    for run in slotted(runs):
        if run.run.outcome is not None and run.run.outcome.success and _fit(run):
            by_key[run.key].append(run)
    made = [_propose(key, members, failed) for key, members in sorted(by_key.items())]
    return sorted(made, key=lambda one: one.signature)


def _fit(run: Slotted) -> bool:
    return 0 < len(run.lines) <= LONGEST


def best_of(runs: Sequence[Slotted]) -> Slotted:
    """The run with the best score; of those the one that agrees best with all, then the shorter
    one, then the older one."""
    references = [Reference(lines) for lines in spread([run.lines for run in runs], REFERENCES)]
    return min(
        runs,
        key=lambda run: (
            -(run.run.outcome.score if run.run.outcome is not None else 0.0),
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


def _propose(key: str, members: Sequence[Slotted], failed: frozenset[str]) -> Proposal:
    best = best_of(members)
    steps = best.run.steps
    kept: list[int] = []
    shown: list[SkillStep] = []
    for line, place in zip(best.lines, best.positions, strict=True):
        seen = steps[place + 1].observation if place + 1 < len(steps) else ""
        if normal_answer(seen) in failed:
            continue
        news = put_in_slots(achieved(steps[place].observation, seen), best.values)
        kept.append(place)
        shown.append(SkillStep(line, "" if stems(news) <= stems(line) else news))
    names = [signature(METHOD, name) for name in dict.fromkeys([key, *_earlier(members)])]
    types = {run.run.task.type for run in members}
    used = {name for text in (best.template, *best.lines) for name in SLOT.findall(text)}
    return Proposal(
        signature=names[0],
        aliases=tuple(names[1:]),
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
        task_type=types.pop() if len(types) == 1 else None,
        metadata={"runs": len(members)},
    )


def _earlier(members: Sequence[Slotted]) -> list[str]:
    return [earlier for run in members for earlier in run.earlier]
