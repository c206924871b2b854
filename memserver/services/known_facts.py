"""Under which ids and names a fact is known, and whose it is: a new value must find the old one."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from memserver.domain.items import Body, Entry, FactBody, normal_name
from memserver.domain.ports import Reader
from memserver.domain.scope import Namespace, Scope


def fact_id(namespace: Namespace, body: FactBody, subject: str | None = None) -> UUID:
    """One item a namespace, person, entity and key, so that a new value finds the old one, however
    the two are spelt."""
    whose = () if subject is None else (subject,)
    return _fact_id(namespace, normal_name(body.entity), normal_name(body.key), *whose)


def fact_ids(namespace: Namespace, body: FactBody, subject: str | None) -> list[UUID]:
    """The ids under which the fact may be known, the likeliest first."""
    ids = (
        fact_id(namespace, body, subject),
        fact_id(namespace, body),
        _fact_id(namespace, body.entity, body.key),  # from when the spelling counted
    )
    return list(dict.fromkeys(ids))


def known_fact(
    reader: Reader, scope: Scope, namespace: Namespace, body: FactBody, subject: str | None
) -> Entry | None:
    """The item of this entity and key, whatever its status, that what is told about the subject is
    a new value of. One that was made when spelling counted is found by that spelling or, while it
    is active, by any."""
    ids = fact_ids(namespace, body, subject)
    by_id = reader.items_by_id(scope, ids)
    about = about_of(body)
    active = reader.facts_about(scope, namespace, [body.entity])
    found = [by_id[item_id] for item_id in ids if item_id in by_id]
    found += [one for one in active if about_of(one.version.body) == about]
    return next(iter(facts_of(found, subject)), None)


def facts_of(facts: Iterable[Entry], subject: str | None) -> list[Entry]:
    """Those that what is told about the subject may change, the person's own first: a value of one
    person is none of another's, or it would stay, or go, with the erasure of the other. What is
    told of nobody changes a person's only where one person alone has it."""
    found = [(one, one.version.body) for one in facts if isinstance(one.version.body, FactBody)]
    own = [one for one, _ in found if one.item.subject == subject]
    if subject is not None:
        return own + [one for one, _ in found if one.item.subject is None]
    people: dict[tuple[str, str] | None, set[str]] = defaultdict(set)
    for one, body in found:
        if one.item.subject is not None:
            people[about_of(body)].add(one.item.subject)
    return own + [
        one
        for one, body in found
        if one.item.subject is not None
        and (len(people[about_of(body)]) == 1 or one.item.id == fact_id(one.item.namespace, body))
    ]


def _fact_id(namespace: Namespace, entity: str, key: str, *whose: str) -> UUID:
    return uuid.uuid5(
        namespace.tenant, "\x1f".join((str(namespace.id), "fact", entity, key, *whose))
    )


def about_of(body: Body) -> tuple[str, str] | None:
    """What a fact is found by when its value changes, None for other bodies."""
    if not isinstance(body, FactBody):
        return None
    return (normal_name(body.entity), normal_name(body.key))
