"""Distils rubrics: for each stage of a kind of task, what successes have done there and failures
have not.

After RubricEM: guidance grounded in rubrics is kept and given by stage. Stages are those that steps
name themselves (`stage` or `subgoal` in a step's metadata), in the order in which runs come to
them; else the thirds of the usual course."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memserver.domain.items import Kind, RuleBody
from memserver.domain.trajectories import Trajectory
from memserver_skills.plans import Rated
from memserver_skills.proposals import Proposal, signature
from memserver_skills.slots import Slotted
from memserver_skills.sources import doing
from memserver_skills.tallies import by_frequency
from memserver_skills.task_kinds import MOST, TaskKind, kinds_of_task, share
from memserver_skills.words import one_line, shorten

METHOD = "distill/rubrics"
STAGE = "stage"
"""Under this key a version's metadata names its stage, and a step's its own."""

THIRDS = ("opening", "middle", "closing")
NAMED_BY = ("stage", "subgoal")
PER_STAGE = 6
TITLE = 100
WHEN = 160
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric, with the shares of successes and of failures that meet it; None where
    no failure says what it did."""

    line: str
    successes: float
    failures: float | None


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    number: int
    criteria: tuple[Criterion, ...]


def distil_rubrics(runs: Sequence[Trajectory]) -> list[Proposal]:
    """One rule a stage, kinds of task by name and stages in their order."""
    return [
        _propose(kind, stage, of=len(found))
        for kind in kinds_of_task(runs)
        for found in [stages(kind)]
        for stage in found
    ]


def rubric(bank: Sequence[Rated], stage: str, *, task_type: str | None = None) -> tuple[Rated, ...]:
    """The bank's guidance for a stage, of one type of task where it is named."""
    return tuple(
        one
        for one in bank
        if one.entry.version.method == METHOD
        and one.entry.version.metadata.get(STAGE) == stage
        and task_type in (None, one.entry.version.task_type)
    )


def stages(kind: TaskKind) -> list[Stage]:
    """The stages of a kind of task that some criterion belongs to; none where nothing is usual."""
    lines = _by_name(kind) or _by_thirds(kind)
    found = []
    for number, (name, held) in enumerate(lines.items(), 1):
        criteria = _criteria(held, kind)
        if criteria:
            found.append(Stage(name, number, criteria))
    return found


def _by_name(kind: TaskKind) -> dict[str, list[str]]:
    """Each stage's actions by the names that steps of successes give, where most name any."""
    lines: dict[str, list[str]] = defaultdict(list)
    places: dict[str, list[float]] = defaultdict(list)
    naming = 0
    for run in kind.good:
        named = False
        for place, (line, position) in enumerate(zip(run.lines, run.positions, strict=True)):
            name = _stage_of(run, position)
            if name:
                named = True
                lines[name].append(line)
                places[name].append(place / len(run.lines))
        naming += named
    if not kind.good or naming < MOST * len(kind.good):
        return {}
    order = sorted(lines, key=lambda name: (sum(places[name]) / len(places[name]), name))
    return {name: by_frequency(Counter(lines[name])) for name in order}


def _stage_of(run: Slotted, position: int) -> str:
    told = run.run.steps[position].metadata
    for key in NAMED_BY:
        if isinstance(name := told.get(key), str) and name.strip():
            return shorten(one_line(name).casefold(), LONGEST_NAME)
    return ""


def _by_thirds(kind: TaskKind) -> dict[str, list[str]]:
    """The usual course in three parts, as even as they come; a course of one step opens and of
    two opens and closes."""
    course = list(dict.fromkeys(kind.usual))
    if len(course) < len(THIRDS):
        return {name: [line] for name, line in zip((THIRDS[0], THIRDS[-1]), course, strict=False)}
    cuts = [len(course) * part // len(THIRDS) for part in range(len(THIRDS) + 1)]
    return {name: course[cuts[n] : cuts[n + 1]] for n, name in enumerate(THIRDS)}


def _criteria(lines: Sequence[str], kind: TaskKind) -> tuple[Criterion, ...]:
    """What most successes do there. Where failures say what they did, only what fewer of them do;
    what tells them apart most comes first."""
    failed = kind.acted_badly
    found = [
        Criterion(
            line,
            round(share(line, kind.good), 3),
            round(share(line, failed), 3) if failed else None,
        )
        for line in lines
        if share(line, kind.good) >= MOST
    ]
    telling = [one for one in found if (one.failures or 0.0) < one.successes]
    telling.sort(key=lambda one: (one.failures or 0.0) - one.successes)
    return tuple(telling[:PER_STAGE])


def _propose(kind: TaskKind, stage: Stage, *, of: int) -> Proposal:
    about = shorten(kind.template, WHEN)
    lines = [one.line for one in stage.criteria]
    return Proposal(
        signature=signature(METHOD, kind.name, stage.name),
        kind=Kind.RULE,
        title=shorten(f"{stage.name.capitalize()} stage: {kind.template}", TITLE),
        body=RuleBody(
            text="\n".join([f"By the end of the {stage.name} stage:", *(f"- {x}" for x in lines)]),
            when=f"{about}; {stage.name} stage",
        ),
        method=METHOD,
        sources=doing(lines, kind.good),
        task_type=kind.task_type,
        metadata={
            STAGE: stage.name,
            "number": stage.number,
            "stages": of,
            "criteria": [
                {"line": one.line, "successes": one.successes, "failures": one.failures}
                for one in stage.criteria
            ],
        },
    )
