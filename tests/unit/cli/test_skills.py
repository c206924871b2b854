"""`memserver skill`: what is sent of a folder, and what is shown of what came back."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

ID = "01890000-0000-7000-8000-0000000000aa"
FINDING = {"code": "hidden_comment", "where": "text", "excerpt": "<!-- [bold] -->"}
IMPORTED = {
    "change_id": ID,
    "position": 1,
    "searchable": True,
    "format": "agent-skill",
    "ids": [ID],
    "skills": [
        {
            "id": ID,
            "version_id": ID,
            "where": "fry",
            "title": "fry",
            "kind": "skill",
            "status": "quarantined",
            "existing": False,
            "findings": [FINDING],
            "undecided_tools": ["Bash(git:*)"],
        }
    ],
    "refused": [{"where": "b", "code": "name_not_folder", "reason": "another name"}],
}
MOVED = {
    "change_id": ID,
    "position": 2,
    "searchable": True,
    "id": ID,
    "status": "active",
    "findings": [],
    "tools": [],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of one skill, with what tools leave behind."""
    skill = tmp_path / "fry"
    (skill / "scripts").mkdir(parents=True)
    (skill / ".git").mkdir()
    (skill / "SKILL.md").write_text("---\nname: fry\n---\n")
    (skill / "scripts" / "run.sh").write_text("true")
    (skill / ".git" / "config").write_text("x")
    return skill


def sent(server: Any) -> list[str]:
    return sorted(zipfile.ZipFile(io.BytesIO(server.requests[-1].content)).namelist())


def test_a_folder_is_packed_under_its_name_and_findings_are_shown(
    run: Any, server: Any, folder: Path
) -> None:
    server.answers["POST /v1/skills/import"] = IMPORTED
    shown = run("skill", "import", str(folder), "-n", "kitchen")

    assert shown.exit_code == 0
    assert server.requests[-1].headers["content-type"] == "application/zip"
    assert sent(server) == ["fry/SKILL.md", "fry/scripts/run.sh"]
    assert "Bash(git:*)" in shown.stdout
    assert "fry, text: hidden_comment: <!-- [bold] -->" in shown.stderr
    assert "refused b: another name (name_not_folder)" in shown.stderr


def test_a_folder_of_skills_is_packed_under_theirs(run: Any, server: Any, folder: Path) -> None:
    server.answers["POST /v1/skills/import"] = IMPORTED
    shown = run("skill", "import", str(folder.parent), "-n", "kitchen", "--json")

    assert sent(server) == ["fry/SKILL.md", "fry/scripts/run.sh"]
    assert json.loads(shown.stdout) == IMPORTED


def test_a_link_in_a_folder_is_not_followed(run: Any, server: Any, folder: Path) -> None:
    (folder / "passwords").symlink_to("/etc/passwd")
    shown = run("skill", "import", str(folder), "-n", "kitchen")

    assert (shown.exit_code, server.requests) == (1, [])
    assert "is a link" in shown.stderr


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"---\nname: fry\n---\n", "text/markdown"),
        (b'{"general_skills": []}', "application/json"),
        (b'{"title": "a", "body": {}}\n{"title": "b", "body": {}}\n', "application/x-ndjson"),
        (b'{"title": "a", "body": {}}\n', "application/x-ndjson"),
    ],
)
def test_a_file_is_known_by_what_it_holds(
    run: Any, server: Any, tmp_path: Path, content: bytes, media_type: str
) -> None:
    server.answers["POST /v1/skills/import"] = IMPORTED
    (tmp_path / "file").write_bytes(content)
    run("skill", "import", str(tmp_path / "file"), "-n", "kitchen")

    assert server.requests[-1].headers["content-type"] == media_type
    assert server.requests[-1].content == content


def test_a_promotion_names_its_reason_and_what_it_accepts(run: Any, server: Any) -> None:
    server.answers[f"POST /v1/skills/{ID}/promote"] = MOVED
    shown = run("skill", "promote", ID, "--reason", "read it", "--accept-findings")

    assert server.body() == {"reason": "read it", "allow_tools": False, "accept_findings": True}
    assert f"{ID} is active." in shown.stdout


def test_a_skill_is_written_to_a_file(run: Any, server: Any, tmp_path: Path) -> None:
    server.answers[f"GET /v1/skills/{ID}/export"] = httpx.Response(200, content=b"PK")
    shown = run("skill", "export", ID, "--to", str(tmp_path / "fry.zip"))

    assert (tmp_path / "fry.zip").read_bytes() == b"PK"
    assert "Wrote 2 bytes" in shown.stdout
