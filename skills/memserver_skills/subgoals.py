"""Distils subgoals: stretches of actions that come again in several runs, whatever became of them.

A stream of tasks with nothing but success and failure says what agents do again and again before it
says what is right. Such a stretch is a hypothesis until a successful run has done it (SDG, Yunjue),
and is marked as one, so that nobody is offered it before."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memserver.domain.items import Kind, SkillBody, SkillStep, Slot
from memserver.domain.trajectories import Trajectory
from memserver_skills.evolution.admission import HYPOTHESIS
from memserver_skills.proposals import Proposal, signature
from memserver_skills.slots import Slotted, slotted
from memserver_skills.sources import at_steps
from memserver_skills.words import SLOT, shorten

METHOD = "distill/subgoals"
SHORTEST, LONGEST = 2, 6
LEAST_RUNS = 2
MOST = 40
LONGEST_RUN = 400
TITLE = 100

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Met:
    """Where a stretch stands in a run: at its first place."""

    run: Slotted
    start: int


def distil_subgoals(runs: Sequence[Trajectory]) -> list[Proposal]:
    """The stretches of two to six actions that two runs or more have in common, those of most runs
    first, none of which is only a part of another one of as many runs. Actions that follow on
    another are compared with the goal's own words in slots."""
    found: dict[Lines, dict[object, _Met]] = defaultdict(dict)
    for run in slotted([run for run in runs if run.outcome is not None]):
        lines = run.lines[:LONGEST_RUN]
        for length in range(SHORTEST, LONGEST + 1):
            for start in range(len(lines) - length + 1):
                stretch = lines[start : start + length]
                if len(set(stretch)) == length:
                    found[stretch].setdefault(run.run.id, _Met(run, start))
    common = {lines: met for lines, met in found.items() if len(met) >= LEAST_RUNS}
    whole = sorted(
        (lines for lines, met in common.items() if not _is_part(lines, met, common)),
        key=lambda lines: (-len(common[lines]), -len(lines), lines),
    )[:MOST]
    proposals = [_propose(lines, list(common[lines].values())) for lines in whole]
    return sorted(proposals, key=lambda made: made.signature)


def _is_part(
    lines: Lines, met: dict[object, _Met], common: dict[Lines, dict[object, _Met]]
) -> bool:
    """Whether one that is longer by an action is met in the same runs."""
    for one in met.values():
        before = one.run.lines[one.start - 1 : one.start + len(lines)] if one.start else ()
        after = one.run.lines[one.start : one.start + len(lines) + 1]
        for longer in (before, after):
            if len(longer) == len(lines) + 1 and met.keys() == common.get(longer, {}).keys():
                return True
    return False


def _propose(lines: Lines, met: Sequence[_Met]) -> Proposal:
    named = {name for line in lines for name in SLOT.findall(line)}
    slots = {
        slot.name: slot for one in reversed(met) for slot in one.run.slots if slot.name in named
    }
    succeeded = sum(one.run.run.succeeded for one in met)
    return Proposal(
        signature=signature("subgoal", *lines),
        kind=Kind.SKILL,
        title=shorten(f"{lines[0]} … {lines[-1]}", TITLE),
        body=SkillBody(
            when=f"On the way to: {lines[-1]}",
            steps=tuple(SkillStep(line) for line in lines),
            slots=tuple(Slot(s.name, s.type, s.example) for _, s in sorted(slots.items())),
        ),
        method=METHOD,
        sources=at_steps(
            {one.run.run.id: one.run.positions[one.start : one.start + len(lines)] for one in met}
        ),
        metadata={HYPOTHESIS: succeeded == 0},
    )
