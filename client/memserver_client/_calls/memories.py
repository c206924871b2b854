"""Memories and skills: told, revised, listed, read, removed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memserver.wire.base import Page, Receipt
from memserver.wire.items import History, Item, ItemStored, NewMemory, NewSkill, NewVersion, Source
from memserver.wire.provenance import Provenance, Restore
from memserver.wire.writing import Message, Remember, Remembered
from memserver_client._call import Call, Listing, Steps, asked, read, write
from memserver_client._errors import invalid
from memserver_client._requests import Fact, Id, checked, fact_bodies, id_of, text_body


def remember(
    text: str | None = None,
    *,
    namespace: str,
    messages: Iterable[Message | Mapping[str, Any]] | None = None,
    facts: Iterable[Fact] | None = None,
    body: Mapping[str, Any] | None = None,
    kind: str | None = None,
    title: str = "",
    task_type: str | None = None,
    sources: Sequence[Source | Mapping[str, Any]] | None = None,
    valid_from: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
    subject: str | None = None,
    session: Id | None = None,
    keep_turns: bool = True,
    at: datetime | None = None,
    time_zone: str | None = None,
    expires_at: datetime | None = None,
) -> Steps[Remembered | ItemStored]:
    """Tells what was said: a `text`, the `messages` of a conversation, or `facts`, which are
    (entity, key, value). The facts in it are held against what is known, and each is added,
    updates, ends or repeats something; the rest is kept as it was said. Answers what became of
    each.

    With a `body` of the shape that its kind has, or a `kind` (or title, task type, sources or
    `valid_from`) for the text, it stores one item as it is, and answers its receipt."""
    if [text, messages, facts, body].count(None) != 3:
        raise invalid("Give exactly one of text, messages, facts and body.")
    shared = {"namespace": namespace, "metadata": metadata, "subject": subject}
    said = {
        "session": None if session is None else id_of(session),
        "keep_turns": None if keep_turns else False,
        "at": at,
        "time_zone": time_zone,
        "expires_at": expires_at,
    }
    of_item = {"task_type": task_type, "sources": sources, "valid_from": valid_from}
    wanted = [name for name, value in {"kind": kind, **of_item}.items() if value is not None]
    wanted += ["title"] if title else []
    if body is None and not (text is not None and wanted):
        dated = facts is not None and wanted == ["valid_from"]
        if wanted and not dated:
            raise invalid(f"{wanted[0]} belongs to one item: pass it with text or body.")
        told = None if facts is None else _dated(fact_bodies(facts), valid_from)
        heard = None if messages is None else list(messages)
        call = checked(Remember, **shared, **said, text=text, messages=heard, facts=told)
        return (yield from asked(write("POST", "/v1/remember", Remembered, call)))
    given = [name for name, value in said.items() if value is not None]
    if given:
        raise invalid(f"{given[0]} belongs to what was said, not to one item of a kind.")
    kind = kind or "note"
    content = body if text is None else text_body(kind, text)
    if kind == "skill":
        new: NewMemory | NewSkill = checked(
            NewSkill, **shared, **of_item, title=title, body=content
        )
    else:
        new = checked(NewMemory, **shared, **of_item, title=title, kind=kind, body=content)
    return (yield from asked(_stored(new)))


def _dated(facts: list[dict[str, Any]], valid_from: datetime | None) -> list[dict[str, Any]]:
    if valid_from is None:
        return facts
    return [{"valid_from": valid_from, **fact} for fact in facts]


def _stored(new: NewMemory | NewSkill) -> Call[ItemStored]:
    path = "/v1/skills" if isinstance(new, NewSkill) else "/v1/memories"
    return write("POST", path, ItemStored, new)


def revise(id: Id, new: NewVersion) -> Call[ItemStored]:
    """A new version of an item, whose body keeps the shape of its kind."""
    return write("POST", f"/v1/memories/{id_of(id)}/versions", ItemStored, new)


def items(
    *,
    namespace: str,
    kind: str | None = None,
    status: str | None = None,
    unseal: bool | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> Listing[Item]:
    """All of them, of every kind; each page is asked for when it is needed. `unseal` asks for
    what privacy took out of texts. `as_of` and `known_at` are those of `retrieve`: each item
    comes with the version that held."""
    params = {
        "namespace": namespace,
        "kind": kind,
        "status": status,
        "unseal": unseal,
        **_times(as_of, known_at),
    }
    return Listing(path="/v1/memories", page=Page[Item], params=params)


def item(
    id: Id,
    *,
    unseal: bool | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> Call[Item]:
    """One item; `ItemNotFound` where it had no version at the time asked for."""
    params = {"unseal": unseal, **_times(as_of, known_at)}
    return read(f"/v1/memories/{id_of(id)}", Item, params)


def _times(as_of: datetime | None, known_at: datetime | None) -> dict[str, str | None]:
    times = {"as_of": as_of, "known_at": known_at}
    return {name: None if time is None else time.isoformat() for name, time in times.items()}


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
