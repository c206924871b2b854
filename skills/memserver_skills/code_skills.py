"""Distils code skills: a kind of task that was solved as a Python program with a stored test that
replays one of its runs; a failure at a line that successes prepared for revises it.

After RATs (2026) and LearnAct (Zhao et al. 2024), where a model writes the programs. A program is
kept only if it replays a run as it was, so each is verified by what happened."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memserver.domain.items import Form, Kind, SkillBody, SkillFile, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.demonstrations import best_of
from memserver_skills.failed_actions import did_nothing, failed_answers, seen_after
from memserver_skills.goal_templates import INSTANCE, read_grammar
from memserver_skills.grounding import fill
from memserver_skills.open_slots import open_slots
from memserver_skills.programs import REPLAY, program_of, replay_test
from memserver_skills.proposals import Proposal
from memserver_skills.revising import Failure, revise
from memserver_skills.run_groups import can_be_followed, known_as, shared_type, slots_of
from memserver_skills.sequences import aligned, consensus
from memserver_skills.slots import Slotted, slotted
from memserver_skills.tallies import commonest
from memserver_skills.words import one_line, shorten

METHOD = "distill/code"

TITLE = 100
SEEN = 160
MOST_REVISIONS = 20

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Replay:
    """A run that does all lines in their order: its steps and what it did there, unnumbered."""

    run: Slotted
    steps: tuple[int, ...]
    actions: tuple[str, ...]


def distil_code(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One program per kind of task, where a run replays it word by word."""
    grammar = read_grammar(runs)
    failed = frozenset(failed_answers(runs))
    good: dict[str, list[Slotted]] = defaultdict(list)
    bad: dict[str, list[Slotted]] = defaultdict(list)
    for run in slotted(runs, grammar):
        if run.run.outcome is not None and can_be_followed(run):
            (good if run.run.succeeded else bad)[run.key].append(run)
    made = []
    for key, members in sorted(good.items()):
        opened = open_slots(members + bad[key], grammar.heads)
        program = _propose(opened[: len(members)], opened[len(members) :], failed)
        if program is not None:
            made.append(program)
    return sorted(made, key=lambda one: one.signature)


def _propose(
    good: Sequence[Slotted], bad: Sequence[Slotted], failed: frozenset[str]
) -> Proposal | None:
    template = commonest(Counter(run.template for run in good))
    lines = consensus([run.lines for run in good])
    replay = _replayed(lines, good)
    if replay is None:
        lines = best_of(good).lines
        replay = _replayed(lines, good)
    if replay is None:
        return None
    body = _body(lines, replay, good, template)
    metadata: dict[str, object] = {"runs": len(good)}
    sources = [Source(replay.run.run.id, replay.steps)]
    for run in bad[:MOST_REVISIONS]:
        failure = _failure(lines, run, failed)
        longer = None if failure is None else _prepared(lines, run, failure, good)
        again = None if longer is None else _replayed(longer, good)
        if failure is None or longer is None or again is None:
            continue
        lines, replay = longer, again
        new = _body(lines, replay, good, template)
        revised = revise(body, metadata, failure, text=new.text, files=new.files)
        body, metadata = revised.body, revised.metadata
        sources[0] = Source(replay.run.run.id, replay.steps)
        sources.append(Source(failure.run, (failure.step,)))
    own, *aliases = known_as(METHOD, good)
    return Proposal(
        signature=own,
        aliases=tuple(aliases),
        kind=Kind.SKILL,
        title=shorten(f"Program: {template}", TITLE),
        body=body,
        method=METHOD,
        sources=tuple(sources),
        task_type=shared_type(run.run.task.type for run in good),
        metadata=dict(metadata),
    )


def _body(lines: Lines, replay: _Replay, good: Sequence[Slotted], template: str) -> SkillBody:
    slots = slots_of(good, goal=template, lines=lines)
    values = {
        slot.name: replay.run.values[slot.name] for slot in slots if slot.name in replay.run.values
    }
    test = replay_test(values, replay.actions, run=str(replay.run.run.id))
    return SkillBody(
        when=f"to act out: {shorten(template, 240)}",
        slots=slots,
        goal=template,
        form=Form.CODE.value,
        text=program_of(lines, slots, goal=template),
        files=(SkillFile(REPLAY, test),),
    )


def _replayed(lines: Lines, good: Sequence[Slotted]) -> _Replay | None:
    """The run with all the lines, in order and word by word; of several the best one."""
    found = [replay for run in good if lines and (replay := _replay(lines, run)) is not None]
    if not found:
        return None
    best = best_of([replay.run for replay in found])
    return next(replay for replay in found if replay.run is best)


def _replay(lines: Lines, run: Slotted) -> _Replay | None:
    pairs = aligned(lines, run.lines)
    if len(pairs) < len(lines):
        return None
    steps = tuple(run.positions[there] for _, there in pairs)
    said = [one_line(run.run.steps[step].action) for step in steps]
    told = tuple(fill(line, run.values) for line in lines)
    if any(
        line not in (action, INSTANCE.sub(r"\1", action))
        for line, action in zip(told, said, strict=True)
    ):
        return None
    return _Replay(run, steps, told)


def _failure(lines: Lines, run: Slotted, failed: frozenset[str]) -> Failure | None:
    """The first line of the program that the run took and that did nothing, up to where the run
    went ways of its own."""
    for line, taken, position in zip(lines, run.lines, run.positions, strict=False):
        if line != taken:
            return None
        if did_nothing(run.run.steps, position, failed):
            action = one_line(run.run.steps[position].action)
            seen = seen_after(run.run.steps, position)
            return Failure(run.run.id, position, action, shorten(seen, SEEN))
    return None


def _prepared(
    lines: Lines, run: Slotted, failure: Failure, good: Sequence[Slotted]
) -> Lines | None:
    """The program with what most successes did right before the line that failed, where it lacks
    that."""
    place = run.positions.index(failure.step)
    before = Counter(
        one.lines[at - 1]
        for one in good
        if lines[place] in one.lines
        and (at := one.lines.index(lines[place])) > 0
        and one.lines[at - 1] not in lines
    )
    if not before:
        return None
    return (*lines[:place], commonest(before), *lines[place:])
