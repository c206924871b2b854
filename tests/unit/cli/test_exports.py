"""`memserver export`: rows to stdout, a file or a folder, whole or not at all."""

import hashlib
import json

import httpx
import pyarrow.parquet as parquet
import pytest

from memserver.domain.policy.features import NAMES
from memserver.services.exporting.lines import line_of

RUN = {
    "id": "01890000-0000-7000-8000-0000000000aa",
    "task": {"goal": "größer als 😀", "type": None, "environment": None, "template_id": None},
    "agent": "",
    "steps": [{"observation": "", "action": "go", "reward": None, "metadata": {"a": [1]}}],
    "outcome": {"score": 1.0, "success": True, "source": "judge", "cost": None},
    "used": None,
    "mistakes": [],
    "metadata": {"n": 1, "nothing": None},
    "created_at": "2026-01-01T00:00:00+00:00",
}
ITEM = {
    "id": "i",
    "namespace": "lab",
    "kind": "note",
    "title": "t",
    "status": "active",
    "created_at": "2026-01-01T00:00:00+00:00",
    "merged_into": None,
    "version": {
        "id": "v",
        "item_id": "i",
        "number": 1,
        "title": "t",
        "body": {"text": "x"},
        "text": "x",
        "method": "api",
        "sources": [{"trajectory_id": "r", "steps": [1]}],
        "task_type": None,
        "metadata": {},
        "parent": None,
        "valid_from": "2026-01-01T00:00:00+00:00",
        "valid_to": None,
        "recorded_at": "2026-01-01T00:00:00+00:00",
        "belief": {"mean": 0.5, "lower_bound": 0.0, "outcomes": 0},
    },
}


def decision(number: int, **more: object) -> dict[str, object]:
    return {
        "id": f"d{number}",
        "namespace": "lab",
        "trajectory_id": None,
        "group": "g",
        "split": "train",
        "verb": "retrieve",
        "query": "größe",
        "task_type": None,
        "policy": "fixed-1",
        "schema": 1,
        "encoder": "e/2",
        "query_vector": [0.5, 0.10000000149011612],
        "temperature": 0.0,
        "exposure_slots": 0,
        "explored": False,
        "created_at": "2026-01-01T00:00:00+00:00",
        "candidates": [
            {
                "id": f"v{number}",
                "features": [0.1] * len(NAMES),
                "score": -1.25,
                "rank": 1,
                "packed": True,
                "slot": None,
                "propensity": 1.0,
                "gated": None,
                "credit": 0.5,
            }
        ],
        "rewards": {"outcome": 0.3, "human": 0.3} if number % 2 else {},
        **more,
    }


def vector(number: int) -> dict[str, object]:
    return {"id": f"v{number}", "encoder": "e/2", "vector": [0.25, 0.10000000149011612]}


def sealed(*rows: object) -> httpx.Response:
    lines = b"".join(map(line_of, rows))
    seal = {"rows": len(rows), "sha256": hashlib.sha256(lines).hexdigest()}
    return httpx.Response(200, content=lines + json.dumps(seal).encode() + b"\n")


def cut(*rows: object) -> httpx.Response:
    return httpx.Response(200, content=b"".join(map(line_of, rows)))


def test_runs_come_out_in_the_form_that_import_reads(run, server):
    server.answers = {"GET /v1/export/trajectories": sealed(RUN, {**RUN, "agent": "b"})}

    result = run("export", "trajectories", "-n", "lab")

    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines == [RUN, {**RUN, "agent": "b"}]
    assert "größer als 😀" in result.stdout
    assert server.params() == {"namespace": "lab", "text": "true", "redact": "true"}
    assert result.stderr == ""


def test_what_is_asked_for_reaches_the_server(run, server):
    server.answers = {"GET /v1/export/decisions": sealed()}
    since = ("--since", "2026-01-31T01:00:00+01:00")
    run("export", "decisions", "-n", "lab", *since, "--split", "test", "--no-text")
    assert server.params() == {
        "namespace": "lab",
        "since": "2026-01-31T01:00:00+01:00",
        "split": "test",
        "text": "false",
    }


def test_leaving_secrets_in_is_asked_for_and_said(run, server):
    server.answers = {"GET /v1/export/items": sealed(ITEM)}
    result = run("export", "items", "-n", "lab/**", "--no-redact")
    assert server.params()["redact"] == "false"
    assert "Nothing is redacted" in result.stderr
    assert json.loads(result.stdout) == ITEM


@pytest.mark.parametrize(
    "arguments",
    [
        ("trajectories", "-n", "lab/**"),
        ("decisions", "-n", "**"),
        ("decisions", "-n", "lab", "--no-redact"),
        ("items", "-n", "lab", "--split", "train"),
        ("items", "-n", "lab", "--since", "2026-01-01T00:00:00Z"),
        ("items", "-n", "lab", "--no-text", "--no-redact"),
        ("items", "-n", "lab", "--format", "parquet"),
        ("items", "-n", "lab", "-o", "/nowhere/at/all"),
        ("trajectories", "-n", "lab", "--since", "yesterday"),
        ("trajectories", "-n", "lab", "--since", "2026-01-01"),
        ("trajectories", "-n", "lab", "--split", "half"),
        ("everything", "-n", "lab"),
    ],
)
def test_what_makes_no_sense_is_a_misuse_and_asks_nothing(run, server, arguments):
    assert run("export", *arguments).exit_code == 2
    assert server.requests == []


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_file_appears_only_when_it_is_whole(run, server, problem, tmp_path, format):
    file = tmp_path / "runs"
    file.write_text("the old one")
    arguments = ("export", "trajectories", "-n", "lab", "--output", str(file), "--format", format)
    for broken in (problem(403, "namespace_forbidden"), cut(RUN)):
        server.answers = {"GET /v1/export/trajectories": broken}
        assert run(*arguments).exit_code == 1
        assert file.read_text() == "the old one"
        assert [path.name for path in tmp_path.iterdir()] == ["runs"]

    server.answers = {"GET /v1/export/trajectories": sealed(RUN)}
    result = run(*arguments, "--json")
    assert json.loads(result.stdout) == {"rows": 1, "output": str(file)}
    if format == "jsonl":
        assert json.loads(file.read_text()) == RUN
    else:
        [row] = parquet.read_table(file).to_pylist()
        assert json.loads(row.pop("metadata")) == RUN["metadata"]
        assert json.loads(row["steps"][0].pop("metadata")) == {"a": [1]}
        assert row["task"] == RUN["task"]


def test_items_as_parquet_keep_their_bodies_as_json(run, server, tmp_path):
    server.answers = {"GET /v1/export/items": sealed(ITEM)}
    file = tmp_path / "items.parquet"
    result = run("export", "items", "-n", "lab", "-o", str(file), "--format", "parquet")
    assert result.stdout == f"Wrote 1 items to {file}.\n"
    [row] = parquet.read_table(file).to_pylist()
    assert json.loads(row["version"]["body"]) == {"text": "x"}
    assert row["version"]["sources"] == ITEM["version"]["sources"]


# --- the dataset folder ------------------------------------------------------------------


def export_folder(run, server, folder, *arguments, rows=3):
    server.answers = {
        "GET /v1/export/decisions": sealed(*map(decision, range(rows))),
        "GET /v1/export/vectors": sealed(*map(vector, range(rows))),
    }
    return run("export", "decisions", "-n", "lab", "-o", str(folder), *arguments)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_the_folder_holds_what_its_manifest_says(run, server, tmp_path, format):
    folder = tmp_path / "data"
    result = export_folder(
        run, server, folder, "--format", format, "--split", "train", "--json", rows=200
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    lines = b"".join(line_of(decision(number)) for number in range(200))
    assert manifest == {
        "format": 1,
        "kind": "decisions",
        "rows": 200,
        "vectors": 200,
        "sha256": hashlib.sha256(lines).hexdigest(),
        "feature_schema": 1,
        "feature_names": list(NAMES),
        "encoder": "e/2",
        "dimension": 2,
        "split": "train",
        "namespace": "lab",
        "since": None,
        "files": {"decisions": f"decisions.{format}", "vectors": f"vectors.{format}"},
    }
    assert json.loads(result.stdout) == {
        "rows": 200,
        "vectors": 200,
        "sha256": manifest["sha256"],
        "output": str(folder),
    }
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        *manifest["files"].values(),
    }


def test_both_formats_hold_the_same_rows_to_the_last_bit(run, server, tmp_path):
    export_folder(run, server, tmp_path / "lines")
    export_folder(run, server, tmp_path / "columns", "--format", "parquet")

    table = parquet.read_table(tmp_path / "columns" / "decisions.parquet")
    rows = table.to_pylist(maps_as_pydicts="strict")
    assert b"".join(map(line_of, rows)) == (tmp_path / "lines" / "decisions.jsonl").read_bytes()
    vectors = parquet.read_table(tmp_path / "columns" / "vectors.parquet").to_pylist()
    assert b"".join(map(line_of, vectors)) == (tmp_path / "lines" / "vectors.jsonl").read_bytes()


def test_a_folder_of_nothing_says_so(run, server, tmp_path):
    result = export_folder(run, server, tmp_path / "data", rows=0)
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert (manifest["rows"], manifest["encoder"], manifest["dimension"]) == (0, None, None)
    assert result.stdout == f"Wrote 0 decisions and 0 vectors to {tmp_path / 'data'}.\n"


@pytest.mark.parametrize("broken", ["decisions", "vectors"])
def test_no_part_of_a_folder_is_left_where_a_stream_was_cut(run, server, tmp_path, broken):
    server.answers = {
        "GET /v1/export/decisions": sealed(decision(0)),
        "GET /v1/export/vectors": sealed(vector(0)),
        f"GET /v1/export/{broken}": cut(decision(0)),
    }
    result = run("export", "decisions", "-n", "lab", "-o", str(tmp_path / "data"))
    assert (result.exit_code, result.stderr.split(":")[0]) == (1, "stream_broken")
    assert list(tmp_path.iterdir()) == []


def test_features_of_another_schema_are_not_given_the_names_of_this_one(run, server, tmp_path):
    server.answers = {"GET /v1/export/decisions": sealed(decision(0, schema=2))}
    result = run("export", "decisions", "-n", "lab", "-o", str(tmp_path / "data"))
    assert (result.exit_code, result.stderr.split(":")[0]) == (1, "other_feature_schema")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_alone(run, server, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    assert export_folder(run, server, folder).exit_code == 0
    requests = len(server.requests)
    assert export_folder(run, server, folder).exit_code == 2
    assert len(server.requests) == requests
