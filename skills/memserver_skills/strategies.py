"""Distils strategies: "when … should … rather than … because …".

After PRINCIPLES (Kim et al. 2025): where runs carry rewards, what made the reward rise in a
situation is the strategy, and what was tried there without a rise stands under "rather than".
Without rewards, runs of one task that part are compared by how they ended. For play with fresh
simulations see `self_play`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memserver.domain.items import Kind, Source, TextBody
from memserver.domain.trajectories import Trajectory, normal_goal
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import by_task
from memserver_skills.self_play import Strategy
from memserver_skills.sequences import common_start
from memserver_skills.slots import Slotted
from memserver_skills.sources import joined
from memserver_skills.tallies import by_frequency
from memserver_skills.task_kinds import TaskKind, kinds_of_task
from memserver_skills.words import shorten

METHOD = "distill/strategies"

PER_KIND = 8
OTHERS = 2
TITLE = 100
WHEN = 160
BY_REWARD = "reward"
BY_OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class Turn:
    """One action in its situation, which is the action before it. `won` by what it is judged
    `by`: its reward, or how its run ended."""

    run: Slotted
    before: str
    action: str
    step: int
    won: bool
    by: str

    @property
    def source(self) -> Source:
        return Source(self.run.run.id, (self.step,))


def distil_strategies(runs: Sequence[Trajectory]) -> list[Proposal]:
    """At most eight for one kind of task, those that most turns speak for first."""
    made = []
    for kind in kinds_of_task(runs):
        found = _of_kind(kind)
        found.sort(key=lambda one: (-one.metadata["turns"], one.signature))
        made += found[:PER_KIND]
    return made


def _of_kind(kind: TaskKind) -> list[Proposal]:
    places: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    for turn in (*_rewarded(kind), *_parted(kind)):
        places[turn.by, turn.before].append(turn)
    made = []
    for (by, before), turns in sorted(places.items()):
        won = Counter(turn.action for turn in turns if turn.won)
        lost = Counter(turn.action for turn in turns if not turn.won)
        # What has won here as often as it has lost is no failed strategy, nor a good one.
        failed = [line for line in by_frequency(lost) if lost[line] > won[line]]
        for line in by_frequency(won):
            if won[line] > lost[line] and (failed or by == BY_REWARD):
                made.append(_propose(kind, before, line, failed[:OTHERS], by=by, turns=turns))
    return made


def _rewarded(kind: TaskKind) -> Iterator[Turn]:
    """The turns of runs with rewards. A turn wins when its reward is above all before it in its
    run; one whose reward is not told says nothing."""
    for run in kind.runs:
        best, before = 0.0, ""
        for line, place in zip(run.lines, run.positions, strict=True):
            reward = run.run.steps[place].reward
            if reward is not None:
                yield Turn(run, before, line, place, reward > best, BY_REWARD)
                best = max(best, reward)
            before = line


def _parted(kind: TaskKind) -> Iterator[Turn]:
    """Where a failure without rewards left the success of its task that it had followed longest:
    both turns."""
    tasks = by_task(kind.good)
    compared: set[tuple[int, int]] = set()
    for bad in kind.acted_badly:
        rivals = tasks.get(normal_goal(bad.run.task.goal), [])
        if _has_rewards(bad) or not rivals:
            continue
        good = max(
            rivals,
            key=lambda run: (common_start(run.lines, bad.lines), -len(run.lines), -run.run.id.int),
        )
        at = common_start(good.lines, bad.lines)
        if at >= min(len(good.lines), len(bad.lines)):
            continue
        before = good.lines[at - 1] if at else ""
        if (good.run.id.int, at) not in compared:
            compared.add((good.run.id.int, at))
            yield Turn(good, before, good.lines[at], good.positions[at], True, BY_OUTCOME)
        yield Turn(bad, before, bad.lines[at], bad.positions[at], False, BY_OUTCOME)


def _has_rewards(run: Slotted) -> bool:
    return any(step.reward is not None for step in run.run.steps)


def _propose(
    kind: TaskKind, before: str, line: str, failed: Sequence[str], *, by: str, turns: Iterable[Turn]
) -> Proposal:
    speaking = [turn for turn in turns if turn.action == line or turn.action in failed]
    point = f"after {before}" if before else "at the start"
    strategy = Strategy(
        when=f"asked to {shorten(kind.template, WHEN)}, {point}",
        should=line,
        rather_than=tuple(failed),
        because=_because(by, bool(failed)),
    )
    return Proposal(
        signature=signature(METHOD, kind.name, by, before, line),
        kind=Kind.PRINCIPLE,
        title=shorten(f"{line} rather than {failed[0]}" if failed else line, TITLE),
        body=TextBody(strategy.text),
        method=METHOD,
        sources=joined(*((turn.source,) for turn in speaking)),
        task_type=kind.task_type,
        metadata={
            "when": strategy.when,
            "should": strategy.should,
            "rather_than": list(strategy.rather_than),
            "because": strategy.because,
            "turns": len(speaking),
        },
    )


def _because(by: str, failed: bool) -> str:
    """Without counts: these change with every run, and what is said does not."""
    if by == BY_REWARD:
        other = ", and with the other it did not" if failed else ""
        return f"the reward rose with it{other}"
    return "the run that did so succeeded, and those that did the other failed"
