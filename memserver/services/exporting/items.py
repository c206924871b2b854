"""An item with its current version, in the words of the API."""

from dataclasses import asdict
from datetime import datetime

from memserver.domain.evidence import Belief
from memserver.domain.items import Entry, Source
from memserver.services.exporting.lines import Row
from memserver.services.exporting.wording import Wording


def item_row(entry: Entry, belief: Belief, wording: Wording) -> Row:
    item, version = entry.item, entry.version
    return {
        "id": str(item.id),
        "namespace": item.namespace.path,
        "kind": item.kind.value,
        "title": wording.text(item.title),
        "status": item.status.value,
        "created_at": item.created_at.isoformat(),
        "merged_into": None if item.merged_into is None else str(item.merged_into),
        "version": {
            "id": str(version.id),
            "item_id": str(item.id),
            "number": version.number,
            "title": wording.text(version.title),
            "body": wording.value(asdict(version.body)),
            "text": wording.text(version.text),
            "method": version.method,
            "sources": [_source(source) for source in version.sources],
            "task_type": wording.label_or_none(version.task_type),
            "metadata": wording.value(version.metadata),
            "parent": None if version.parent is None else str(version.parent),
            "valid_from": version.valid_from.isoformat(),
            "valid_to": _time(version.valid_to),
            "recorded_at": version.recorded_at.isoformat(),
            "belief": {
                "mean": belief.mean,
                "lower_bound": belief.lower_bound,
                "outcomes": belief.outcomes,
            },
        },
    }


def _source(source: Source) -> Row:
    return {"trajectory_id": str(source.trajectory_id), "steps": list(source.steps)}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
