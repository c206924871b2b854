"""Memories and skills: told, revised, listed, read, removed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memserver.wire.base import Page, Receipt
from memserver.wire.items import History, Item, ItemStored, NewMemory, NewSkill, NewVersion, Source
from memserver.wire.provenance import Provenance, Restore
from memserver_client._call import Call, Listing, Steps, asked, read, write
from memserver_client._errors import invalid
from memserver_client._requests import Fact, Id, checked, fact_bodies, id_of, text_body


def remember(
    text: str | None = None,
    *,
    namespace: str,
    kind: str = "note",
    title: str = "",
    body: Mapping[str, Any] | None = None,
    facts: Iterable[Fact] | None = None,
    task_type: str | None = None,
    sources: Sequence[Source | Mapping[str, Any]] | None = None,
    metadata: Mapping[str, Any] | None = None,
    valid_from: datetime | None = None,
) -> Steps[ItemStored | list[ItemStored]]:
    """Stores a `text`, a `body` of the shape that its kind has, or several `facts`, which are
    (entity, key, value) and answer one receipt each. What the namespace already holds is not
    stored twice; a new value for the same entity and key is a new version of that fact."""
    shared = {
        "namespace": namespace,
        "task_type": task_type,
        "sources": sources,
        "metadata": metadata,
        "valid_from": valid_from,
    }
    if [text, body, facts].count(None) != 2:
        raise invalid("Give exactly one of text, body and facts.")
    if facts is not None:
        told = [checked(NewMemory, **shared, kind="fact", body=each) for each in fact_bodies(facts)]
        receipts = []
        for fact in told:
            receipts.append((yield from asked(_stored(fact))))
        return receipts
    content = body if text is None else text_body(kind, text)
    if kind == "skill":
        new: NewMemory | NewSkill = checked(NewSkill, **shared, title=title, body=content)
    else:
        new = checked(NewMemory, **shared, title=title, kind=kind, body=content)
    return (yield from asked(_stored(new)))


def _stored(new: NewMemory | NewSkill) -> Call[ItemStored]:
    path = "/v1/skills" if isinstance(new, NewSkill) else "/v1/memories"
    return write("POST", path, ItemStored, new)


def revise(id: Id, new: NewVersion) -> Call[ItemStored]:
    """A new version of an item, whose body keeps the shape of its kind."""
    return write("POST", f"/v1/memories/{id_of(id)}/versions", ItemStored, new)


def items(*, namespace: str, kind: str | None = None, status: str | None = None) -> Listing[Item]:
    """All of them, of every kind; each page is asked for when it is needed."""
    params = {"namespace": namespace, "kind": kind, "status": status}
    return Listing(path="/v1/memories", page=Page[Item], params=params)


def item(id: Id) -> Call[Item]:
    return read(f"/v1/memories/{id_of(id)}", Item)


def history(id: Id) -> Call[History]:
    return read(f"/v1/memories/{id_of(id)}/history", History)


def delete_item(id: Id) -> Call[Receipt]:
    return write("DELETE", f"/v1/memories/{id_of(id)}", Receipt)


def provenance(id: Id) -> Call[Provenance]:
    """The steps and turns that an item, and all that was merged into it, were drawn from."""
    return read(f"/v1/memories/{id_of(id)}/provenance", Provenance)


def restore(id: Id, *, version_id: Id | None = None) -> Call[ItemStored]:
    """Has an item say again what that version said; by default the newest, where the item was
    deleted, archived or merged."""
    wanted = checked(Restore, version_id=None if version_id is None else id_of(version_id))
    return write("POST", f"/v1/memories/{id_of(id)}/restore", ItemStored, wanted)
