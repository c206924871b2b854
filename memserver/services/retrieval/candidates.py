"""Candidates: the documents that the arms found, loaded within the caller's reach."""

from collections.abc import Mapping, Sequence

from memserver.domain.evidence import Belief, total
from memserver.domain.items import Entry, SkillBody, Status, render
from memserver.domain.ports import Hit, Reader
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Trajectory
from memserver.services.retrieval.fusion import reciprocal_rank, standings
from memserver.services.retrieval.query import TRAJECTORY, Candidate, Standing
from memserver.services.version_vectors import text_of_run
from memserver_skills.grounding import fill, ground

SOURCE_SUCCESS_RATE = "source_success_rate"


def load(
    reader: Reader, scope: Scope, found: Mapping[str, Sequence[Hit]], goal: str
) -> list[Candidate]:
    """What was found and still exists in the scope's reach, best fused first, ties by id.

    A hit whose row is gone, or whose version is no longer its item's head, is dropped: SQL is
    the truth. Skills that fit the goal are grounded to it.
    """
    placed = standings(found)
    entries = reader.entries_by_version(scope, list(placed))
    runs_found = [document for document in placed if document not in entries]
    runs = reader.trajectories_by_id(scope, runs_found) if runs_found else {}
    beliefs = reader.beliefs(scope, list(entries))
    candidates = [
        _of_entry(entry, placed[document], total(document, beliefs.get(document, ())), goal)
        for document, entry in entries.items()
        if entry.item.head == document
    ]
    candidates += [_of_run(run, placed[document]) for document, run in runs.items()]
    return sorted(candidates, key=lambda c: (-c.fused, str(c.document)))


def _of_entry(entry: Entry, arms: dict[str, Standing], belief: Belief, goal: str) -> Candidate:
    item, version = entry.item, entry.version
    body = version.body
    grounded = ground(body, goal) if isinstance(body, SkillBody) else None
    return Candidate(
        document=version.id,
        id=item.id,
        namespace=item.namespace,
        kind=item.kind,
        status=item.status,
        title=item.title,
        text=version.text if grounded is None else _fitted(version.title, grounded),
        indexed=version.text,
        task_type=version.task_type,
        sources=version.sources,
        created_at=item.created_at,
        valid_from=version.valid_from,
        valid_to=version.valid_to,
        belief=belief,
        arms=arms,
        fused=reciprocal_rank(arms),
        source_success_rate=_rate(version.metadata.get(SOURCE_SUCCESS_RATE)),
        grounded=grounded is not None,
    )


def _fitted(title: str, grounded: SkillBody) -> str:
    """The skill as fitted to the goal, its title's slots filled like its steps'."""
    values = {slot.name: slot.example for slot in grounded.slots if slot.example}
    return render(fill(title, values), grounded)


def _of_run(run: Trajectory, arms: dict[str, Standing]) -> Candidate:
    succeeded = run.outcome is not None and run.outcome.success
    return Candidate(
        document=run.id,
        id=run.id,
        namespace=run.namespace,
        kind=TRAJECTORY,
        status=Status.ACTIVE,
        title=run.task.goal[:200],
        text=run_text(run),
        indexed=text_of_run(run),
        task_type=run.task.type,
        sources=(),
        created_at=run.created_at,
        valid_from=run.created_at,
        valid_to=None,
        belief=Belief(run.id),
        arms=arms,
        fused=reciprocal_rank(arms),
        source_success_rate=float(succeeded),
    )


def run_text(run: Trajectory) -> str:
    """A run as an agent reads it: goal, outcome, one line an action."""
    outcome = "" if run.outcome is None else f"Score: {run.outcome.score:g}"
    steps = [f"{n}. {step.action}" for n, step in enumerate(run.steps, 1) if step.action]
    return "\n".join(filter(None, [f"Goal: {run.task.goal}", outcome, *steps]))


def _rate(value: object) -> float:
    """Metadata is free-form, so what stands there may be anything."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0
