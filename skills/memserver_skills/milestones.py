"""Distils milestones: what the successes of a kind of task reach on their way, in order.

After HiPlan (Li et al. 2025, "HiPlan: Hierarchical Planning for LLM-Based Agents with Adaptive
Global-Local Guidance"), whose milestones a model names from demonstrations; here they are read
from rewards and from the goal's own things."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memserver.domain.items import Form, Kind, SkillBody, SkillStep
from memserver.domain.trajectories import Trajectory
from memserver_skills.failed_actions import did_nothing, failed_answers
from memserver_skills.goal_templates import read_grammar
from memserver_skills.open_slots import open_slots
from memserver_skills.proposals import Proposal
from memserver_skills.run_groups import known_as, shared_type, slots_of, solved_by_kind
from memserver_skills.sequences import consensus
from memserver_skills.slots import Slotted, slotted
from memserver_skills.sources import along
from memserver_skills.tallies import commonest
from memserver_skills.words import SLOT, shorten, stems

METHOD = "distill/milestones"
SEGMENTS = "segments"
"""Under this key the metadata has, for each milestone, the actions that lead to it."""
FAILED = "failed_answers"
"""Under this one, what is seen after an action that did nothing, in its normal form."""

TITLE = 100
SEEN = 160
# A line is a milestone of its kind of task where it was rewarded in this share of the runs.
REWARDED = 0.5


@dataclass(frozen=True, slots=True)
class Segment:
    """The way to one milestone: `lines`, of which the last one reaches it."""

    lines: tuple[str, ...]
    expect: str

    @property
    def milestone(self) -> str:
        return self.lines[-1]


def distil_milestones(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One skill per kind of task that was solved."""
    grammar = read_grammar(runs)
    failed = failed_answers(runs)
    made = []
    for members in solved_by_kind(slotted(runs, grammar)).values():
        effective = [_effective(run, failed) for run in members]
        opened = open_slots([run for run in effective if run.lines], grammar.heads)
        if opened and (segments := segments_of(opened)):
            made.append(_propose(opened, segments, failed))
    return sorted(made, key=lambda one: one.signature)


def segments_of(runs: Sequence[Slotted]) -> tuple[Segment, ...]:
    """What the runs have in common, cut after each line that visibly changes something: one that
    was rewarded, or that is about the goal's things and no mere approach to the next such line
    (which names more of them). The last line always ends a segment."""
    lines = consensus([run.lines for run in runs])
    if not lines:
        return ()
    goal = frozenset(SLOT.findall(runs[0].template))
    rewarded = _rewarded(runs)
    named = [frozenset(SLOT.findall(line)) & goal for line in lines]
    ends = [
        line in rewarded or bool(here and not here < following)
        for line, (here, following) in zip(lines, pairwise(named), strict=False)
    ]
    segments: list[Segment] = []
    start = 0
    for place, end in enumerate([*ends, True]):
        if end:
            segment = lines[start : place + 1]
            segments.append(Segment(segment, _expected(segment[-1], runs)))
            start = place + 1
    return tuple(segments)


def _effective(run: Slotted, failed: Collection[str]) -> Slotted:
    """The run without the actions that did nothing."""
    kept = [
        place
        for place, position in enumerate(run.positions)
        if not did_nothing(run.run.steps, position, failed)
    ]
    return replace(
        run,
        lines=tuple(run.lines[place] for place in kept),
        positions=tuple(run.positions[place] for place in kept),
        after=tuple(run.after[place] for place in kept),
    )


def _rewarded(runs: Sequence[Slotted]) -> frozenset[str]:
    """Lines that most runs which took them were rewarded for; none where every action is, since
    such rewards say nothing of what was reached."""
    taken: Counter[str] = Counter()
    paid: Counter[str] = Counter()
    for run in runs:
        worth: dict[str, bool] = {}
        for line, position in zip(run.lines, run.positions, strict=True):
            reward = run.run.steps[position].reward
            worth[line] = worth.get(line, False) or (reward is not None and reward > 0)
        taken.update(worth.keys())
        paid.update(line for line, rewarded in worth.items() if rewarded)
    lines = frozenset(line for line, count in paid.items() if count >= REWARDED * taken[line])
    return frozenset() if len(lines) == len(taken) else lines


def _expected(line: str, runs: Sequence[Slotted]) -> str:
    """What was seen after the line, in the words that are most like all others'."""
    seen = Counter(
        run.after[place]
        for run in runs
        for place, held in enumerate(run.lines)
        if held == line and run.after[place]
    )
    words = {text: stems(text) for text in seen}
    used = Counter(word for text, count in seen.items() for word in [*words[text]] * count)
    told = [text for text in seen if words[text] and not words[text] <= stems(line)]
    best = min(
        told,
        default="",
        key=lambda text: (-sum(used[word] for word in words[text]) / (len(words[text]) + 3), text),
    )
    return shorten(best, SEEN)


def _propose(
    runs: Sequence[Slotted], segments: Sequence[Segment], failed: tuple[str, ...]
) -> Proposal:
    template = commonest(Counter(run.template for run in runs))
    reached = [segment.milestone for segment in segments]
    lines = [line for segment in segments for line in segment.lines]
    own, *aliases = known_as(METHOD, runs)
    return Proposal(
        signature=own,
        aliases=tuple(aliases),
        kind=Kind.SKILL,
        title=shorten(f"Milestones: {template}", TITLE),
        body=SkillBody(
            when=f"on the way to: {shorten(template, 240)}",
            steps=tuple(SkillStep(segment.milestone, segment.expect) for segment in segments),
            slots=slots_of(runs, goal=template, lines=lines),
            goal=template,
            form=Form.MILESTONES.value,
        ),
        method=METHOD,
        sources=along(reached, runs),
        task_type=shared_type(run.run.task.type for run in runs),
        metadata={
            "runs": len(runs),
            SEGMENTS: [list(segment.lines) for segment in segments],
            FAILED: list(failed),
        },
    )
