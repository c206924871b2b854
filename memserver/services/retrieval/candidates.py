"""Candidates: the documents that the arms found, loaded within the caller's reach."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memserver.domain.evidence import Belief, total
from memserver.domain.items import Entry, SkillBody, Status, render
from memserver.domain.ports import Reader
from memserver.domain.scope import Scope
from memserver.domain.times import TimeFrame
from memserver.domain.trajectories import Trajectory
from memserver.services.retrieval.fusion import reciprocal_rank
from memserver.services.retrieval.query import TRAJECTORY, Candidate, Standing
from memserver.services.version_vectors import text_of_run
from memserver_skills.beliefs.gates import in_context
from memserver_skills.grounding import fill, ground

SOURCE_SUCCESS_RATE = "source_success_rate"


def load(
    reader: Reader,
    scope: Scope,
    placed: Mapping[UUID, Mapping[str, Standing]],
    goal: str,
    *,
    frame: TimeFrame | None = None,
    context: str | None = None,
) -> list[Candidate]:
    """What was placed by arms and still exists in the scope's reach, best fused first, ties by id.

    A hit whose row is gone is dropped: SQL is the truth. So that an item is found at every moment
    of its life, one that the index still has by an earlier version comes with its present one;
    where a `frame` asks about other times, each version comes for itself, as it was known then.
    Skills that fit the goal are grounded to it. `context` is the type of task that is at hand.
    """
    versions = reader.entries_by_version(scope, list(placed))
    heads = (
        _heads(reader, scope, versions)
        if frame is None
        else _as_known(reader, scope, versions, frame)
    )
    entries = {head.version.id: head for head in heads.values()}
    runs_found = [document for document in placed if document not in versions]
    runs = reader.trajectories_by_id(scope, runs_found) if runs_found else {}
    beliefs = reader.beliefs(scope, list(entries))
    candidates = [
        replace(
            of_entry(
                head,
                placed[document],
                total(head.version.id, beliefs.get(head.version.id, ())),
                goal,
            ),
            here=in_context(beliefs.get(head.version.id, ()), context),
        )
        for document, head in heads.items()
    ]
    recorded = reader.first_recorded(scope, list(runs)) if frame and runs else {}
    candidates += [
        _of_run(run, placed[document], recorded_at=recorded.get(document, run.created_at))
        for document, run in runs.items()
    ]
    return sorted(candidates, key=lambda c: (-c.fused, str(c.document)))


def _heads(reader: Reader, scope: Scope, versions: Mapping[UUID, Entry]) -> dict[UUID, Entry]:
    """For each version that was found its item's present one, each item once. One whose task type
    has changed since is left out: the index must say first whether it meets the question."""
    heads = {document: e for document, e in versions.items() if e.item.head == document}
    shown = {entry.item.id for entry in heads.values()}
    earlier = {e.item.id: document for document, e in versions.items() if e.item.id not in shown}
    for item_id, head in (reader.items_by_id(scope, list(earlier)) if earlier else {}).items():
        document = earlier[item_id]
        if head.version.task_type == versions[document].version.task_type:
            heads[document] = head
    return heads


def _as_known(
    reader: Reader, scope: Scope, versions: Mapping[UUID, Entry], frame: TimeFrame
) -> dict[UUID, Entry]:
    if frame.known_at is None:
        return dict(versions)
    known = reader.as_known(scope, [entry.version for entry in versions.values()], frame.known_at)
    return {version.id: replace(versions[version.id], version=version) for version in known}


def of_entry(entry: Entry, arms: Mapping[str, Standing], belief: Belief, goal: str) -> Candidate:
    item, version = entry.item, entry.version
    body = version.body
    grounded = ground(body, goal) if isinstance(body, SkillBody) else None
    return Candidate(
        document=version.id,
        id=item.id,
        namespace=item.namespace,
        kind=item.kind,
        status=item.status,
        title=version.title,
        text=version.text if grounded is None else _fitted(version.title, grounded),
        brief=_brief(version.title, body, grounded) if isinstance(body, SkillBody) else "",
        indexed=version.text,
        task_type=version.task_type,
        sources=version.sources,
        created_at=item.created_at,
        valid_from=version.valid_from,
        valid_to=version.valid_to,
        recorded_at=version.recorded_at,
        belief=belief,
        arms=arms,
        fused=reciprocal_rank(arms),
        source_success_rate=_rate(version.metadata.get(SOURCE_SUCCESS_RATE)),
        grounded=grounded is not None,
        turn=version.turn,
        expires_at=item.expires_at,
    )


def _fitted(title: str, grounded: SkillBody) -> str:
    """The skill as fitted to the goal, its title's slots filled like its steps'."""
    values = {slot.name: slot.example for slot in grounded.slots if slot.example}
    return render(fill(title, values), grounded)


def _brief(title: str, body: SkillBody, grounded: SkillBody | None) -> str:
    """A skill without what should be seen after each step, which helps less than the next step."""
    whole = grounded or body
    if not any(step.expect for step in whole.steps):
        return ""
    steps = tuple(replace(step, expect="") for step in whole.steps)
    shorter = replace(whole, steps=steps)
    return render(title, shorter) if grounded is None else _fitted(title, shorter)


def _of_run(run: Trajectory, arms: Mapping[str, Standing], *, recorded_at: datetime) -> Candidate:
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
        recorded_at=recorded_at,
        belief=Belief(run.id),
        arms=arms,
        fused=reciprocal_rank(arms),
        source_success_rate=float(run.succeeded),
    )


def run_text(run: Trajectory) -> str:
    """A run as an agent reads it: goal, outcome, one line an action."""
    outcome = "" if run.outcome is None else f"Score: {run.outcome.score:g}"
    steps = [f"{n}. {step.action}" for n, step in enumerate(run.steps, 1) if step.action]
    return "\n".join(filter(None, [f"Goal: {run.task.goal}", outcome, *steps]))


def _rate(value: object) -> float:
    """Metadata is free-form, so what stands there may be anything."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0
