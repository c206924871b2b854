"""Trajectories: store runs, once each, and credit what their outcomes speak for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, RowRef, Table, Verb
from memserver.domain.errors import IdConflict, RetrievalNotFound, TrajectoryNotFound
from memserver.domain.ports import Clock, Page, PageRequest, Reader, Store, TrajectoryFilter, Writer
from memserver.domain.scope import Scope
from memserver.domain.trajectories import Outcome, Trajectory, as_sent
from memserver.services.access import Access
from memserver.services.crediting import Credit, Credited, Crediting


@dataclass(frozen=True, slots=True)
class RunsStored:
    """`change` is None where every run was there before."""

    ids: tuple[UUID, ...]
    existing: tuple[UUID, ...]
    credited: int
    change: Change | None


@dataclass(frozen=True, slots=True)
class FeedbackStored:
    credited: int
    replaced: int
    change: Change | None


class Trajectories:
    def __init__(
        self,
        store: Store,
        access: Access,
        *,
        clock: Clock,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._access = access
        self._crediting = Crediting(clock=clock, new_id=new_id)

    def add(
        self, tx: Writer, scope: Scope, runs: Sequence[Trajectory], *, imported: bool = False
    ) -> RunsStored:
        """Stores runs of one namespace in one change. A run that is there already, as it was
        sent or as feedback has made it since, is left as it is; the same id with another content
        is `IdConflict`, and then nothing is stored. What an `imported` run used on another
        server is kept, and not credited."""
        came = {run.id: run.sent_hash for run in runs}
        runs = [_as_stored(tx, scope, run) for run in runs]
        stored = tx.trajectories_by_id(scope, [run.id for run in runs])
        fresh: dict[UUID, Trajectory] = {}
        for run in runs:
            known = stored.get(run.id) or fresh.get(run.id)
            if known is None:
                fresh[run.id] = run
            elif known.namespace != run.namespace or not _is(known, run, came[run.id]):
                raise IdConflict("trajectory", run.id)
        existing = tuple(run.id for run in runs if run.id not in fresh)
        ids = tuple(run.id for run in runs)
        if not fresh:
            return RunsStored(ids, existing, 0, None)
        # A run may come after feedback on its retrieves, or again after it was deleted: what it
        # says then replaces what stands.
        credited = [
            self._credit(
                tx, scope, run, run.outcome, used=_known_here(tx, scope, run) if imported else None
            )
            for run in fresh.values()
            if run.outcome is not None
        ]
        evidence = [piece for each in credited for piece in each.rows]
        change = tx.apply(
            _draft(scope, Verb.ADD_TRAJECTORIES, f"{len(fresh)} runs", *fresh.values(), *evidence)
        )
        return RunsStored(ids, existing, sum(len(each.outcomes) for each in credited), change)

    def feedback(
        self,
        tx: Writer,
        scope: Scope,
        outcome: Outcome,
        *,
        trajectory_id: UUID | None,
        retrieval_id: UUID | None,
        used: tuple[UUID, ...] | None,
    ) -> FeedbackStored:
        """Credits an outcome of a run or, where no run is named, of one retrieve."""
        if trajectory_id is not None:
            return self._feedback_on_run(tx, scope, trajectory_id, outcome, used=used)
        if retrieval_id is not None:
            return self._feedback_on_retrieval(tx, scope, retrieval_id, outcome, used=used)
        raise ValueError("feedback names a trajectory or a retrieval")

    def _feedback_on_run(
        self,
        tx: Writer,
        scope: Scope,
        trajectory_id: UUID,
        outcome: Outcome,
        *,
        used: tuple[UUID, ...] | None,
    ) -> FeedbackStored:
        """Credits an outcome told later. It becomes the run's own outcome where the run has
        none, or one of the same source, whose cost it keeps; another source's judgement stands
        beside it."""
        run = tx.trajectory(scope, trajectory_id)
        if run is None:
            raise TrajectoryNotFound(trajectory_id)
        self._access.require_writable(scope, run.namespace)
        credited = self._credit(tx, scope, run, outcome, used=used)
        rows: list[Row] = list(credited.rows)
        if run.outcome is None:
            rows.append(replace(run, outcome=outcome, used=run.used if used is None else used))
        elif run.outcome.source == outcome.source:
            told = outcome if outcome.cost is not None else replace(outcome, cost=run.outcome.cost)
            rows.append(replace(run, outcome=told, used=run.used if used is None else used))
        return self._store_feedback(tx, scope, credited, rows)

    def _feedback_on_retrieval(
        self,
        tx: Writer,
        scope: Scope,
        retrieval_id: UUID,
        outcome: Outcome,
        *,
        used: tuple[UUID, ...] | None,
    ) -> FeedbackStored:
        """Credits what one retrieve packed (or the `used` part of it). What other retrieves of
        the same run were told stays; the run's own outcome, if it comes, replaces them all."""
        decision = tx.decision(scope, retrieval_id)
        if decision is None or decision.verb != "retrieve":
            raise RetrievalNotFound(retrieval_id)
        namespace = self._access.first_writable(scope, decision.namespaces)
        credited = self._crediting.evidence(
            tx,
            scope,
            Credit(
                cause=decision.trajectory_id or decision.id,
                source=outcome.source,
                score=outcome.score,
                context=decision.task_type or "",
                namespace=namespace,
                used=used,
                offered=decision.packed,
                about=frozenset((*decision.packed, *(used or ()))),
            ),
        )
        return self._store_feedback(tx, scope, credited, list(credited.rows))

    def get(self, scope: Scope, trajectory_id: UUID) -> Trajectory:
        with self._store.reading() as reader:
            run = reader.trajectory(scope, trajectory_id)
        if run is None:
            raise TrajectoryNotFound(trajectory_id)
        return run

    def list(self, scope: Scope, where: TrajectoryFilter, page: PageRequest) -> Page[Trajectory]:
        with self._store.reading() as reader:
            return reader.trajectories(scope, where, page)

    def delete(self, tx: Writer, scope: Scope, trajectory_id: UUID) -> Change:
        """Removes the run; what was learnt from it stays, and its outcome keeps counting."""
        run = tx.trajectory(scope, trajectory_id)
        if run is None:
            raise TrajectoryNotFound(trajectory_id)
        self._access.require_writable(scope, run.namespace)
        return tx.apply(
            Draft(
                tenant=scope.tenant,
                verb=Verb.FORGET,
                actor=scope.key,
                reason="run deleted",
                deletes=(RowRef(Table.TRAJECTORY, run.id),),
            )
        )

    def _credit(
        self,
        reader: Reader,
        scope: Scope,
        run: Trajectory,
        outcome: Outcome,
        *,
        used: tuple[UUID, ...] | None = None,
    ) -> Credited:
        named = run.used if used is None else used
        offered: tuple[UUID, ...] = ()
        if named is None:
            offered = tuple(
                version
                for decision in reader.decisions_of_trajectory(scope, run.id)
                if decision.asked_by == run.sender
                for version in decision.packed
            )
        return self._crediting.evidence(
            reader,
            scope,
            Credit(
                cause=run.id,
                source=outcome.source,
                score=outcome.score,
                context=run.task.type or "",
                namespace=run.namespace,
                used=named,
                offered=offered,
            ),
        )

    @staticmethod
    def _store_feedback(
        tx: Writer, scope: Scope, credited: Credited, rows: Sequence[Row]
    ) -> FeedbackStored:
        change = tx.apply(_draft(scope, Verb.FEEDBACK, "outcome reported", *rows)) if rows else None
        return FeedbackStored(len(credited.outcomes), len(credited.retractions), change)


def _as_stored(tx: Writer, scope: Scope, run: Trajectory) -> Trajectory:
    """By whom it came, and without what must not be stored. Its hash is over what is left: one
    over the original would let somebody with the database try values out."""
    kept = tx.protected([run.namespace], run)
    return replace(kept if kept is run else as_sent(kept), sender=scope.key)


def _is(known: Trajectory, run: Trajectory, came: str) -> bool:
    """Whether it is the same run, also where the namespace has changed since in what it takes out
    of texts; `came` is the hash over what was sent now."""
    return not _hashes(known).isdisjoint((run.sent_hash, came))


def _hashes(run: Trajectory) -> frozenset[str]:
    """Under which the same run is known: as it was sent, and as an export would give it now."""
    return frozenset((run.sent_hash, as_sent(run).sent_hash))


def _known_here(reader: Reader, scope: Scope, run: Trajectory) -> tuple[UUID, ...] | None:
    if run.used is None:
        return None
    return tuple(reader.entries_by_version(scope, run.used))


def _draft(scope: Scope, verb: Verb, reason: str, *rows: Row) -> Draft:
    return Draft(tenant=scope.tenant, verb=verb, actor=scope.key, reason=reason, puts=rows)
