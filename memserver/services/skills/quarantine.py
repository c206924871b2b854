"""Into use and out of it by a person's word: the one way in which what was imported gets to be
offered."""

from dataclasses import dataclass, replace
from uuid import UUID

from memserver.domain.changes import Change, Draft, Verb
from memserver.domain.errors import (
    FindingsNotAccepted,
    ItemNotFound,
    ToolsUndecided,
    WrongState,
)
from memserver.domain.items import Entry, Status
from memserver.domain.ports import Reader, Writer
from memserver.domain.scope import Scope
from memserver.services.access import Access
from memserver.services.skills.importing import IMPORT
from memserver.services.skills.tools_allowed import require_allowed, tools_of
from memserver_skills.evolution.admission import AWAITS
from memserver_skills.suspicions import Finding, suspicions


@dataclass(frozen=True, slots=True)
class Moved:
    """The skill as it stands now, what was found in it, and what tools it declares."""

    entry: Entry
    findings: tuple[Finding, ...]
    tools: tuple[str, ...]
    change: Change


class Quarantine:
    def __init__(self, access: Access) -> None:
        self._access = access

    def promote(
        self,
        tx: Writer,
        scope: Scope,
        item_id: UUID,
        *,
        reason: str,
        allow_tools: bool = False,
        accept_findings: bool = False,
    ) -> Moved:
        """Into use. It is looked at as it stands now, whatever was found when it came. Raises
        `ItemNotFound`, `NamespaceForbidden`, `WrongState`, `ToolNotAllowed`, `ToolsUndecided`,
        `FindingsNotAccepted`."""
        entry = self._found(tx, scope, item_id, Status.QUARANTINED, "promoted")
        namespace = entry.item.namespace
        tools = tools_of(entry.version.body)
        require_allowed(tx, namespace, entry.version.body)
        if tools and not allow_tools and tx.namespace_settings(namespace).allowed_tools is None:
            raise ToolsUndecided(namespace.path, tools)
        findings = found_in(entry)
        if findings and not accept_findings:
            raise FindingsNotAccepted([(one.code, one.where, one.excerpt) for one in findings])
        said = [reason]
        if findings:
            said.append(f"accepted: {', '.join(sorted({one.code for one in findings}))}")
        if tools:
            said.append(f"tools: {', '.join(tools[:20])}")
        promoted = _moved(entry, Status.ACTIVE)
        change = _applied(tx, scope, promoted, Verb.PROMOTE_SKILL, "; ".join(said))
        return Moved(promoted, findings, tools, change)

    def quarantine(self, tx: Writer, scope: Scope, item_id: UUID, *, reason: str) -> Moved:
        """Out of use, until it is promoted: no proof that it waited for once brings it back. Raises
        as `promote` does."""
        entry = self._found(tx, scope, item_id, Status.ACTIVE, "quarantined")
        kept = _without_wait(_moved(entry, Status.QUARANTINED))
        change = _applied(
            tx, scope, kept, Verb.QUARANTINE_SKILL, reason, told=kept.version != entry.version
        )
        return Moved(kept, found_in(kept), tools_of(kept.version.body), change)

    def _found(self, tx: Reader, scope: Scope, item_id: UUID, wanted: Status, move: str) -> Entry:
        entry = tx.item(scope, item_id)
        if entry is None or entry.item.status is Status.DELETED:
            raise ItemNotFound(item_id)
        self._access.require_writable(scope, entry.item.namespace)
        if entry.item.status is not wanted:
            raise WrongState("skill", item_id, entry.item.status.value, move)
        return entry


def found_in(entry: Entry) -> tuple[Finding, ...]:
    """What reads like an attempt in the present version; what was found before is no part of it."""
    version = entry.version
    metadata = {key: value for key, value in version.metadata.items() if key != IMPORT}
    return suspicions(version.title, version.body, metadata)


def _moved(entry: Entry, status: Status) -> Entry:
    return replace(entry, item=replace(entry.item, status=status))


def _without_wait(entry: Entry) -> Entry:
    version = entry.version
    metadata = {key: value for key, value in version.metadata.items() if key != AWAITS}
    if metadata == version.metadata:
        return entry
    return replace(entry, version=replace(version, metadata=metadata))


def _applied(
    tx: Writer, scope: Scope, entry: Entry, verb: Verb, reason: str, *, told: bool = False
) -> Change:
    """`told` says that the version's metadata changed, too."""
    puts = (entry.version, entry.item) if told else (entry.item,)
    return tx.apply(
        Draft(tenant=scope.tenant, verb=verb, actor=scope.key, reason=reason, puts=puts)
    )
