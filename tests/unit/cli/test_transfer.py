"""Files go in by parts and come out as lines, and every run is counted once."""

import io
import json
from uuid import uuid4

import httpx
import pytest

from memserver.cli.parts import NotAnArray, array_parts, line_parts

ID = "01890000-0000-7000-8000-0000000000aa"
RUN = {
    "id": ID,
    "namespace": "lab",
    "task": {"goal": "größer als 😀", "type": None, "environment": None, "template_id": None},
    "agent": "",
    "steps": [],
    "outcome": None,
    "used": None,
    "mistakes": [],
    "metadata": {},
    "created_at": "2026-01-01T00:00:00Z",
}


def stores(request):
    lines = [line for line in request.content.split(b"\n") if line.strip()]
    ids = [str(uuid4()) for _ in lines]
    return httpx.Response(
        201,
        json={"ids": ids, "stored": len(ids), "existing": 0, "credited": 0, "change_id": ID},
    )


# --- parts -------------------------------------------------------------------------------


def test_parts_hold_whole_lines_and_together_the_whole_file():
    lines = [b"%d" % n * (n % 7 + 1) + b"\n" for n in range(100)]
    content = b"".join(lines) + b"last without an end"

    parts = list(line_parts(io.BytesIO(content), most_bytes=40, most_lines=10))

    assert b"".join(part.content for part in parts) == content
    assert all(part.content.endswith(b"\n") for part in parts[:-1])
    assert all(len(part.content) <= 40 for part in parts)
    assert parts[-1].end == len(content)
    for part in parts:
        before = content[: part.end - len(part.content)]
        assert part.first_line == before.count(b"\n") + 1


def test_parts_are_cut_by_lines_too():
    parts = list(line_parts(io.BytesIO(b"x\n" * 25), most_lines=10))
    assert [part.first_line for part in parts] == [1, 11, 21]


def test_a_line_longer_than_a_part_goes_alone():
    content = b"a\n" + b"b" * 100 + b"\nc\n"
    parts = list(line_parts(io.BytesIO(content), most_bytes=10))
    assert [len(part.content) for part in parts] == [2, 101, 2]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"   \n"])
def test_blank_lines_alone_are_no_part(content):
    assert list(line_parts(io.BytesIO(content))) == []


def test_a_small_array_is_sent_as_it_is():
    (part,) = array_parts(b'[ {"a": 1} ]')
    assert part.content == b'[ {"a": 1} ]'


def test_a_large_array_is_cut_between_elements():
    rows = [{"n": n, "text": "ä" * (n % 5)} for n in range(50)]
    content = json.dumps(rows).encode()

    parts = list(array_parts(content, whole=100, most_bytes=200))

    assert len(parts) > 5
    assert [row for part in parts for row in json.loads(part.content)] == rows
    assert all(len(part.content) < 260 for part in parts)
    assert parts[-1].end == len(content)
    assert [part.first_line for part in parts][:2] == [1, len(json.loads(parts[0].content)) + 1]


@pytest.mark.parametrize("content", [b"{}" + b" " * 200, b"[1, 2" + b" " * 200])
def test_what_is_no_array_cannot_be_cut(content):
    with pytest.raises(NotAnArray):
        list(array_parts(content, whole=100))


# --- import ------------------------------------------------------------------------------


def test_a_long_file_is_imported_in_parts(run, server, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(f'{{"task": {{"goal": "g{n}"}}}}\n' for n in range(1_200)))
    server.answers = {"POST /v1/trajectories/import": stores}

    result = run("import", str(file), "--namespace", "lab", "--json")

    receipt = json.loads(result.stdout)
    assert (receipt["stored"], len(receipt["ids"])) == (1_200, 1_200)
    assert receipt["change_ids"] == [ID] * 3
    assert b"".join(request.content for request in server.requests) == file.read_bytes()
    assert server.params() == {"namespace": "lab", "format": "jsonl"}


def test_an_import_is_told_in_a_sentence(run, server, tmp_path):
    file = tmp_path / "runs.json"
    file.write_text('[{"memory_id": "m"}]')
    server.answers = {"POST /v1/trajectories/import": stores}

    result = run("import", str(file), "-n", "lab", "--format", "alfworld-condensed")

    assert result.stdout.startswith("Stored 1 runs in lab; 0 were there before")
    assert server.params()["format"] == "alfworld-condensed"


def test_a_bad_line_is_named_by_its_number_in_the_file(run, server, problem, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("{}\n" * 700)
    detail = "Line 20 cannot be imported: no goal. Nothing was stored."
    server.answers = {
        "POST /v1/trajectories/import": [
            stores,
            problem(422, "invalid_import", detail, line=20),
        ]
    }

    result = run("import", str(file), "-n", "lab")

    assert result.exit_code == 1
    assert result.stderr.startswith("invalid_import: Line 520 cannot be imported: no goal.")
    assert "The 500 runs before line 501 are stored" in result.stderr
    assert "Nothing was stored" not in result.stderr


def test_a_bad_line_in_the_first_part_leaves_nothing(run, server, problem, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("{}\n")
    detail = "Line 1 cannot be imported: no goal. Nothing was stored."
    server.answers = {
        "POST /v1/trajectories/import": problem(422, "invalid_import", detail, line=1)
    }

    assert run("import", str(file), "-n", "lab").stderr == f"invalid_import: {detail}\n"


def test_an_empty_file_is_imported_without_a_request(run, server, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("")

    assert json.loads(run("import", str(file), "-n", "lab", "--json").stdout)["stored"] == 0
    assert server.requests == []


def test_a_file_that_is_not_there_is_a_misuse(run, tmp_path):
    assert run("import", str(tmp_path / "none"), "-n", "lab").exit_code == 2
