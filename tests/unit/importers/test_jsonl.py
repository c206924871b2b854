"""JSON lines of runs: all that is well-formed is read, everything else is refused by its line."""

import contextlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.errors import InvalidImport
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Outcome, OutcomeSource, Step, Task, Trajectory
from memserver.services.importers import IMPORTERS

NAMESPACE = Namespace(1, UUID(int=1), "demo")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINIMAL: dict[str, Any] = {"task": {"goal": "put a mug on the cart"}}


def read(*lines: bytes | str | dict[str, Any]) -> list[Trajectory]:
    data = b"\n".join(
        line
        if isinstance(line, bytes)
        else line.encode()
        if isinstance(line, str)
        else to_json(line)
        for line in lines
    )
    return list(IMPORTERS["jsonl"](data, NAMESPACE, lambda: NOW))


def to_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def refused(*lines: bytes | str | dict[str, Any]) -> InvalidImport:
    with pytest.raises(InvalidImport) as caught:
        read(*lines)
    return caught.value


def test_a_whole_run_is_read_as_sent() -> None:
    run_id, used = uuid4(), uuid4()

    [run] = read(
        {
            "id": str(run_id),
            "task": {"goal": "put", "type": "t", "environment": "e", "template_id": "x"},
            "agent": "a",
            "steps": [
                {"observation": "o", "action": "a", "reward": 1, "metadata": {"k": [1, None]}},
                {"action": "b"},
            ],
            "outcome": {"score": 1, "success": True, "source": "judge", "cost": 2.5},
            "used": [str(used)],
            "mistakes": ["m"],
            "metadata": {"ü": "“"},
            "created_at": "2025-06-01T10:00:00+02:00",
        }
    )

    assert run.id == run_id
    assert run.namespace == NAMESPACE
    assert run.task == Task("put", "t", "e", "x")
    assert run.steps == (Step("o", "a", 1.0, {"k": [1, None]}), Step("", "b"))
    assert run.outcome == Outcome(1.0, True, OutcomeSource.JUDGE, 2.5)
    assert run.used == (used,)
    assert (run.agent, run.mistakes, run.metadata) == ("a", ("m",), {"ü": "“"})
    assert run.created_at == datetime(2025, 6, 1, 8, tzinfo=UTC)
    assert run.sent_hash


def test_what_is_left_out_is_empty_and_the_time_is_the_clocks() -> None:
    [run] = read(MINIMAL)

    assert (run.steps, run.outcome, run.used, run.created_at) == ((), None, None, NOW)


def test_a_run_without_an_id_gets_the_same_one_at_every_import() -> None:
    [first] = read(MINIMAL)
    [again] = list(IMPORTERS["jsonl"](to_json(MINIMAL), NAMESPACE, lambda: NOW + timedelta(days=1)))
    [elsewhere] = list(
        IMPORTERS["jsonl"](to_json(MINIMAL), Namespace(2, UUID(int=1), "b"), lambda: NOW)
    )
    [other] = read({"task": {"goal": "another"}})

    assert first.id == again.id
    assert first.id != elsewhere.id
    assert first.id != other.id


def test_the_hash_of_what_was_sent_tells_other_content_apart() -> None:
    run_id = str(uuid4())
    [one] = read({**MINIMAL, "id": run_id})
    [same] = read({"id": run_id, **MINIMAL, "created_at": "2020-01-01T00:00:00Z"})
    [other] = read({**MINIMAL, "id": run_id, "agent": "x"})

    assert one.sent_hash == same.sent_hash
    assert one.sent_hash != other.sent_hash


def test_blank_lines_line_ends_and_a_byte_order_mark_are_no_matter() -> None:
    line = to_json(MINIMAL)

    assert (
        len(read(b"\xef\xbb\xbf" + line + b"\r", b"", b"  ", to_json({"task": {"goal": "b"}}))) == 2
    )
    assert read(b"") == []


def test_a_line_separator_inside_a_text_does_not_end_the_line() -> None:
    [run] = read('{"task": {"goal": "a\u2028b"}}')

    assert run.task.goal == "a\u2028b"


BAD: dict[str, tuple[bytes | str | dict[str, Any], str]] = {
    "no JSON": (b"{", "not JSON"),
    "two values": (b"{} {}", "more than one"),
    "not an object": (b"[]", "JSON object"),
    "not UTF-8": (b'{"task": {"goal": "\xff"}}', "UTF-8"),
    "NaN": ('{"task": {"goal": "g"}, "metadata": {"x": NaN}}', "NaN"),
    "infinity": ('{"task": {"goal": "g"}, "steps": [{"reward": -Infinity}]}', "Infinity"),
    "beyond a float": ('{"task": {"goal": "g"}, "metadata": {"x": 1e999}}', "64 bits"),
    "a huge integer": (f'{{"task": {{"goal": "g"}}, "metadata": {{"x": {10**30}}}}}', "64 bits"),
    "thousands of digits": (
        f'{{"task": {{"goal": "g"}}, "metadata": {{"x": {"9" * 5000}}}}}',
        "64",
    ),
    "half a surrogate": ('{"task": {"goal": "\\ud800"}}', "surrogate"),
    "half a surrogate as key": ('{"task": {"goal": "g"}, "metadata": {"\\udfff": 1}}', "surrogate"),
    "NUL": ('{"task": {"goal": "a\\u0000b"}}', "NUL"),
    "a key twice": ('{"task": {"goal": "g"}, "task": {"goal": "h"}}', "'task' occurs twice"),
    "too deep": ('{"task": {"goal": "g"}, "metadata": ' + '{"a":' * 40 + "1" + "}" * 41, "deeper"),
    "far too deep": ("[" * 100_000, "deeper"),
    "no task": ({}, "task: Field required"),
    "an empty goal": ({"task": {"goal": ""}}, "task.goal"),
    "a goal that is a number": ({"task": {"goal": 1}}, "task.goal"),
    "an unknown field": ({**MINIMAL, "gaol": 1}, "gaol"),
    "an unknown field of a step": ({**MINIMAL, "steps": [{"act": "x"}]}, "steps.0.act"),
    "a step that is a text": ({**MINIMAL, "steps": ["x"]}, "steps.0"),
    "a score over one": ({**MINIMAL, "outcome": {"score": 1.1, "success": True}}, "outcome.score"),
    "a score that is a text": (
        {**MINIMAL, "outcome": {"score": "1", "success": True}},
        "outcome.score",
    ),
    "a score that is a truth value": (
        {**MINIMAL, "outcome": {"score": True, "success": True}},
        "outcome.score",
    ),
    "a success that is a number": (
        {**MINIMAL, "outcome": {"score": 1, "success": 1}},
        "outcome.success",
    ),
    "an unknown source": (
        {**MINIMAL, "outcome": {"score": 1, "success": True, "source": "me"}},
        "outcome.source",
    ),
    "an id that is none": ({**MINIMAL, "id": "x"}, "id"),
    "an id that is a number": ({**MINIMAL, "id": 5}, "id"),
    "used that is none": ({**MINIMAL, "used": ["x"]}, "used.0"),
    "a naive time": ({**MINIMAL, "created_at": "2025-06-01T10:00:00"}, "created_at"),
    "a time that is a number": ({**MINIMAL, "created_at": 1_700_000_000}, "created_at"),
    "a mistake that is none": ({**MINIMAL, "mistakes": [None]}, "mistakes.0"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_line_is_refused_by_its_number(name: str) -> None:
    line, reason = BAD[name]

    fault = refused(MINIMAL, b"", line)

    assert fault.line == 3
    assert reason in str(fault)
    assert str(fault).startswith("Line 3 ")


def test_the_same_id_twice_is_refused_with_both_lines() -> None:
    run_id = str(uuid4())

    fault = refused({**MINIMAL, "id": run_id}, b"", {"id": run_id, "task": {"goal": "b"}})

    assert fault.line == 3
    assert "line 1" in str(fault)


def test_the_same_run_twice_without_ids_is_refused() -> None:
    assert refused(MINIMAL, MINIMAL).line == 2


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(InvalidImport):
        assert all(run.task.goal for run in read(data))
