"""Small libraries for tests: skills, the runs that used them, and what follows from both."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

from memserver.domain.evidence import Belief, Event, Evidence, fold, total
from memserver.domain.items import Entry, Item, Kind, SkillBody, SkillStep, Slot, Status, Version
from memserver.domain.trajectories import Trajectory
from memserver_skills.evolution.evolve import Library
from memserver_skills.plans import Rated
from memserver_skills.routing.handbook import Handbook
from tests.unit.skills.runs import NAMESPACE, ROOT, T0, run

WASH = SkillBody(
    when="To wash something",
    goal="wash the {object}",
    slots=(Slot("object", example="mug"),),
    steps=(SkillStep("take {object}"), SkillStep("clean {object} in sink")),
)


def skill(name: str, body: SkillBody = WASH, **more: Any) -> Rated:
    item_id, head = uuid5(ROOT, name), uuid5(ROOT, f"{name} head")
    status = more.pop("status", Status.ACTIVE)
    version = Version(
        id=head,
        item_id=item_id,
        namespace=NAMESPACE,
        number=1,
        title=name,
        body=body,
        valid_from=T0,
        recorded_at=T0,
        **{"method": "distill/workflows", **more},
    )
    item = Item(item_id, NAMESPACE, Kind.SKILL, name, status, head, T0)
    return Rated(Entry(item, version), Belief(head))


def uses(one: Rated, *runs: Trajectory) -> list[Evidence]:
    return [
        Evidence(
            id=uuid5(ROOT, f"{one.version} {number}"),
            namespace=NAMESPACE,
            subject=one.version,
            event=Event.OUTCOME,
            value=found.outcome.score if found.outcome else 0.0,
            weight=1.0,
            recorded_at=T0,
            context=found.task.type or "",
            cause=found.id,
            seq=number,
        )
        for number, found in enumerate(runs, 1)
    ]


def library(
    items: Sequence[Rated], used: dict[UUID, list[Trajectory]], *more: Trajectory
) -> Library:
    evidence = {one.version: uses(one, *used.get(one.item, [])) for one in items}
    beliefs = {
        version: tuple(
            fold(version, context, [piece for piece in pieces if piece.context == context])
            for context in sorted({piece.context for piece in pieces})
        )
        for version, pieces in evidence.items()
    }
    rated = [replace(one, belief=total(one.version, beliefs[one.version])) for one in items]
    runs = [*more, *(found for each in used.values() for found in each)]
    return Library(rated, evidence, beliefs, {one.id: one for one in runs}, Handbook.of([]))


def washed(name: str, *, success: bool, type: str | None = None, **more: Any) -> Trajectory:
    actions = more.pop("actions", ["take mug 1", "clean mug 1 in sink"])
    return run("wash the mug", actions, success=success, name=name, type=type, **more)
