"""The verb consolidate: a smaller bank that says the same, as one change that can be undone."""

import hashlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

from memserver.domain.changes import Draft, Verb
from memserver.domain.errors import Invalid, OperationNotFound
from memserver.domain.evidence import total
from memserver.domain.items import Status
from memserver.domain.operations import Operation, State
from memserver.domain.ports import Clock, Encoder, ItemFilter, Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.domain.trajectories import Trajectory
from memserver.services.consolidated_rows import consolidated
from memserver.services.distilling import scope_of
from memserver.services.operation_runner import Effect, Outcome
from memserver.services.operations import OperationService
from memserver.services.paging import every
from memserver_skills.consolidate import plan as make_plan
from memserver_skills.plans import NearDuplicates, Plan, Rated

PLAN, APPLY = "plan", "apply"
VECTORS_A_READ = 500
TOLD = ("before", "after", "actions", "kept", "replacements", "refused", "inspections", "left")
"""What of a plan the report of its application says again."""


class NoSuchPlan(Invalid):
    code = "no_such_plan"

    def __init__(self, operation_id: UUID) -> None:
        super().__init__(f"The operation {operation_id} is no finished plan of this namespace.")


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
    ) -> Operation:
        """Asks for a plan, for a plan and its application, or for the application of a plan
        that was made before. Raises `NoSuchPlan`."""
        params: dict[str, Any] = {"apply": apply or plan is not None}
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

    def __init__(self, store: Store, encoder: Encoder, *, clock: Clock) -> None:
        self._store = store
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
        scope = scope_of(operation)
        entries = self._entries(scope, operation.namespace)
        made = make_plan(
            entries,
            near=self._near(entries),
            now=self._clock(),
            trace=lambda run: self._run(scope, run),
        )
        return {**made.to_json(), "heads": _heads(entries, made)}

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

        def effect(tx: Writer) -> Outcome:
            heads = {UUID(item): UUID(head) for item, head in report["heads"].items()}
            rows = consolidated(tx, scope, plan, heads, plan_id=plan_id, now=self._clock())
            found = {key: report[key] for key in TOLD if key in report}
            if not rows:
                return Outcome(report={**found, "applied": 0}, note="nothing to do")
            change = tx.apply(
                Draft(
                    tenant=scope.tenant,
                    verb=Verb.CONSOLIDATE,
                    actor=scope.key,
                    reason=f"consolidated {plan.before} items to {plan.after}",
                    puts=tuple(rows),
                    operation=operation.id,
                )
            )
            return Outcome(
                report={**found, "applied": len(plan.actions)}, change_id=change.id, note="applied"
            )

        return effect

    def _entries(self, scope: Scope, namespace: Namespace) -> list[Rated]:
        where = ItemFilter((namespace.id,), statuses=(Status.ACTIVE,))
        with self._store.reading() as reader:
            entries = list(every(lambda page: reader.items(scope, where, page)))
            rated: list[Rated] = []
            for start in range(0, len(entries), VECTORS_A_READ):
                part = entries[start : start + VECTORS_A_READ]
                beliefs = reader.beliefs(scope, [entry.version.id for entry in part])
                rated += [
                    Rated(e, total(e.version.id, beliefs.get(e.version.id, ()))) for e in part
                ]
        return rated

    def _near(self, entries: Sequence[Rated]) -> NearDuplicates:
        """Cosines of the vectors that the indexer kept; nothing is embedded for this."""
        hashes = {
            rated.version: hashlib.sha256(
                self._encoder.windows(rated.entry.version.text)[0].encode()
            ).hexdigest()
            for rated in entries
        }
        kept: dict[str, bytes] = {}
        wanted = list(dict.fromkeys(hashes.values()))
        with self._store.reading() as reader:
            for start in range(0, len(wanted), VECTORS_A_READ):
                part = wanted[start : start + VECTORS_A_READ]
                kept |= reader.vectors(part, self._encoder.fingerprint)

        def cosine(left: UUID, right: UUID) -> float | None:
            one, other = kept.get(hashes[left]), kept.get(hashes[right])
            if one is None or other is None:
                return None
            return float(np.frombuffer(one, np.float32) @ np.frombuffer(other, np.float32))

        return cosine


def _heads(entries: Sequence[Rated], plan: Plan) -> dict[str, str]:
    """What the plan bears on as it stood then, so that it is never applied to something else."""
    touched = {action.item for action in plan.actions}
    targets = {action.into for action in plan.actions}
    return {
        str(rated.item): str(rated.version)
        for rated in entries
        if rated.item in touched or rated.version in targets
    }
