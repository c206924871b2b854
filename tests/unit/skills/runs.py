"""Runs and items for the tests of the skill library, made from a few words."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from memserver.domain.evidence import Belief
from memserver.domain.items import Body, Entry, Item, Kind, Status, TextBody, Version
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Outcome, Step, Task, Trajectory
from memserver_skills.plans import Rated

T0 = datetime(2026, 1, 1, tzinfo=UTC)
ROOT = UUID(int=7)
NAMESPACE = Namespace(1, UUID(int=1), "demo")


def run(
    goal: str,
    actions: Sequence[str],
    *,
    success: bool = True,
    name: str = "",
    day: int = 0,
    observations: Sequence[str] = (),
    **task: Any,
) -> Trajectory:
    """One run; `observations[n]` is what action n was taken on, one more is what came last."""
    seen = [*observations, *[""] * len(actions)]
    steps = [Step(seen[n], action) for n, action in enumerate(actions)]
    if len(observations) > len(actions):
        steps.append(Step(observations[len(actions)]))
    mistakes = task.pop("mistakes", ())
    return Trajectory(
        id=uuid5(ROOT, f"{goal}|{'|'.join(actions)}|{success}|{name}|{mistakes}"),
        namespace=NAMESPACE,
        task=Task(goal, **task),
        agent="",
        steps=tuple(steps),
        outcome=Outcome(float(success), success),
        used=None,
        created_at=T0 + timedelta(days=day),
        mistakes=tuple(mistakes),
    )


def put(thing: str, place: str, source: str, **kwargs: Any) -> Trajectory:
    return run(
        f"put some {thing} on {place}.",
        [
            f"go to {source}",
            f"take {thing} from {source}",
            f"go to {place}",
            f"move {thing} to {place}",
        ],
        **kwargs,
    )


def heat(thing: str, place: str, source: str, **kwargs: Any) -> Trajectory:
    return run(
        f"heat some {thing} and put it in {place}.",
        [
            f"go to {source}",
            f"take {thing} from {source}",
            "go to microwave",
            f"heat {thing} with microwave",
            f"go to {place}",
            f"move {thing} to {place}",
        ],
        **kwargs,
    )


PUTS = [
    put("mug", "dresser", "countertop"),
    put("towel", "cart", "shelf"),
    put("candle", "toilet", "countertop"),
    put("book", "bed", "desk"),
]
HEATS = [
    heat("mug", "cabinet", "countertop"),
    heat("egg", "sidetable", "fridge"),
    heat("plate", "shelf", "countertop"),
]


def rated(
    body: Body | str,
    *,
    title: str = "title",
    kind: Kind = Kind.NOTE,
    name: str = "",
    namespace: Namespace = NAMESPACE,
    successes: float = 0,
    failures: float = 0,
    day: int = 0,
    status: Status = Status.ACTIVE,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
) -> Rated:
    body = TextBody(body) if isinstance(body, str) else body
    item_id = uuid5(ROOT, f"{title}|{body}|{kind}|{name}|{namespace.id}|{day}")
    version_id = uuid5(item_id, "1")
    at = T0 + timedelta(days=day)
    return Rated(
        Entry(
            Item(item_id, namespace, kind, title, status, version_id, at),
            Version(
                version_id,
                item_id,
                namespace,
                1,
                title,
                body,
                valid_from=valid_from or at,
                recorded_at=at,
                valid_to=valid_to,
            ),
        ),
        Belief(
            version_id,
            successes=successes,
            failures=failures,
            outcomes=int(successes + failures),
        ),
    )
