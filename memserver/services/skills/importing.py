"""Skills from outside, taken into quarantine: kept, shown, and offered to nobody until somebody
promotes them."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, Verb
from memserver.domain.errors import Refused, SkillsRefused
from memserver.domain.items import (
    Body,
    Entry,
    Kind,
    SkillBody,
    Status,
    content_hash,
)
from memserver.domain.namespace_settings import NamespaceSettings
from memserver.domain.ports import Writer
from memserver.domain.scope import Namespace, Scope
from memserver.services.remembering import Content, Remembering
from memserver.services.retrieval.candidates import SOURCE_SUCCESS_RATE
from memserver.services.skills.contents import HIDDEN_SECRET, hidden_secret, opened
from memserver.services.skills.reading import Brought
from memserver.services.skills.tools_allowed import not_allowed, tools_of
from memserver_skills.agent_skills.exchange import KEPT, SPELLING
from memserver_skills.agent_skills.faults import BadSkill
from memserver_skills.evolution.admission import AWAITS
from memserver_skills.incoming import Incoming
from memserver_skills.sound_bodies import faults_of
from memserver_skills.suspicions import Finding, suspicions

METHOD = "import"
IMPORT = "import"
"""Under this key an item's metadata keeps where it was imported from, and what was found in it."""
NO_WORD_OF_OTHERS = frozenset({SOURCE_SUCCESS_RATE, AWAITS})
"""What runs have shown elsewhere is no word on runs here. And what waits for proof comes into use
by itself, which what was imported must not."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One skill as it now stands in the namespace; `existing` where it was there before. What is
    `undecided` are tools that it declares in a namespace without a list."""

    entry: Entry
    where: str
    existing: bool
    findings: tuple[Finding, ...]
    undecided: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """`change` is None where nothing was new."""

    format: str
    taken: tuple[Taken, ...]
    refused: tuple[Refused, ...]
    change: Change | None


class Importing:
    def __init__(self, remembering: Remembering, *, new_id: Callable[[], UUID]) -> None:
        self._remembering = remembering
        self._new_id = new_id

    def __call__(
        self, tx: Writer, scope: Scope, namespace: Namespace, brought: Brought
    ) -> Imported:
        """Takes what may be taken, in one change, and says what may not and why. The same skill is
        not taken twice. Raises `SkillsRefused` where nothing is left."""
        settings = tx.namespace_settings(namespace)
        refused = list(tx.protected([namespace], brought.refused))
        taken: dict[UUID, Taken] = {}
        rows: list[Row] = []
        for one in brought.skills:
            try:
                sound = replace(one, body=_opened(one.body))
            except BadSkill as error:
                told = [Refused(one.where, f.code, f.message) for f in error.faults]
                refused += tx.protected([namespace], tuple(told))
                continue
            if (reason := _against(sound, settings)) is not None:
                refused.append(tx.protected([namespace], reason))
                continue
            found = self._take(tx, scope, namespace, sound, brought.format, settings)
            if not found.existing and found.entry.item.id not in taken:
                rows += (found.entry.version, found.entry.item)
            taken.setdefault(found.entry.item.id, found)
        if not taken:
            raise SkillsRefused(refused or [Refused("", "no_skill", "nothing was sent")])
        change = _applied(tx, scope, rows, f"{brought.format}: into quarantine")
        return Imported(brought.format, tuple(taken.values()), tuple(refused), change)

    def _take(
        self,
        tx: Writer,
        scope: Scope,
        namespace: Namespace,
        one: Incoming,
        format: str,
        settings: NamespaceSettings,
    ) -> Taken:
        content, where, findings = self._protected(tx, namespace, one, format)
        undecided = tools_of(content.body) if settings.allowed_tools is None else ()
        digest = content_hash(content.title, content.body)
        item_id = _import_id(namespace, one.kind, digest)
        known = self._known(tx, scope, namespace, one.kind, digest, item_id)
        if known is not None:
            return Taken(known, where, True, findings, undecided)
        if tx.item(scope, item_id) is not None:  # what it says now is something else, or it is gone
            item_id = self._new_id()
        entry = self._remembering.first_version(item_id, namespace, one.kind, content)
        entry = replace(entry, item=replace(entry.item, status=Status.QUARANTINED))
        return Taken(entry, where, False, findings, undecided)

    def _protected(
        self, tx: Writer, namespace: Namespace, one: Incoming, format: str
    ) -> tuple[Content, str, tuple[Finding, ...]]:
        """What is kept of it, where it stood and what was found in it, without what the namespace
        keeps no word of. An excerpt is of what is kept: a part of a secret has no shape."""
        told = {key: value for key, value in one.metadata.items() if key not in NO_WORD_OF_OTHERS}
        sent = Content(
            title=one.title,
            body=one.body,
            task_type=one.task_type,
            metadata=told,
            method=f"{METHOD}/{format}",
        )
        kept, where = tx.protected([namespace], (sent, one.where))
        metadata = _without_spelling(sent, kept)
        found = suspicions(kept.title, kept.body, metadata)
        findings = tx.protected([namespace], found) if found else ()
        origin: dict[str, Any] = {"format": format, "where": where}
        if findings:
            origin["findings"] = [asdict(finding) for finding in findings]
        return replace(kept, metadata={**metadata, IMPORT: origin}), where, findings

    def _known(
        self,
        tx: Writer,
        scope: Scope,
        namespace: Namespace,
        kind: Kind,
        digest: str,
        item_id: UUID,
    ) -> Entry | None:
        """What says the same here already: in use, or in quarantine since an earlier import."""
        active = tx.items_by_content(scope, namespace, kind, digest)
        if active:
            return active[0]
        earlier = tx.item(scope, item_id)
        if earlier is None or earlier.version.content_hash != digest:
            return None
        return earlier if earlier.item.status is Status.QUARANTINED else None


def _opened(body: Body) -> Body:
    """Raises `BadSkill`."""
    if isinstance(body, SkillBody):
        return opened(body)
    if faults := faults_of(body):
        raise BadSkill(faults)
    return body


def _against(one: Incoming, settings: NamespaceSettings) -> Refused | None:
    """Why it may not be taken here, None where it may."""
    allowed = settings.allowed_tools
    if allowed is not None and (beyond := not_allowed(tools_of(one.body), allowed)):
        named = ", ".join(repr(tool[:80]) for tool in beyond[:10])
        reason = f"the skill declares tools that the namespace does not allow: {named}"
        return Refused(one.where, "tool_not_allowed", reason)
    if isinstance(one.body, SkillBody):
        where = hidden_secret(one.body, settings, beside=one.metadata)
        if where is not None:
            reason = f"in {where[:80]!r} stands what looks like a hidden secret"
            return Refused(one.where, HIDDEN_SECRET, reason)
    return None


def _without_spelling(sent: Content, kept: Content) -> dict[str, Any]:
    """The metadata. The front matter as it was written goes where something was taken out of what
    it says: escapes and broken lines spell a secret so that it has no shape."""
    metadata = dict(kept.metadata or {})
    front = metadata.get(KEPT)
    if not isinstance(front, dict) or SPELLING not in front:
        return metadata
    before = (sent.metadata or {}).get(KEPT, {})
    said = {name: part for name, part in front.items() if name != SPELLING}
    told = {name: part for name, part in before.items() if name != SPELLING}
    same = (kept.title, kept.body, said) == (sent.title, sent.body, told)
    return metadata if same else {**metadata, KEPT: said}


def _import_id(namespace: Namespace, kind: Kind, digest: str) -> UUID:
    """The same for the same content, so that it is found again where no list of content leads:
    only what is in use is found by its content."""
    named = "\x1f".join((str(namespace.id), METHOD, kind.value, digest))
    return uuid.uuid5(namespace.tenant, named)


def _applied(tx: Writer, scope: Scope, rows: Sequence[Row], reason: str) -> Change | None:
    if not rows:
        return None
    return tx.apply(
        Draft(
            tenant=scope.tenant,
            verb=Verb.IMPORT_SKILLS,
            actor=scope.key,
            reason=f"{len(rows) // 2} from {reason}",
            puts=tuple(rows),
        )
    )
