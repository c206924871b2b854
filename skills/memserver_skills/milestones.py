"""Distils milestones: what the successes of a kind of task reach on their way, in order.

After HiPlan (Li et al. 2025, "HiPlan: Hierarchical Planning for LLM-Based Agents with Adaptive
Global-Local Guidance"), whose milestones a model names from demonstrations; here they are read
from rewards and from the goal's own things."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memserver.domain.items import Form, Kind, SkillBody, SkillStep, Slot, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.failed_actions import failed_answers, normal_answer
from memserver_skills.goal_templates import read_grammar
from memserver_skills.open_slots import open_slots
from memserver_skills.proposals import Proposal, signature
from memserver_skills.sequences import aligned, consensus
from memserver_skills.slots import Slotted, slotted
from memserver_skills.words import SLOT, shorten, stems

METHOD = "distill/milestones"
SEGMENTS = "segments"
"""Under this key the metadata has, for each milestone, the actions that lead to it."""
FAILED = "failed_answers"
"""Under this one, what is seen after an action that did nothing, in its normal form."""

LONGEST = 120
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
    by_key: dict[str, list[Slotted]] = defaultdict(list)
    for run in slotted(runs, grammar):
        if run.run.outcome is not None and run.run.outcome.success and _fit(run):
            by_key[run.key].append(_effective(run, frozenset(failed)))
    made = []
    for key, members in sorted(by_key.items()):
        opened = open_slots([run for run in members if run.lines], grammar.heads)
        if opened and (segments := segments_of(opened)):
            made.append(_propose(key, opened, segments, failed))
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


def _fit(run: Slotted) -> bool:
    return 0 < len(run.lines) <= LONGEST


def _effective(run: Slotted, failed: frozenset[str]) -> Slotted:
    """The run without the actions that did nothing."""
    steps = run.run.steps
    kept = [
        place
        for place, position in enumerate(run.positions)
        if position + 1 >= len(steps)
        or normal_answer(steps[position + 1].observation) not in failed
    ]
    return _only(run, kept)


def _only(run: Slotted, kept: Sequence[int]) -> Slotted:
    return Slotted(
        run=run.run,
        key=run.key,
        earlier=run.earlier,
        template=run.template,
        slots=run.slots,
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
    key: str, runs: Sequence[Slotted], segments: Sequence[Segment], failed: tuple[str, ...]
) -> Proposal:
    templates = Counter(run.template for run in runs)
    template = min(templates, key=lambda text: (-templates[text], text))
    reached = [segment.milestone for segment in segments]
    types = {run.run.task.type for run in runs}
    keys = dict.fromkeys([key, *(earlier for run in runs for earlier in run.earlier)])
    names = [signature(METHOD, name) for name in keys]
    used = [template, *(line for segment in segments for line in segment.lines)]
    return Proposal(
        signature=names[0],
        aliases=tuple(names[1:]),
        kind=Kind.SKILL,
        title=shorten(f"Milestones: {template}", TITLE),
        body=SkillBody(
            when=f"on the way to: {shorten(template, 240)}",
            steps=tuple(SkillStep(segment.milestone, segment.expect) for segment in segments),
            slots=_slots(runs, {name for text in used for name in SLOT.findall(text)}),
            goal=template,
            form=Form.MILESTONES.value,
        ),
        method=METHOD,
        sources=tuple(
            Source(
                run.run.id, tuple(run.positions[there] for _, there in aligned(reached, run.lines))
            )
            for run in runs
        ),
        task_type=types.pop() if len(types) == 1 else None,
        metadata={
            "runs": len(runs),
            SEGMENTS: [list(segment.lines) for segment in segments],
            FAILED: list(failed),
        },
    )


def _slots(runs: Sequence[Slotted], used: set[str]) -> tuple[Slot, ...]:
    """Each with its widest value as example where the goal names it, since that says how many
    words it may take; with its likeliest one where it does not."""
    goal = set(SLOT.findall(runs[0].template))
    values: Mapping[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, str] = {}
    for run in runs:
        for slot in run.slots:
            values[slot.name][slot.example] += 1
            kinds[slot.name] = slot.type
    return tuple(
        Slot(
            name,
            kinds[name],
            max(values[name], key=lambda value: (len(value.split()), value))
            if name in goal
            else min(values[name], key=lambda value: (-values[name][value], value)),
        )
        for name in sorted(used & set(values))
    )
