"""Guardrails: reports of harm become rules, and what an agent is about to do is held to them."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memserver.domain.changes import Change, Draft, Row, Verb
from memserver.domain.evidence import Event, Evidence, total
from memserver.domain.items import (
    Entry,
    Item,
    Kind,
    RuleBody,
    Status,
    Version,
    normal_name,
    revived,
)
from memserver.domain.ports import Clock, Store, Writer
from memserver.domain.scope import Namespace, Scope
from memserver.services.asking import Asking
from memserver.services.guarding.bounds import lower_bound
from memserver.services.guarding.judging import Judgement, judge
from memserver.services.guarding.learning import Lesson, NewGuard, learn
from memserver.services.guarding.matching import METHOD, Matching, condition_told
from memserver.services.guarding.situations import Label, Reach, Situation, Verdict, condition_of
from memserver.services.guarding.wording import Worded, abstracted, plain
from memserver.services.nearby import Nearby

LONGEST_TITLE = 500
LONGEST_CONTEXT = 200
SOURCE = "report"


@dataclass(frozen=True, slots=True)
class Report:
    namespace: Namespace
    situation: Situation
    label: Label


@dataclass(frozen=True, slots=True)
class Considered:
    """A report with what it teaches, to be kept in a transaction. `by` says who worded what is new
    ("rules" or "model"), `reason` why it was not the model, where one was asked."""

    report: Report
    lesson: Lesson
    worded: Worded | None = None
    by: str = "rules"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A guard as it stands after a report."""

    entry: Entry
    verdict: Verdict
    reach: Reach
    made: bool
    agreed: bool
    bound: float


@dataclass(frozen=True, slots=True)
class Taught:
    considered: Considered
    guards: tuple[Held, ...]
    change: Change | None


@dataclass(frozen=True, slots=True)
class Checked:
    """A judgement with the rules that it names."""

    judgement: Judgement
    entries: dict[UUID, Entry]
    bound: float


class Guarding:
    """`bound` is what a guard's lower bound must reach to be used, where a request names none;
    `asking` is None where no chat model is configured."""

    def __init__(
        self,
        store: Store,
        nearby: Nearby,
        *,
        asking: Asking | None,
        bound: float,
        settle: Callable[[], object],
        clock: Clock,
        new_id: Callable[[], UUID],
    ) -> None:
        self._matching = Matching(store, nearby)
        self._asking = asking
        self._bound = bound
        self._settle = settle
        self._clock = clock
        self._new_id = new_id

    def consider(self, scope: Scope, report: Report) -> Considered:
        """What a report teaches, beside what is known. Done before the transaction, since vectors
        and a model may be asked for."""
        # What the last report taught must be found, or it would be learnt twice.
        self._settle()
        found = self._matching.guards(scope, [report.namespace], report.situation)
        lesson = learn(report.situation, report.label, [guard for guard, _ in found])
        considered = Considered(report, lesson)
        if self._asking is None or not lesson.new:
            return considered
        answer = abstracted(self._asking, scope.tenant, report.situation, report.label.value)
        if answer.value is None:
            return replace(considered, reason=f"model: {answer.outcome}")
        return replace(considered, worded=answer.value, by="model")

    def keep(self, tx: Writer, scope: Scope, considered: Considered) -> Taught:
        """Makes the new guards and counts the report for and against those that it bears on, as
        one change."""
        report, lesson = considered.report, considered.lesson
        cause = self._new_id()
        rows: list[Row] = []
        touched: list[tuple[Entry, bool, bool]] = []
        for new in lesson.new:
            known = tx.item(scope, guard_id(report, new))
            if known is None:
                known = self._made(considered, new)
                rows += [known.item, known.version]
                touched.append((known, True, True))
            else:
                # What was deleted or merged away and is reported again, guards again.
                back = revived(known)
                rows += [] if back is known else [back.item]
                touched.append((back, False, True))
        for guards, agrees in ((lesson.agreed, True), (lesson.refuted, False)):
            there = tx.items_by_id(scope, [guard.item for guard in guards])
            touched += [(entry, False, agrees) for entry in there.values()]
        rows += [
            self._evidence(report, entry, cause, 1.0 if agrees else 0.0)
            for entry, _, agrees in touched
        ]
        if not rows:
            return Taught(considered, (), None)
        change = tx.apply(
            Draft(
                scope.tenant,
                Verb.FEEDBACK,
                scope.key,
                f"a report of what was {report.label}",
                tuple(rows),
            )
        )
        return Taught(considered, self._held(tx, scope, touched), change)

    def check(
        self,
        scope: Scope,
        namespaces: Sequence[Namespace],
        situation: Situation,
        *,
        bound: float | None,
    ) -> Checked:
        """What the guards say of something before it is done."""
        wanted = self._bound if bound is None else bound
        found = self._matching.guards(scope, namespaces, situation)
        judgement = judge([guard for guard, _ in found], bound=wanted)
        return Checked(judgement, {guard.item: entry for guard, entry in found}, wanted)

    def _made(self, considered: Considered, new: NewGuard) -> Entry:
        report, situation = considered.report, considered.report.situation
        now = self._clock()
        item_id = guard_id(report, new)
        body = plain(situation, new, considered.worded)
        version = Version(
            id=self._new_id(),
            item_id=item_id,
            namespace=report.namespace,
            number=1,
            title=_title(body),
            body=body,
            valid_from=now,
            recorded_at=now,
            method=METHOD,
            metadata={
                "action": situation.action,
                "intent": situation.intent,
                "verdict": new.verdict.value,
                "condition": "" if new.condition is None else new.condition.words,
                "named": new.condition is not None and new.condition.named,
            },
            context=situation.text,
        )
        item = Item(
            id=item_id,
            namespace=report.namespace,
            kind=Kind.RULE,
            title=version.title,
            status=Status.ACTIVE,
            head=version.id,
            created_at=now,
        )
        return Entry(item, version)

    def _evidence(self, report: Report, entry: Entry, cause: UUID, value: float) -> Evidence:
        condition = condition_of(report.situation)
        return Evidence(
            id=self._new_id(),
            namespace=entry.item.namespace,
            subject=entry.version.id,
            event=Event.OUTCOME,
            value=value,
            weight=1.0,
            recorded_at=self._clock(),
            context="" if condition is None else normal_name(condition.words)[:LONGEST_CONTEXT],
            source=SOURCE,
            cause=cause,
        )

    def _held(
        self, tx: Writer, scope: Scope, touched: Sequence[tuple[Entry, bool, bool]]
    ) -> tuple[Held, ...]:
        beliefs = tx.beliefs(scope, [entry.version.id for entry, _, _ in touched])
        held = []
        for entry, made, agreed in touched:
            belief = total(entry.version.id, beliefs.get(entry.version.id, ()))
            condition = condition_told(entry.version)
            held.append(
                Held(
                    entry,
                    verdict=Verdict(entry.version.metadata["verdict"]),
                    reach=Reach.BROAD if condition is None else Reach.LOCAL,
                    made=made,
                    agreed=agreed,
                    bound=lower_bound(belief.successes, belief.failures),
                )
            )
        return tuple(held)


def guard_id(report: Report, new: NewGuard) -> UUID:
    """One item for what it says and of what, so that reports that are sent at the same time make
    one guard."""
    situation = report.situation
    condition = new.condition
    parts = (
        str(report.namespace.id),
        METHOD,
        new.verdict.value,
        normal_name(situation.action),
        normal_name(situation.intent),
        "" if condition is None else f"{condition.named}:{normal_name(condition.words)}",
        normal_name(situation.text),
    )
    return uuid.uuid5(report.namespace.tenant, "\x1f".join(parts))


def _title(body: RuleBody) -> str:
    return " ".join(body.text.split())[:LONGEST_TITLE]
