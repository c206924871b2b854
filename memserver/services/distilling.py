"""The verb distill: what the runs of a namespace teach, kept as items."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from memserver.domain.changes import Draft, Row, Verb
from memserver.domain.errors import Invalid
from memserver.domain.items import Entry, Item, Status, Version, content_hash
from memserver.domain.operations import Operation
from memserver.domain.ports import Store, TrajectoryFilter, Writer
from memserver.domain.scope import Namespace, Role, Scope
from memserver.domain.trajectories import Trajectory
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService
from memserver.services.paging import every
from memserver.services.rated import rated_items
from memserver.services.remembering import Content, Remembering
from memserver.services.retrieval.candidates import SOURCE_SUCCESS_RATE
from memserver_skills.distillers import DISTILLERS, USUAL
from memserver_skills.experience import Alike, Experience, alike_by_words
from memserver_skills.proposals import Proposal


class UnknownMethod(Invalid):
    code = "unknown_method"

    def __init__(self, method: str) -> None:
        super().__init__(
            f"There is no distiller {method[:80]!r}; there are: {', '.join(sorted(DISTILLERS))}."
        )


class Distilling:
    """What the API asks for. The work itself is `DistillRunner`'s."""

    def __init__(self, operations: OperationService) -> None:
        self._operations = operations

    def request(
        self, tx: Writer, scope: Scope, namespace: Namespace, *, methods: Sequence[str] | None
    ) -> Operation:
        """Asks for a distillation by the named methods; by the usual ones where none is named."""
        for method in methods or ():
            if method not in DISTILLERS:
                raise UnknownMethod(method)
        chosen = list(dict.fromkeys(methods or USUAL))
        return self._operations.request(
            tx, scope, verb=Verb.DISTILL, namespace=namespace, params={"methods": chosen}
        )


class DistillRunner:
    """One step a method. Distilling the same runs again changes nothing; more runs give new
    versions of the items that they bear on. What people took away stays away, and what they
    rewrote stays as they wrote it."""

    verb = Verb.DISTILL.value

    def __init__(
        self,
        store: Store,
        remembering: Remembering,
        *,
        likeness: Callable[[], Alike] = lambda: alike_by_words,
    ) -> None:
        self._store = store
        self._remembering = remembering
        self._likeness = likeness

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return tuple(operation.params["methods"])

    def prepare(self, operation: Operation, step: str) -> Effect:
        scope = scope_of(operation)
        experience = self._experience(scope, operation.namespace)
        runs = experience.runs
        proposals = DISTILLERS[step](experience)
        rates = _success(runs)
        subjects = {run.id: run.subject for run in runs}

        def effect(tx: Writer) -> Outcome:
            rows = self._rows(tx, scope, operation.namespace, proposals, rates, subjects)
            report = {
                step: {"runs": len(runs), "proposed": len(proposals), "written": rows.written}
            }
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

    def _rows(
        self,
        tx: Writer,
        scope: Scope,
        namespace: Namespace,
        proposals: Sequence[Proposal],
        success: Mapping[UUID, bool],
        subjects: Mapping[UUID, str | None],
    ) -> "Rows":
        names = {name for one in proposals for name in _names(namespace, one)}
        known = tx.items_by_id(scope, list(names))
        claimed: set[UUID] = set()
        rows = Rows()
        for proposal in proposals:
            content = replace(_content(proposal, success), subject=_shared(proposal, subjects))
            mine = [n for n in _names(namespace, proposal) if n in known and n not in claimed]
            if mine:
                claimed.add(mine[0])
                rows.add(self._changed(tx, scope, known[mine[0]], content))
                continue
            item_id = _names(namespace, proposal)[0]
            if item_id in claimed:
                continue
            claimed.add(item_id)
            entry = self._remembering.first_version(item_id, namespace, proposal.kind, content)
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
