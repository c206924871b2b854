"""Distils cases: each task that was tried, with its best run as the plan, the shape of that plan,
and notes on what went wrong in the runs that failed.

After APEX-EM (2026, experience memory with error analysis and structural signatures)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from memserver.domain.items import CaseBody, Kind, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.failed_actions import did_nothing, failed_answers, seen_after
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import by_task, shared_type
from memserver_skills.slots import Slotted, slotted
from memserver_skills.structures import operations
from memserver_skills.tallies import by_frequency, commonest
from memserver_skills.words import one_line, shorten

METHOD = "distill/experiences"

# Nobody imitates a longer plan.
LONGEST = 400
NOTES = 12
TITLE = 100
GOAL = 2_000
STEP = 400
NOTE = 300


def distil_experiences(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One case a task (goals that differ in case and white space are one task). A task that no
    run has solved is a case with no plan or a poor one, whose notes are what it teaches."""
    failed = frozenset(failed_answers(runs))
    by_goal = by_task(run for run in slotted(runs) if run.run.outcome is not None)
    shortest = _shortest(by_goal)
    made = []
    for goal, members in sorted(by_goal.items()):
        case = _propose(goal, members, failed, shortest)
        if case is not None:
            made.append(case)
    return sorted(made, key=lambda one: one.signature)


def _shortest(by_goal: dict[str, list[Slotted]]) -> dict[str, int]:
    """For each kind of task how few actions have sufficed."""
    found: dict[str, int] = {}
    for run in (run for members in by_goal.values() for run in members):
        if run.run.succeeded and run.lines:
            found[run.key] = min(len(run.lines), found.get(run.key, len(run.lines)))
    return found


def _propose(
    goal: str, members: Sequence[Slotted], failed: frozenset[str], shortest: dict[str, int]
) -> Proposal | None:
    plans = [run for run in members if 0 < len(run.lines) <= LONGEST]
    best = min(
        plans,
        default=None,
        key=lambda run: (not run.run.succeeded, -run.score, len(run.lines), run.run.id.int),
    )
    kept = [] if best is None else _kept(best, failed)
    noted = [
        (note, source)
        for run in members
        if not run.run.succeeded
        for note, source in _notes(run, failed)
    ]
    if not kept and not noted:
        return None
    said = commonest(Counter(one_line(run.run.task.goal) for run in members))
    notes = by_frequency(Counter(note for note, _ in noted))[:NOTES]
    actions = [] if best is None else [best.run.steps[place].action for place in kept]
    score = max(run.score for run in members if best is None or run is best)
    solved = best is not None and best.run.succeeded
    return Proposal(
        signature=signature(METHOD, goal),
        kind=Kind.CASE,
        title=shorten(said, TITLE),
        body=CaseBody(
            goal=shorten(said, GOAL),
            steps=tuple(shorten(action, STEP) for action in actions),
            score=score,
            operations=operations(actions),
            notes=tuple(notes),
        ),
        method=METHOD,
        sources=_sources(best, kept, [source for note, source in noted if note in notes]),
        task_type=shared_type(run.run.task.type for run in members),
        metadata={
            "runs": len(members),
            "successes": sum(run.run.succeeded for run in members),
            "solved": solved,
            "quality": _quality(best, kept, shortest) if solved and best is not None else 0.0,
        },
    )


def _kept(run: Slotted, failed: frozenset[str]) -> list[int]:
    """The steps of a run whose actions did something."""
    return [place for place in run.positions if not did_nothing(run.run.steps, place, failed)]


def _quality(best: Slotted, kept: Sequence[int], shortest: dict[str, int]) -> float:
    """Its score times how near it comes to the shortest plan that solved such a task."""
    needed = shortest.get(best.key, len(kept))
    return round(best.score * min(1.0, needed / max(1, len(kept))), 3)


def _notes(run: Slotted, failed: frozenset[str]) -> Iterator[tuple[str, Source]]:
    """What the run was told to have done wrong; else the last action that did nothing; else how
    it ended."""
    told = [one_line(text) for text in run.run.mistakes if text.strip()]
    if told:
        for text in told:
            yield shorten(text, NOTE), Source(run.run.id)
        return
    stuck = [place for place in run.positions if did_nothing(run.run.steps, place, failed)]
    if stuck:
        yield _note("Did nothing", run, stuck[-1])
    elif run.positions:
        yield _note("Ended unsolved", run, run.positions[-1])


def _note(what: str, run: Slotted, place: int) -> tuple[str, Source]:
    seen = one_line(seen_after(run.run.steps, place))
    told = f"{what}: {shorten(run.run.steps[place].action, STEP // 4)}"
    return shorten(f"{told}; seen: {seen}" if seen else told, NOTE), Source(run.run.id, (place,))


def _sources(
    best: Slotted | None, kept: Sequence[int], noted: Sequence[Source]
) -> tuple[Source, ...]:
    steps: dict[object, tuple[Source, set[int]]] = {}
    if best is not None and kept:
        steps[best.run.id] = (Source(best.run.id), set(kept))
    for source in noted:
        steps.setdefault(source.trajectory_id, (source, set()))[1].update(source.steps)
    return tuple(
        Source(source.trajectory_id, tuple(sorted(places))) for source, places in steps.values()
    )
