"""The meter on prometheus_client: cheap, bounded, and without state that servers share."""

import timeit
from uuid import UUID

import pytest
from prometheus_client.parser import text_string_to_metric_families

from memserver.app.metrics import OTHER, POLICY_NAMES, Metrics, Readings
from memserver.domain.policies import PolicyInUse, PolicyRole, PolicyState
from memserver.services.readiness import Report

LEVEL = Report(
    applied=9,
    lag=0,
    skipped=0,
    behind_s=0.0,
    problem=None,
    stopped=(),
    operations_unfinished=0,
    decisions_dropped=0,
)
STAGE_MOST_S = 5e-6


def values(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    """The samples of that name, by their labels' values in the order of the labels' names."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.scrape().decode())
        for sample in family.samples
        if sample.name == name
    }


def watched(readings: Readings | None = None) -> Metrics:
    metrics = Metrics()
    metrics.watch(readings or Readings(lambda: LEVEL))
    return metrics


def test_a_stage_is_measured_also_where_it_raises() -> None:
    metrics = watched()
    with metrics.stage("search"):
        pass
    with pytest.raises(RuntimeError), metrics.stage("search"):
        raise RuntimeError

    counts = values(metrics, "memserver_stage_seconds_count")
    assert counts[("search",)] == 2
    assert counts[("pack",)] == 0


def test_measuring_a_stage_costs_less_than_five_microseconds() -> None:
    metrics = Metrics()

    def measure() -> None:
        with metrics.stage("encode"):
            pass

    # The best of many: whatever else runs on the machine only ever adds.
    best = min(timeit.repeat(measure, number=1000, repeat=30)) / 1000
    assert best < STAGE_MOST_S


def test_requests_are_told_by_route_method_and_class_of_status() -> None:
    metrics = watched()
    for status in (200, 201, 404):
        metrics.answered(route="/v1/memories", method="POST", status=status, seconds=0.02)

    assert values(metrics, "memserver_request_seconds_count") == {
        ("POST", "/v1/memories", "2xx"): 2,
        ("POST", "/v1/memories", "4xx"): 1,
    }
    assert values(metrics, "memserver_request_seconds_sum")["POST", "/v1/memories", "4xx"] == 0.02


def test_policies_past_the_cap_are_counted_together() -> None:
    names = [str(UUID(int=number)) for number in range(POLICY_NAMES + 20)]
    policies = [PolicyInUse(PolicyRole.RETRIEVE, UUID(name), PolicyState.ACTIVE) for name in names]
    metrics = watched(Readings(lambda: LEVEL, policies=lambda: policies))
    for name in names:
        metrics.decided(name)
        metrics.policy_failed(name)

    decided = values(metrics, "memserver_decisions_total")
    assert len(decided) == POLICY_NAMES + 1
    assert decided[(OTHER,)] == 20
    assert values(metrics, "memserver_policy_failures_total")[(OTHER,)] == 20
    shown = values(metrics, "memserver_policy_info")
    assert len(shown) == POLICY_NAMES + 1
    assert (names[0], "retrieve", "active") in shown


def test_gauges_are_read_when_somebody_scrapes_and_not_before() -> None:
    asked: list[str] = []

    def report() -> Report:
        asked.append("report")
        return LEVEL

    metrics = watched(Readings(report, queues={"store": lambda: len(asked)}))
    assert asked == []

    assert values(metrics, "memserver_queue_waiting") == {("store",): 1}
    assert values(metrics, "memserver_queue_waiting") == {("store",): 2}


def test_two_servers_in_one_process_count_apart() -> None:
    one, other = watched(), watched()
    one.decided("fixed-1")

    assert values(one, "memserver_decisions_total") == {("fixed-1",): 1}
    assert values(other, "memserver_decisions_total") == {}
