"""Skills in and out from domain values to response models."""

from typing import Any

from memserver.api import shaping
from memserver.domain.changes import Change
from memserver.services.skills.card import Card
from memserver.services.skills.importing import Imported, Taken
from memserver.services.skills.quarantine import Moved
from memserver.services.tracing import Origin, Trace
from memserver.wire import provenance, skills


def imported(of: Imported) -> skills.SkillsImported:
    return skills.SkillsImported(
        format=of.format,
        ids=[one.entry.item.id for one in of.taken],
        skills=[_taken(one) for one in of.taken],
        refused=[skills.RefusedSkill.model_validate(one) for one in of.refused],
        **shaping.receipt(of.change).model_dump(exclude={"searchable"}),
    )


def moved(of: Moved) -> skills.SkillMoved:
    return skills.SkillMoved(
        id=of.entry.item.id,
        status=of.entry.item.status,
        findings=[skills.Finding.model_validate(one) for one in of.findings],
        tools=list(of.tools),
        **shaping.receipt(of.change).model_dump(exclude={"searchable"}),
    )


def card(of: Card) -> skills.SkillCard:
    at = of.whereabouts
    return skills.SkillCard(
        item=shaping.item(of.current),
        versions=[shaping.version(one) for one in of.versions],
        whereabouts=skills.Whereabouts(
            place=at.place.value,
            because=at.because,
            change=None if at.change is None else _move(at.change),
            merged_into=at.merged_into,
        ),
        origin=trace(of.trace),
        imported=None if of.imported is None else _plain(of.imported),
        findings=[skills.Finding.model_validate(one) for one in of.findings],
        tools=list(of.tools),
        used=of.used,
        uses=[skills.SkillUse.model_validate(use) for use in of.uses],
        by_context=[skills.SkillShare.model_validate(one) for one in of.by_context],
        by_agent=[skills.SkillShare.model_validate(one) for one in of.by_agent],
        moves=[_move(one) for one in of.moves],
    )


def trace(of: Trace) -> provenance.Provenance:
    return provenance.Provenance(
        item_id=of.item.item.id,
        own=[_origin(one) for one in of.own],
        merged=[_origin(one) for one in of.merged],
        cut=of.cut,
    )


def _origin(of: Origin) -> provenance.Origin:
    version = of.entry.version
    return provenance.Origin(
        item_id=version.item_id,
        version_id=version.id,
        number=version.number,
        text=version.text,
        method=version.method,
        recorded_at=version.recorded_at,
        runs=[provenance.SourceRun.model_validate(run) for run in of.runs],
        turn=None if of.turn is None else provenance.SourceTurn.model_validate(of.turn),
        out_of_reach=of.out_of_reach,
    )


def _taken(of: Taken) -> skills.ImportedSkill:
    item = of.entry.item
    return skills.ImportedSkill(
        id=item.id,
        version_id=of.entry.version.id,
        where=of.where,
        title=item.title,
        kind=item.kind,
        status=item.status,
        existing=of.existing,
        findings=[skills.Finding.model_validate(one) for one in of.findings],
        undecided_tools=list(of.undecided),
    )


def _move(of: Change) -> skills.Move:
    return skills.Move(
        change_id=of.id,
        verb=of.verb,
        reason=of.reason,
        actor=of.actor,
        at=of.created_at,
        undone_by=of.undone_by,
    )


def _plain(of: Any) -> dict[str, Any]:
    return dict(of)
