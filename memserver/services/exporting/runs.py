"""A run as the line that `memserver import` reads: in the words of the API, without namespace."""

from dataclasses import asdict

from memserver.domain.trajectories import Outcome, Step, Task, Trajectory
from memserver.services.exporting.lines import Row
from memserver.services.exporting.wording import Wording


def run_row(run: Trajectory, wording: Wording) -> Row:
    """Without text it tells what happened when and how it went, and cannot be imported."""
    return {
        "id": str(run.id),
        "task": _task(run.task, wording),
        "agent": wording.label(run.agent),
        "steps": [_step(step, wording) for step in run.steps],
        "outcome": None if run.outcome is None else _outcome(run.outcome),
        "used": None if run.used is None else [str(version) for version in run.used],
        "mistakes": [wording.text(mistake) for mistake in run.mistakes],
        "metadata": wording.value(run.metadata),
        "created_at": run.created_at.isoformat(),
        **({} if run.subject is None else {"subject": wording.label(run.subject)}),
    }


def _task(task: Task, wording: Wording) -> Row:
    return {
        "goal": wording.text(task.goal),
        "type": wording.label_or_none(task.type),
        "environment": wording.label_or_none(task.environment),
        "template_id": wording.label_or_none(task.template_id),
    }


def _step(step: Step, wording: Wording) -> Row:
    return {
        "observation": wording.text(step.observation),
        "action": wording.text(step.action),
        "reward": step.reward,
        "metadata": wording.value(step.metadata),
    }


def _outcome(outcome: Outcome) -> Row:
    return {**asdict(outcome), "source": outcome.source.value}
