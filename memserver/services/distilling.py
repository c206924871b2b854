"""The verb distill: what the runs of a namespace teach, kept as items."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from memserver.domain.changes import Draft, Row, Verb
from memserver.domain.errors import NoChatModel, UnknownMethod
from memserver.domain.items import Entry, Item, Status, Version, content_hash
from memserver.domain.operations import Operation
from memserver.domain.ports import Store, TrajectoryFilter, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.domain.trajectories import Trajectory
from memserver.services.asking import Asking
from memserver.services.frozen import require_thawed
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService
from memserver.services.paging import every
from memserver.services.rated import rated_items
from memserver.services.remembering import Content, Remembering
from memserver.services.retrieval.candidates import SOURCE_SUCCESS_RATE
from memserver.services.wording import Worded, Wording, as_worded
from memserver_skills.distillers import DISTILLERS, USUAL
from memserver_skills.evolution.admission import AWAITS, awaited
from memserver_skills.experience import Alike, Experience, alike_by_words
from memserver_skills.proposals import Proposal


class Words(StrEnum):
    """Whose words the items get: the rules' own, or a chat model's where these say the same."""

    RULES = "rules"
    MODEL = "model"


class Distilling:
    """What the API asks for. The work itself is `DistillRunner`'s."""

    def __init__(self, operations: OperationService, *, has_model: bool = False) -> None:
        self._operations = operations
        self._has_model = has_model

    def request(
        self,
        tx: Writer,
        scope: Scope,
        namespace: Namespace,
        *,
        methods: Sequence[str] | None,
        words: Words = Words.RULES,
    ) -> Operation:
        """Asks for a distillation by the named methods; by the usual ones where none is named.
        Raises `LibraryFrozen`."""
        if words is Words.MODEL and not self._has_model:
            raise NoChatModel
        for method in methods or ():
            if method not in DISTILLERS:
                raise UnknownMethod(method, sorted(DISTILLERS))
        require_thawed(tx, namespace)
        chosen = list(dict.fromkeys(methods or USUAL))
        params: dict[str, Any] = {"methods": chosen}
        if words is Words.MODEL:
            params["words"] = words.value
        return self._operations.request(
            tx, scope, verb=Verb.DISTILL, namespace=namespace, params=params
        )


class DistillRunner:
    """One step a method. Distilling the same runs again changes nothing; more runs give new
    versions of the items that they bear on. What people took away stays away, and what they
    rewrote stays as they wrote it; what a model reworded keeps its words while the rules say the
    same."""

    verb = Verb.DISTILL.value

    def __init__(
        self,
        store: Store,
        remembering: Remembering,
        *,
        likeness: Callable[[], Alike] = lambda: alike_by_words,
        asking: Asking | None = None,
    ) -> None:
        self._store = store
        self._remembering = remembering
        self._likeness = likeness
        self._wording = None if asking is None else Wording(asking)

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return tuple(operation.params["methods"])

    def prepare(self, operation: Operation, step: str) -> Effect:
        scope = scope_of(operation)
        experience = self._experience(scope, operation.namespace)
        runs = experience.runs
        worded = self._worded(operation, scope, DISTILLERS[step](experience), runs)
        proposals = worded.proposals
        by_model = worded.report() if _words(operation) is Words.MODEL else {}
        rates = _success(runs)
        subjects = {run.id: run.subject for run in runs}

        def effect(tx: Writer) -> Outcome:
            require_thawed(tx, operation.namespace)
            rows = self._rows(tx, scope, operation.namespace, proposals, rates, subjects)
            told = {"runs": len(runs), "proposed": len(proposals), "written": rows.written}
            report = {step: {**told, **by_model}}
            if not rows.rows:
                return Outcome(report=report, note=step)
            change = tx.apply(
                Draft(
                    tenant=scope.tenant,
                    verb=Verb.DISTILL,
                    actor=scope.key,
                    reason=f"{step} from {len(runs)} runs",
                    puts=tuple(rows.rows),
                    operation=operation.id,
                )
            )
            changes = [*(operation.report or {}).get("changes", []), str(change.id)]
            return Outcome(report={**report, "changes": changes}, change_id=change.id, note=step)

        return effect

    def _experience(self, scope: Scope, namespace: Namespace) -> Experience:
        where = TrajectoryFilter(namespaces=(namespace.id,))
        with self._store.reading() as reader:
            runs = list(every(lambda page: reader.trajectories(scope, where, page)))
            return Experience(runs, rated_items(reader, scope, namespace), self._likeness())

    def _worded(
        self,
        operation: Operation,
        scope: Scope,
        proposals: Sequence[Proposal],
        runs: Sequence[Trajectory],
    ) -> Worded:
        namespace = operation.namespace
        with self._store.reading() as reader:
            known = reader.items_by_id(scope, _all_names(namespace, proposals))
        placed = [(one.proposal, one.known) for one in _places(namespace, proposals, known)]
        if self._wording is None or _words(operation) is Words.RULES:
            return Worded(tuple(as_worded(one, entry) or one for one, entry in placed))
        return self._wording.word(operation.tenant, placed, {run.id: run for run in runs})

    def _rows(
        self,
        tx: Writer,
        scope: Scope,
        namespace: Namespace,
        proposals: Sequence[Proposal],
        success: Mapping[UUID, bool],
        subjects: Mapping[UUID, str | None],
    ) -> "Rows":
        known = tx.items_by_id(scope, _all_names(namespace, proposals))
        admission = tx.namespace_settings(namespace).admission
        rows = Rows()
        for place in _places(namespace, proposals, known):
            proposal = place.proposal
            content = replace(_content(proposal, success), subject=_shared(proposal, subjects))
            if place.known is not None:
                rows.add(self._changed(tx, scope, place.known, content))
                continue
            entry = self._remembering.first_version(place.item, namespace, proposal.kind, content)
            entry = _as_admitted(entry, admission)
            rows.add((entry.version, entry.item))
        return rows

    def _changed(self, tx: Writer, scope: Scope, known: Entry, content: Content) -> tuple[Row, ...]:
        """New content is a new version; the same content from more runs only adds sources."""
        version = known.version
        if known.item.status is not Status.ACTIVE or version.method != content.method:
            return ()
        if version.content_hash != content_hash(content.title, content.body):
            following = self._remembering.next_version(tx, scope, known, content).rows
            return tuple(_about(row, content) for row in following)
        if not _grew(version, content):
            return ()
        grown = _with_provenance(version, content)
        about = _about(known.item, content)
        return (grown,) if about == known.item else (grown, about)


class Rows:
    """The rows of a change to be, and how many items they bear on."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.written = 0

    def add(self, rows: tuple[Row, ...]) -> None:
        self.rows += rows
        self.written += bool(rows)


def scope_of(operation: Operation) -> Scope:
    """What an operation may reach: its own namespace, in the name of whoever asked for it."""
    return Scope(operation.tenant, operation.requested_by, Role.WRITER, (operation.namespace.path,))


def _as_admitted(entry: Entry, admission: str) -> Entry:
    """Out of use, and saying what for, where it has to prove itself first."""
    version = entry.version
    awaits = awaited(entry.item.kind, version.metadata, admission)
    if awaits is None:
        return entry
    return Entry(
        replace(entry.item, status=Status.QUARANTINED),
        replace(version, metadata={**version.metadata, AWAITS: awaits}),
    )


def _words(operation: Operation) -> Words:
    return Words(operation.params.get("words", Words.RULES))


@dataclass(frozen=True, slots=True)
class _Place:
    """A proposal with the item that it is a version of; `item` is the id of what is new."""

    proposal: Proposal
    item: UUID
    known: Entry | None = None


def _places(
    namespace: Namespace, proposals: Sequence[Proposal], known: Mapping[UUID, Entry]
) -> Iterator[_Place]:
    """Where each proposal goes, every item to one of them; what has no place is left out."""
    claimed: set[UUID] = set()
    for proposal in proposals:
        names = _names(namespace, proposal)
        item = next((n for n in names if n in known and n not in claimed), names[0])
        if item not in claimed:
            claimed.add(item)
            yield _Place(proposal, item, known.get(item))


def _all_names(namespace: Namespace, proposals: Sequence[Proposal]) -> list[UUID]:
    return list({name for one in proposals for name in _names(namespace, one)})


def _names(namespace: Namespace, proposal: Proposal) -> list[UUID]:
    """The item ids under which a proposal may be known, its own first."""
    return [
        uuid.uuid5(namespace.tenant, "\x1f".join((str(namespace.id), proposal.method, name)))
        for name in dict.fromkeys((proposal.signature, *proposal.aliases))
    ]


def _content(proposal: Proposal, success: Mapping[UUID, bool]) -> Content:
    outcomes = [
        success[source.trajectory_id]
        for source in proposal.sources
        if source.trajectory_id in success
    ]
    metadata: dict[str, Any] = dict(proposal.metadata)
    if outcomes:
        metadata[SOURCE_SUCCESS_RATE] = sum(outcomes) / len(outcomes)
    return Content(
        title=proposal.title,
        body=proposal.body,
        task_type=proposal.task_type,
        sources=proposal.sources,
        metadata=metadata,
        method=proposal.method,
    )


def _success(runs: Sequence[Trajectory]) -> dict[UUID, bool]:
    return {run.id: run.outcome.success for run in runs if run.outcome is not None}


def _shared(proposal: Proposal, subjects: Mapping[UUID, str | None]) -> str | None:
    """The person whom all its runs are about; None where they are about several, and erasure goes
    by the sources alone."""
    about = {subjects.get(source.trajectory_id) for source in proposal.sources}
    return about.pop() if len(about) == 1 else None


def _about(row: Row, content: Content) -> Row:
    """The item's row with the person that its content has now."""
    return replace(row, subject=content.subject) if isinstance(row, Item) else row


def _grew(version: Version, content: Content) -> bool:
    return version.sources != content.sources or version.metadata != (content.metadata or {})


def _with_provenance(version: Version, content: Content) -> Version:
    return replace(version, sources=content.sources, metadata=content.metadata or {})
