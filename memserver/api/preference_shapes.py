"""From preferences to response models."""

from memserver.api import shaping
from memserver.services.preferring.preferring import Kept, Learnt, Suited
from memserver.services.preferring.voting import Elected
from memserver.wire import preferences as wire


def edit_read(learnt: Learnt) -> wire.EditRead:
    return wire.EditRead(
        preferences=[_shown(kept) for kept in learnt.kept],
        by="model" if learnt.reading.by == "model" else "rules",
        reason=learnt.reading.reason,
        **shaping.receipt(learnt.change).model_dump(),
    )


def preferences(suited: Suited) -> wire.Preferences:
    found = [_preference(elected, suited) for elected in suited.elected]
    return wire.Preferences(
        preferences=found, text="\n".join(f"- {one.statement}" for one in found)
    )


def _shown(kept: Kept) -> wire.PreferenceShown:
    return wire.PreferenceShown(
        id=kept.entry.item.id,
        version_id=kept.entry.version.id,
        statement=kept.entry.version.title,
        about=kept.leaning.about.value,
        wants=kept.leaning.wants,
        of=kept.leaning.of,
        repeated=kept.repeated,
        against=list(kept.against),
    )


def _preference(elected: Elected, suited: Suited) -> wire.Preference:
    nearest = elected.voters[0]
    return wire.Preference(
        statement=suited.entries[nearest.item].version.title,
        about=elected.leaning.about.value,
        wants=elected.leaning.wants,
        of=elected.leaning.of,
        weight=elected.weight,
        similarity=nearest.similarity,
        items=[voter.item for voter in elected.voters],
    )
