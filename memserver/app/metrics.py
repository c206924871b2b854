"""The `Meter` port on prometheus_client, with a registry of its own; what other parts count for
themselves is read when somebody scrapes."""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

import memserver
from memserver.domain.changes import Verb
from memserver.domain.operations import State
from memserver.domain.policies import PolicyInUse
from memserver.domain.ports.meter import ModelOutcome, Stage
from memserver.services.readiness import Report

REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
POLICY_NAMES = 64
"""Policies that get a series of their own in the life of a process."""
OTHER = "other"


Count = Callable[[], int]


def _nothing() -> Mapping[Any, int]:
    return {}


@dataclass(frozen=True, slots=True)
class Readings:
    """What is read at every scrape, on the thread that scrapes. Each must be quick; what one of
    them raises fails the scrape. `queues` and `query_vectors` are by the label's value."""

    report: Callable[[], Report]
    policies: Callable[[], Iterable[PolicyInUse]] = tuple
    queues: Mapping[str, Count] = field(default_factory=dict)
    query_vectors: Mapping[str, Count] = field(default_factory=dict)
    decisions_logged: Count = int
    operations: Callable[[], Mapping[State, int]] = _nothing
    changes: Callable[[], Mapping[Verb, int]] = _nothing


class Metrics:
    """One server's metrics. `watch` must be called before the first `scrape`."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "memserver_request_seconds",
            "Seconds from a request's first byte to the end of its answer.",
            ("route", "method", "status"),
            buckets=REQUEST_SECONDS,
            registry=self._registry,
        )
        stages = Histogram(
            "memserver_stage_seconds",
            "Seconds of one stage: authenticate in every request, the others in a retrieve.",
            ("stage",),
            buckets=STAGE_SECONDS,
            registry=self._registry,
        )
        # Looked up once: finding a series by its label costs as much as observing it.
        self._stages = {name: stages.labels(name) for name in get_args(Stage)}
        self._decisions = Counter(
            "memserver_decisions",
            "Choices made, by the policy that made them.",
            ("policy",),
            registry=self._registry,
        )
        self._policy_failures = Counter(
            "memserver_policy_failures",
            "Times that a policy could not score, so that another one chose.",
            ("policy",),
            registry=self._registry,
        )
        asked = Counter(
            "memserver_model_questions",
            "Questions to the chat model, by how they ended.",
            ("outcome",),
            registry=self._registry,
        )
        self._writes = Counter(
            "memserver_write_decisions",
            "What became of what remember was told, and who decided it.",
            ("operation", "by"),
            registry=self._registry,
        )
        self._asked = {outcome: asked.labels(outcome) for outcome in get_args(ModelOutcome)}
        self._policies: set[str] = set()
        build = Info("memserver_build", "The running version.", registry=self._registry)
        build.info({"version": memserver.__version__, "python": platform.python_version()})
        ProcessCollector(namespace="memserver", registry=self._registry)

    def watch(self, readings: Readings) -> None:
        self._registry.register(_Watched(readings, self._bounded))

    def scrape(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)

    # the port

    def stage(self, name: Stage) -> AbstractContextManager[object]:
        return _Timer(self._stages[name])

    def decided(self, policy: str) -> None:
        self._decisions.labels(self._bounded(policy)).inc()

    def policy_failed(self, policy: str) -> None:
        self._policy_failures.labels(self._bounded(policy)).inc()

    def asked(self, outcome: ModelOutcome) -> None:
        self._asked[outcome].inc()

    def wrote(self, operation: str, by: str) -> None:
        self._writes.labels(operation, by).inc()

    def answered(self, *, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method, f"{status // 100}xx").observe(seconds)

    def _bounded(self, policy: str) -> str:
        if policy in self._policies:
            return policy
        if len(self._policies) >= POLICY_NAMES:
            return OTHER
        self._policies.add(policy)
        return policy


class _Timer:
    __slots__ = ("_histogram", "_start")

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._histogram.observe(perf_counter() - self._start)


class _Watched(Collector):
    def __init__(self, readings: Readings, bounded: Callable[[str], str]) -> None:
        self._readings = readings
        self._bounded = bounded

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that registering reads nothing."""
        return ()

    def collect(self) -> Iterator[Metric]:
        read = self._readings
        report = read.report()
        yield _gauge(
            "memserver_index_lag_changes",
            "Changes that are durable and not yet searchable.",
            report.lag,
        )
        yield _gauge(
            "memserver_index_behind_seconds",
            "Seconds since the index last held every change, 0 while it does: no change that it "
            "lacks is older.",
            report.behind_s,
        )
        yield _gauge(
            "memserver_index_skipped_documents",
            "Documents that could not be indexed.",
            report.skipped,
        )
        yield _gauge(
            "memserver_stopped_parts",
            "Background parts that have died; they come back with a restart.",
            len(report.stopped),
        )
        queues = GaugeMetricFamily(
            "memserver_queue_waiting", "What waits in a queue.", labels=("queue",)
        )
        for name, waiting in read.queues.items():
            queues.add_metric((name,), waiting())
        yield queues
        operations = GaugeMetricFamily(
            "memserver_operations", "Long-running operations, by their state.", labels=("state",)
        )
        for state, count in read.operations().items():
            operations.add_metric((state,), count)
        yield operations
        yield from self._counters(report)
        policies = GaugeMetricFamily(
            "memserver_policy_info",
            "1 for each policy that is in use now, in whatever namespace.",
            labels=("role", "policy", "state"),
        )
        for labels in sorted(
            {(one.role, self._bounded(str(one.id)), one.state) for one in read.policies()}
        ):
            policies.add_metric(labels, 1)
        yield policies

    def _counters(self, report: Report) -> Iterator[Metric]:
        read = self._readings
        changes = CounterMetricFamily(
            "memserver_changes", "Changes written, by their verb.", labels=("verb",)
        )
        for verb, count in read.changes().items():
            changes.add_metric((verb,), count)
        yield changes
        vectors = CounterMetricFamily(
            "memserver_query_vectors",
            "Queries by where their vector came from: kept from an earlier one, or encoded.",
            labels=("source",),
        )
        for source, of_source in read.query_vectors.items():
            vectors.add_metric((source,), of_source())
        yield vectors
        yield CounterMetricFamily(
            "memserver_decisions_logged",
            "Decisions whose log entry is durable.",
            read.decisions_logged(),
        )
        yield CounterMetricFamily(
            "memserver_decisions_dropped",
            "Decisions whose log entry was lost, to a full queue or a failed write.",
            report.decisions_dropped,
        )


def _gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help_text, value)
