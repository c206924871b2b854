"""The verb evolve: the library changes by what came of it. Near-duplicates become one with the
statistics of all; what waited is admitted, what differs is split, what failed is put right, and
what does not help goes. Each act is a change of its own, with its reason."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, Verb
from memserver.domain.evidence import total
from memserver.domain.items import Entry, Kind, Source, Status
from memserver.domain.operations import Operation
from memserver.domain.ports import Clock, Encoder, Reader, Store, TrajectoryFilter, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Trajectory
from memserver.services.consolidated_rows import consolidated, heads, still_fitting
from memserver.services.distilling import scope_of
from memserver.services.forgetting import archived, is_expired
from memserver.services.frozen import require_thawed
from memserver.services.kept_cosines import kept_cosines
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService
from memserver.services.paging import every
from memserver.services.rated import rated_items
from memserver.services.remembering import Content, Remembering
from memserver.services.routing import handbook_of
from memserver_skills.consolidate import plan as make_plan
from memserver_skills.evolution.acts import Act, ActKind, Evolution, Written
from memserver_skills.evolution.admission import waits_for
from memserver_skills.evolution.convergence import Window, convergence
from memserver_skills.evolution.evolve import CAP, Library, evolve
from memserver_skills.plans import ActionKind, Plan, Rated

PLAN, MERGE, EVOLVE = "plan", "merge", "evolve"
METHOD = "evolve"
LIBRARY = (Kind.SKILL, Kind.HINT, Kind.RULE, Kind.PRINCIPLE, Kind.CASE)
"""The kinds that say how to do things; the rest of a bank is none of this verb's business."""
LOG_ROWS = 200_000


class Evolving:
    """What the API asks for. The work itself is `EvolveRunner`'s."""

    def __init__(self, store: Store, operations: OperationService) -> None:
        self._store = store
        self._operations = operations

    def request(
        self, tx: Writer, scope: Scope, namespace: Namespace, *, apply: bool, cap: int = CAP
    ) -> Operation:
        """Raises `LibraryFrozen`."""
        require_thawed(tx, namespace)
        return self._operations.request(
            tx,
            scope,
            verb=Verb.EVOLVE,
            namespace=namespace,
            params={"apply": apply, "cap": cap},
        )

    def convergence(self, namespace: Namespace, *, window: int) -> tuple[Window, ...]:
        """How fast the library changes, oldest runs first, as far back as the newest rows of the
        log reach."""
        with self._store.reading() as reader:
            return convergence(reader.library_changes(namespace, LIBRARY, LOG_ROWS), window=window)


@dataclass(frozen=True, slots=True)
class _Merges:
    """What says the same, and at which heads its items stood when that was found."""

    plan: Plan
    stood: dict[UUID, UUID]


class EvolveRunner:
    """A plan whose report people can read; or two steps, each of which looks at what is there
    then: what says the same becomes one, and the rest of the acts."""

    verb = Verb.EVOLVE.value

    def __init__(
        self, store: Store, remembering: Remembering, encoder: Encoder, *, clock: Clock
    ) -> None:
        self._store = store
        self._remembering = remembering
        self._encoder = encoder
        self._clock = clock

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return (MERGE, EVOLVE) if operation.params["apply"] else (PLAN,)

    def prepare(self, operation: Operation, step: str) -> Effect:
        if step == MERGE:
            return self._merge(operation)
        if step == EVOLVE:
            return self._evolve(operation)
        merges, evolution = self._merges(operation), self._evolution(operation)
        report = {**evolution.to_json(), "merges": _told(merges.plan)}
        note = f"{len(evolution.acts) + len(merges.plan.actions)} acts planned"
        return lambda _: Outcome(report=report, note=note)

    # --- what says the same ---------------------------------------------------------------

    def _merges(self, operation: Operation) -> _Merges:
        """What consolidation would merge of the library. What it would archive is left to the
        acts, which go by more than counts."""
        scope, now = scope_of(operation), self._clock()
        with self._store.reading() as reader:
            found = rated_items(reader, scope, operation.namespace, kinds=LIBRARY)
            entries = [one for one in found if not is_expired(one.entry.item.expires_at, now)]
        made = make_plan(
            entries,
            near=kept_cosines(self._store, self._encoder, entries),
            now=now,
            trace=lambda run: self._run(scope, run),
        )
        merging = tuple(one for one in made.actions if one.kind is ActionKind.MERGE)
        plan = replace(made, actions=merging)
        return _Merges(plan, heads(entries, plan))

    def _merge(self, operation: Operation) -> Effect:
        merges, scope = self._merges(operation), scope_of(operation)

        def effect(tx: Writer) -> Outcome:
            require_thawed(tx, operation.namespace)
            fits = still_fitting(tx, scope, merges.plan, merges.stood, read_before=None)
            rows = consolidated(tx, scope, fits, now=self._clock())
            report = {"merges": _told(fits)}
            if not rows:
                return Outcome(report=report, note="nothing says the same")
            reason = f"merged {len(fits.actions)} items that say the same"
            return self._done(operation, report, [self._apply(tx, operation, reason, rows)], MERGE)

        return effect

    # --- the other acts -------------------------------------------------------------------

    def _evolution(self, operation: Operation) -> Evolution:
        namespace = operation.namespace
        with self._store.reading() as reader:
            library = self._library(reader, scope_of(operation), namespace)
            admission = reader.namespace_settings(namespace).admission
        return evolve(library, admission=admission, cap=operation.params.get("cap", CAP))

    def _library(self, reader: Reader, scope: Scope, namespace: Namespace) -> Library:
        now = self._clock()
        found = rated_items(
            reader,
            scope,
            namespace,
            kinds=LIBRARY,
            statuses=(Status.ACTIVE, Status.QUARANTINED),
        )
        items = [one for one in found if not is_expired(one.entry.item.expires_at, now)]
        heads = [one.version for one in items]
        where = TrajectoryFilter(namespaces=(namespace.id,))
        return Library(
            items,
            reader.lineage_evidence(scope, heads),
            reader.beliefs(scope, heads),
            {run.id: run for run in every(lambda page: reader.trajectories(scope, where, page))},
            handbook_of(reader, scope, namespace),
        )

    def _evolve(self, operation: Operation) -> Effect:
        evolution, scope = self._evolution(operation), scope_of(operation)

        def effect(tx: Writer) -> Outcome:
            require_thawed(tx, operation.namespace)
            changes: list[Change] = []
            skipped = 0
            for act in evolution.acts:
                rows = self._rows(tx, scope, act)
                if rows:
                    changes.append(self._apply(tx, operation, act.reason, rows))
                else:
                    skipped += 1
            report = {**evolution.to_json(), "applied": len(changes), "skipped": skipped}
            return self._done(operation, report, changes, EVOLVE)

        return effect

    def _rows(self, tx: Writer, scope: Scope, act: Act) -> Sequence[Row]:
        """Nothing where the item has changed since it was looked at."""
        entry = tx.item(scope, act.item)
        if entry is None or entry.item.head != act.head:
            return ()
        wanted = Status.QUARANTINED if act.kind is ActKind.ADMIT else Status.ACTIVE
        if entry.item.status is not wanted:
            return ()
        match act.kind:
            case ActKind.ADMIT:
                if waits_for(Rated(entry, total(act.head, ()))) is None:
                    return ()
                return (replace(entry.item, status=Status.ACTIVE),)
            case ActKind.RETIRE:
                return (archived(entry.item),)
            case ActKind.REFINE:
                assert act.now is not None
                return self._rewritten(tx, scope, entry, act, act.now)
            case ActKind.SPLIT:
                assert act.now is not None
                assert act.apart is not None
                apart = self._apart(tx, scope, entry, act, act.apart)
                return (*self._rewritten(tx, scope, entry, act, act.now), *apart) if apart else ()

    def _rewritten(
        self, tx: Writer, scope: Scope, entry: Entry, act: Act, now: Written
    ) -> tuple[Row, ...]:
        return self._remembering.succeed(
            entry,
            _content(entry, act, now),
            known=tx.versions(scope, entry.item.id),
            belief=now.belief,
        ).rows

    def _apart(
        self, tx: Writer, scope: Scope, entry: Entry, act: Act, apart: Written
    ) -> tuple[Row, ...]:
        """A second item for the cases that the first no longer says it is for, with what is
        believed of it there. One that was split off before stays as people have left it."""
        item_id = uuid.uuid5(entry.item.id, f"{METHOD}\x1f{apart.body.when}")
        if tx.items_by_id(scope, [item_id]):
            return ()
        made = self._remembering.first_version(
            item_id, entry.item.namespace, entry.item.kind, _content(entry, act, apart)
        )
        return (made.version, made.item, *self._remembering.inherited(apart.belief, made.version))

    # --- changes --------------------------------------------------------------------------

    def _apply(self, tx: Writer, operation: Operation, reason: str, rows: Sequence[Row]) -> Change:
        return tx.apply(
            Draft(
                tenant=operation.tenant,
                verb=Verb.EVOLVE,
                actor=operation.requested_by,
                reason=reason,
                puts=tuple(rows),
                operation=operation.id,
            )
        )

    @staticmethod
    def _done(
        operation: Operation, report: dict[str, Any], changes: Sequence[Change], note: str
    ) -> Outcome:
        before = (operation.report or {}).get("changes", [])
        return Outcome(
            report={**report, "changes": [*before, *(str(change.id) for change in changes)]},
            change_id=changes[-1].id if changes else None,
            note=note,
        )

    def _run(self, scope: Scope, run: UUID) -> Trajectory | None:
        with self._store.reading() as reader:
            return reader.trajectory(scope, run)


def _content(entry: Entry, act: Act, written: Written) -> Content:
    """With the runs that showed why among its sources, whole, beside those that it was made of."""
    version, item = entry.version, entry.item
    known = {source.trajectory_id for source in version.sources}
    more = tuple(Source(run) for run in act.runs if run not in known)
    return Content(
        title=written.title,
        body=written.body,
        task_type=written.task_type,
        sources=(*version.sources, *more),
        metadata={**version.metadata, "evolved": {"act": act.kind.value, "reason": act.reason}},
        method=f"{METHOD}/{act.kind.value}",
        subject=item.subject,
        expires_at=item.expires_at,
    )


def _told(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "item": str(action.item),
            "into": None if action.into is None else str(action.into),
            "rule": action.rule.value,
            "reason": action.reason,
        }
        for action in plan.actions
    ]
