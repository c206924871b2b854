"""Distils workflows: what the successful runs of like tasks have in common, with typed slots."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from memserver.domain.items import Kind, SkillBody, SkillStep
from memserver.domain.trajectories import Trajectory
from memserver_skills.goal_templates import read_grammar
from memserver_skills.open_slots import open_slots
from memserver_skills.proposals import Proposal
from memserver_skills.run_groups import known_as, shared_type, slots_of, solved_by_kind
from memserver_skills.sequences import Reference, consensus, mean_agreement
from memserver_skills.slots import Slotted, slotted
from memserver_skills.sources import along
from memserver_skills.tallies import commonest
from memserver_skills.words import shorten, stems

METHOD = "distill/workflows"

# Two groups are one if their runs agree across groups about as well as within.
SLACK = 0.05
ALIKE = 0.9
SAMPLE = 12
RIVALS = 12
TITLE = 100
WHEN = 240
MOST = 0.6


@dataclass(frozen=True, slots=True)
class _Group:
    """Successes whose goals have one template, or whose actions cannot be told apart."""

    keys: tuple[str, ...]
    runs: tuple[Slotted, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(slot.name for run in self.runs for slot in run.slots)


def distil_workflows(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One workflow per kind of task that was solved, in the order of first success."""
    grammar = read_grammar(runs)
    by_key = solved_by_kind(slotted(runs, grammar))
    groups = [_Group((key,), tuple(members)) for key, members in sorted(by_key.items())]
    return sorted(
        (
            _propose(_Group(group.keys, open_slots(group.runs, grammar.heads)))
            for group in _join(groups, grammar.heads)
        ),
        key=lambda made: made.signature,
    )


def _join(groups: Sequence[_Group], heads: frozenset[str]) -> list[_Group]:
    """Joins groups that differ in wording only, larger ones first. A group is compared with the
    few that have most actions in common with it, so that the work grows with their number."""
    joined: list[_Group] = []
    holders: dict[tuple[frozenset[str], str], list[int]] = defaultdict(list)
    for group in sorted(groups, key=lambda group: (-len(group.runs), group.keys)):
        actions = sorted({(group.names, line) for line in group.runs[0].lines})
        shared = Counter(place for action in actions for place in holders.get(action, ()))
        rivals = sorted(shared, key=lambda place: (-shared[place], place))[:RIVALS]
        excess, place = max(
            ((_excess(joined[place], group, heads), -place) for place in rivals),
            default=(-1.0, 0),
        )
        if excess >= -SLACK:
            kept = joined[-place]
            joined[-place] = _Group(kept.keys + group.keys, kept.runs + group.runs)
        else:
            for action in actions:
                holders[action].append(len(joined))
            joined.append(group)
    return joined


def _excess(left: _Group, right: _Group, heads: frozenset[str]) -> float:
    """By how much runs of two groups agree better across groups than within them, with what is
    open in both taken as open."""
    ours, theirs = _sample(left), _sample(right)
    opened = [run.lines for run in open_slots(ours + theirs, heads)]
    mine, others = opened[: len(ours)], opened[len(ours) :]
    across = fmean(Reference(one).agreement(other) for one in mine for other in others)
    within = [value for value in (_within(mine), _within(others)) if value is not None]
    return across - (fmean(within) if within else ALIKE + SLACK)


def _sample(group: _Group) -> tuple[Slotted, ...]:
    """At most `SAMPLE` runs, evenly spaced over time."""
    count = min(SAMPLE, len(group.runs))
    return tuple(group.runs[place * len(group.runs) // count] for place in range(count))


def _within(runs: Sequence[tuple[str, ...]]) -> float | None:
    pairs = [
        Reference(one).agreement(other) for n, one in enumerate(runs) for other in runs[n + 1 :]
    ]
    return fmean(pairs) if pairs else None


def _propose(group: _Group) -> Proposal:
    lines = consensus([run.lines for run in group.runs])
    templates = _templates(group)
    steps = tuple(SkillStep(line, _expected(line, group)) for line in lines)
    example = min(group.runs, key=lambda run: (run.template != templates[0], run.run.task.goal))
    oldest_first = sorted(group.runs, key=lambda run: (run.run.created_at, run.run.id.int))
    own, *aliases = known_as(METHOD, oldest_first)
    return Proposal(
        signature=own,
        aliases=tuple(aliases),
        kind=Kind.SKILL,
        title=shorten(templates[0], TITLE),
        body=SkillBody(
            when=_when(templates[0], example.run.task.goal),
            steps=steps,
            slots=slots_of(group.runs, goal=templates[0], lines=lines),
            goal="\n".join(templates),
        ),
        method=METHOD,
        sources=along(lines, group.runs),
        task_type=shared_type(run.run.task.type for run in group.runs),
        metadata={
            "runs": len(group.runs),
            "agreement": round(
                mean_agreement(lines, [Reference(run.lines) for run in group.runs]), 3
            ),
        },
    )


def _when(template: str, example: str) -> str:
    """A short template is the title already and is better explained by an example; a long one
    says more than its title has room for."""
    if len(template) <= TITLE:
        return f"as in: {shorten(example, WHEN).rstrip(' .!?')}"
    return shorten(template, WHEN)


def _templates(group: _Group) -> tuple[str, ...]:
    """One wording a key, the likeliest first."""
    wordings: dict[str, Counter[str]] = defaultdict(Counter)
    for run in group.runs:
        wordings[run.key][run.template] += 1
    ranked = sorted(wordings.values(), key=lambda seen: (-seen.total(), min(seen)))
    return tuple(map(commonest, ranked))


def _expected(line: str, group: _Group) -> str:
    """What was seen after the action, where most runs that took it saw the same and it says more
    than the action itself."""
    seen = Counter(run.after[run.lines.index(line)] for run in group.runs if line in run.lines)
    text, count = max(seen.items(), default=("", 0), key=lambda pair: (pair[1], pair[0]))
    agreed = count >= max(2, MOST * seen.total())
    return text if agreed and not stems(text) <= stems(line) else ""
