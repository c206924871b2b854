"""The verb consolidate: a smaller bank that says the same, as one change that can be undone."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, Verb
from memserver.domain.errors import NoSuchPlan, OperationNotFound
from memserver.domain.items import Kind
from memserver.domain.operations import Operation, State
from memserver.domain.ports import Clock, Encoder, Reader, Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Trajectory
from memserver.services.consolidated_rows import consolidated, heads, still_fitting
from memserver.services.distilling import scope_of
from memserver.services.drafting import Drafting
from memserver.services.forgetting import archived, is_expired, to_evict
from memserver.services.kept_cosines import kept_cosines
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService
from memserver.services.rated import rated_items
from memserver_skills.consolidate import plan as make_plan
from memserver_skills.plans import Plan

PLAN, APPLY = "plan", "apply"
TOLD = (
    "before",
    "after",
    "actions",
    "kept",
    "replacements",
    "refused",
    "offered",
    "inspections",
    "left",
)
"""What of a plan the report of its application says again."""


class Consolidating:
    """What the API asks for. The work itself is `ConsolidateRunner`'s."""

    def __init__(self, operations: OperationService) -> None:
        self._operations = operations

    def request(
        self,
        tx: Writer,
        scope: Scope,
        namespace: Namespace,
        *,
        apply: bool,
        plan: UUID | None,
        because: str | None = None,
    ) -> Operation:
        """Asks for a plan, for a plan and its application, or for the application of a plan
        that was made before; `because` says what for, where nobody asked. Raises `NoSuchPlan`."""
        params: dict[str, Any] = {"apply": apply or plan is not None}
        if because is not None:
            params["because"] = because
        if plan is not None:
            made = tx.operation(scope, plan)
            if made is None:
                raise OperationNotFound(plan)
            if (
                made.verb != Verb.CONSOLIDATE
                or made.namespace != namespace
                or made.state is not State.SUCCEEDED
                or made.change_id is not None
            ):
                raise NoSuchPlan(plan)
            params["plan"] = str(plan)
        return self._operations.request(
            tx, scope, verb=Verb.CONSOLIDATE, namespace=namespace, params=params
        )


class ConsolidateRunner:
    """One step: a plan, whose report people can read; or a plan and the one change that carries
    it out. Where no plan was named it is made within the step, so that a retry plans anew."""

    verb = Verb.CONSOLIDATE.value

    def __init__(
        self, store: Store, encoder: Encoder, *, clock: Clock, drafting: Drafting | None = None
    ) -> None:
        """`drafting` words what the rules leave, where there is a model."""
        self._store = store
        self._drafting = drafting
        self._encoder = encoder
        self._clock = clock

    def steps(self, operation: Operation) -> tuple[str, ...]:
        return (APPLY,) if operation.params["apply"] else (PLAN,)

    def prepare(self, operation: Operation, step: str) -> Effect:
        if step == APPLY:
            return self._apply(operation)
        report = self._report(operation)
        note = f"{report['before']} → {report['after']} items"
        return lambda _: Outcome(report=report, note=note)

    def _report(self, operation: Operation) -> dict[str, Any]:
        """A plan for what is there now, as JSON."""
        scope, now, drafting = scope_of(operation), self._clock(), self._drafting
        with self._store.reading() as reader:
            kinds = _kinds(reader, operation.namespace)
            found = rated_items(reader, scope, operation.namespace, kinds=kinds)
        entries = [one for one in found if not is_expired(one.entry.item.expires_at, now)]
        made = make_plan(
            entries,
            near=kept_cosines(self._store, self._encoder, entries),
            now=now,
            trace=lambda run: self._run(scope, run),
            proposer=drafting.for_tenant(operation.tenant) if drafting else None,
        )
        return {
            **made.to_json(),
            "heads": {str(i): str(h) for i, h in heads(entries, made).items()},
        }

    def _run(self, scope: Scope, run: UUID) -> Trajectory | None:
        with self._store.reading() as reader:
            return reader.trajectory(scope, run)

    def _named_plan(self, plan_id: UUID) -> dict[str, Any]:
        with self._store.reading() as reader:
            made = reader.any_operation(plan_id)
        if made is None or made.report is None:
            raise OperationNotFound(plan_id)
        return made.report

    def _apply(self, operation: Operation) -> Effect:
        named = operation.params.get("plan")
        report = self._report(operation) if named is None else self._named_plan(UUID(named))
        plan_id = operation.id if named is None else UUID(named)
        plan = Plan.from_json(report)
        scope = scope_of(operation)

        stood = {UUID(item): UUID(head) for item, head in report["heads"].items()}
        # A plan that somebody has read is carried out as it was read, or not at all. One that was
        # made just now leaves out what has changed since: there the next one finds it.
        read_before = plan_id if named is not None else None

        def effect(tx: Writer) -> Outcome:
            fits = still_fitting(tx, scope, plan, stood, read_before=read_before)
            found = {key: report[key] for key in TOLD if key in report}
            found |= {"skipped": len(plan.actions) - len(fits.actions), **_because(operation)}
            rows = consolidated(tx, scope, fits, now=self._clock())
            change = self._change(tx, operation, fits, rows) if rows else None
            evicted = self._evicted(tx, operation)
            return Outcome(
                report={**found, "applied": len(fits.actions), "evicted": evicted},
                change_id=None if change is None else change.id,
                note="nothing to do" if change is None else "applied",
            )

        return effect

    def _change(self, tx: Writer, operation: Operation, plan: Plan, rows: Sequence[Row]) -> Change:
        return tx.apply(
            Draft(
                tenant=operation.tenant,
                verb=Verb.CONSOLIDATE,
                actor=operation.requested_by,
                reason=f"consolidated {plan.before} items to {plan.after}",
                puts=tuple(rows),
                operation=operation.id,
            )
        )

    def _evicted(self, tx: Writer, operation: Operation) -> list[dict[str, str]]:
        """What the namespace's bound leaves no room for even now goes by a change of its own."""
        settings = tx.namespace_settings(operation.namespace)
        if settings.most_items is None or settings.frozen:
            return []
        if tx.active_items(operation.namespace) <= settings.most_items:
            return []
        scope = scope_of(operation)
        found = to_evict(tx, scope, settings, now=self._clock())
        entries = tx.items_by_id(scope, [one.item for one in found.gone])
        tx.apply(
            Draft(
                tenant=operation.tenant,
                verb=Verb.EVICT,
                actor=operation.requested_by,
                reason=f"{len(found.gone)} items past the {settings.most_items} that it may hold",
                puts=tuple(archived(entry.item) for entry in entries.values()),
                operation=operation.id,
            )
        )
        return [{"item": str(one.item), "reason": one.reason} for one in found.gone]


def _kinds(reader: Reader, namespace: Namespace) -> tuple[Kind, ...]:
    """All, or all but the skills where the library is frozen."""
    if not reader.namespace_settings(namespace).frozen:
        return ()
    return tuple(kind for kind in Kind if kind is not Kind.SKILL)


def _because(operation: Operation) -> dict[str, str]:
    why = operation.params.get("because")
    return {} if why is None else {"because": why}
