"""A person is erased: from every table, the log, the index and the bytes of every file; nobody else
loses anything."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, select

from memserver.app.opening import database_url
from memserver.domain.ports import PageRequest
from memserver.domain.ports.privacy import Erasing, subject_digest
from memserver.storage.sql.tables import metadata
from tests.integration.archives import backup, restored
from tests.integration.conftest import (
    App,
    asked_database,
    on_both_databases,
    start_app,
    wait_for,
)

NS = "clinic"
WORD = "zanzibarquokka"
PERSON = "p-17"
OTHER = "p-18"


@pytest.fixture
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[App]:
    with ExitStack() as stack:
        yield start_app(stack, tmp_path / "data", database_url=asked_database(request))


def run_of(subject: str | None, goal: str, *, said: str, success: bool = True) -> dict[str, Any]:
    return {
        "task": {"goal": goal, "type": "visit"},
        "steps": [
            {"observation": f"{said} is at the desk", "action": f"greet {said}"},
            {"observation": "the file is open", "action": "close the file"},
        ],
        "mistakes": [f"When: {said} waits\nAvoid: leaving"],
        "metadata": {"note": said},
        "outcome": {"score": float(success), "success": success},
        **({"subject": subject} if subject else {}),
    }


def plant(app: App) -> dict[str, Any]:
    """Everything that the API takes, said by or about the person, each with the word in it."""
    admin = app.admin
    memory = admin.post(
        "/v1/memories",
        {"namespace": NS, "body": {"text": f"{WORD} likes tea"}, "subject": PERSON},
    )
    admin.post(
        f"/v1/memories/{memory['id']}/versions", {"body": {"text": f"{WORD} likes coffee now"}}
    )
    admin.post(
        "/v1/memories",
        {
            "namespace": NS,
            "kind": "fact",
            "body": {"entity": WORD, "key": "drink", "value": "tea"},
            "metadata": {WORD: [WORD]},
            "subject": PERSON,
        },
        headers={"Idempotency-Key": "planted"},
    )
    run = admin.post(
        "/v1/trajectories",
        {"namespace": NS, **run_of(PERSON, f"see {WORD}", said=WORD)},
        headers={"Idempotency-Key": "run"},
    )
    found = admin.post(
        "/v1/retrieve",
        {"namespace": NS, "query": f"what does {WORD} like", "trajectory_id": run["id"]},
    )
    admin.post("/v1/feedback", {"retrieval_id": found["retrieval_id"], "score": 1.0})
    admin.post("/v1/feedback", {"trajectory_id": run["id"], "score": 0.5})
    session = "0190a000-0000-7000-8000-000000000017"
    admin.post(
        f"/v1/sessions/{session}/events",
        {
            "namespace": NS,
            "subject": PERSON,
            "events": [{"kind": "message", "speaker": WORD, "text": f"I am {WORD}"}],
        },
    )
    admin.post(f"/v1/sessions/{session}/end", {})
    admin.post(
        "/v1/remember",
        {"namespace": NS, "text": f"{WORD} lives in Oslo.", "subject": PERSON},
    )
    wait_for(admin, admin.post("/v1/distill", {"namespace": NS}))
    wait_for(admin, admin.post("/v1/consolidate", {"namespace": NS}))
    gone = admin.delete(f"/v1/memories/{memory['id']}")
    admin.post(f"/v1/changes/{gone['change_id']}/undo?reason={WORD}")
    return {"run": run, "memory": memory, "session": session, "retrieval": found["retrieval_id"]}


def others(app: App) -> list[str]:
    """What is somebody else's."""
    admin = app.admin
    kept = admin.post(
        "/v1/memories",
        {"namespace": NS, "body": {"text": "the clinic opens at nine"}, "subject": OTHER},
    )
    run = admin.post(
        "/v1/trajectories", {"namespace": NS, **run_of(OTHER, "see somebody", said="somebody")}
    )
    return [f"/v1/memories/{kept['id']}", f"/v1/trajectories/{run['id']}"]


def erase(app: App, subject: str = PERSON, **more: Any) -> dict[str, Any]:
    asked = app.admin.post("/v1/erasures", {"subject": subject, **more})
    assert subject not in str(asked)
    done: dict[str, Any] = wait_for(app.admin, asked)
    assert done["state"] == "succeeded", done
    return done


def everything_in_tables(app: App) -> str:
    engine = create_engine(database_url(app.server.settings).replace("sql://", "sql+psycopg://"))
    try:
        with engine.connect() as connection:
            return "\n".join(
                repr(tuple(row))
                for table in metadata.sorted_tables
                for row in connection.execute(select(table))
            )
    finally:
        engine.dispose()


def files_with(folder: Path, word: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and word.encode() in path.read_bytes()
    ]


@on_both_databases("fresh")
def test_what_was_planted_everywhere_is_gone_from_every_table(fresh: App) -> None:
    there = plant(fresh)
    kept = others(fresh)
    before = [fresh.admin.get(path) for path in kept]
    assert WORD in everything_in_tables(fresh)

    done = erase(fresh)

    assert WORD not in everything_in_tables(fresh)
    counts = done["report"]["counts"]
    assert {"item", "version", "session", "session_event", "decisions", "evidence"} <= counts.keys()
    assert counts["trajectory"] == 1
    assert [fresh.admin.get(path) for path in kept] == before
    assert fresh.admin("GET", f"/v1/trajectories/{there['run']['id']}").status_code == 404
    assert fresh.admin("GET", f"/v1/memories/{there['memory']['id']}").status_code == 404
    audit = fresh.audit()
    assert (audit["missing"], audit["orphans"]) == (0, 0)


def test_no_file_of_the_data_folder_holds_a_byte_of_it(fresh: App, tmp_path: Path) -> None:
    plant(fresh)
    others(fresh)
    folder = tmp_path / "data"
    assert "memserver.db" in " ".join(files_with(folder, WORD))

    done = erase(fresh)

    assert done["report"]["left"] is None
    assert files_with(folder, WORD) == []
    found = fresh.admin.post("/v1/retrieve", {"namespace": NS, "query": "when does it open"})
    assert any("nine" in one["text"] for one in found["items"])


def test_a_change_that_touched_what_was_erased_cannot_be_undone_and_nor_can_the_erasure(
    fresh: App,
) -> None:
    there = plant(fresh)
    done = erase(fresh)
    changes = fresh.admin.rows("/v1/changes", namespace=NS)
    erased = next(change for change in changes if change["verb"] == "erase")
    assert erased["operation"] == done["id"]
    for change_id in (erased["id"], there["run"]["change_id"], there["memory"]["change_id"]):
        reply = fresh.admin("POST", f"/v1/changes/{change_id}/undo")
        assert (reply.status_code, reply.json()["code"]) == (409, "change_erased"), reply.text


def test_an_erasure_is_listed_by_digest_and_only_an_admin_may_ask_for_one(fresh: App) -> None:
    plant(fresh)
    erase(fresh)
    [listed] = fresh.admin.rows("/v1/erasures")
    assert PERSON not in str(listed)
    assert listed["namespace"] == "**"
    writer = fresh.admin.with_key("writer", "**")
    assert writer("GET", "/v1/erasures").status_code == 403
    asked = writer("POST", "/v1/erasures", json={"subject": PERSON})
    assert asked.json()["code"] == "role_forbidden"
    narrow = fresh.admin.with_key("admin", "elsewhere/**")
    asked = narrow("POST", "/v1/erasures", json={"subject": PERSON})
    assert asked.json()["code"] == "namespace_forbidden"
    assert narrow.rows("/v1/erasures") == []
    with fresh.server.services.store.reading() as reader:
        [erasure] = reader.erasures(_tenant(fresh), PageRequest()).rows
    assert erasure.digest == subject_digest(_tenant(fresh), PERSON) == listed["digest"]


def test_what_is_written_about_the_same_person_later_is_new_and_stays(fresh: App) -> None:
    plant(fresh)
    erase(fresh)
    again = fresh.admin.post(
        "/v1/memories", {"namespace": NS, "body": {"text": "a new start"}, "subject": PERSON}
    )
    assert fresh.admin.get(f"/v1/memories/{again['id']}")["subject"] == PERSON


def test_only_the_namespaces_that_are_named_are_reached(fresh: App) -> None:
    kept = fresh.admin.post(
        "/v1/memories", {"namespace": "b", "body": {"text": "stays"}, "subject": PERSON}
    )
    gone = fresh.admin.post(
        "/v1/memories", {"namespace": "a/x", "body": {"text": "goes"}, "subject": PERSON}
    )
    erase(fresh, namespace="a/**")
    assert fresh.admin("GET", f"/v1/memories/{kept['id']}").status_code == 200
    assert fresh.admin("GET", f"/v1/memories/{gone['id']}").status_code == 404


def test_another_tenants_person_of_the_same_name_is_not_erased(fresh: App) -> None:
    theirs = fresh.admin.with_key("admin", "**", tenant="other")
    kept = theirs.post(
        "/v1/memories", {"namespace": NS, "body": {"text": "theirs"}, "subject": PERSON}
    )
    plant(fresh)
    erase(fresh)
    assert theirs.get(f"/v1/memories/{kept['id']}")["subject"] == PERSON


def test_a_version_that_others_bear_out_stays_without_the_erased_source(fresh: App) -> None:
    runs = [
        fresh.admin.post("/v1/trajectories", {"namespace": NS, **run_of(who, "see", said="tea")})
        for who in (PERSON, OTHER)
    ]
    sources = [{"trajectory_id": run["id"]} for run in runs]
    shared = fresh.admin.post(
        "/v1/memories", {"namespace": NS, "body": {"text": "greet tea"}, "sources": sources}
    )
    told = fresh.admin.post(
        "/v1/trajectories", {"namespace": NS, **run_of(PERSON, "see more", said=WORD)}
    )
    telling = fresh.admin.post(
        "/v1/memories",
        {
            "namespace": NS,
            "body": {"text": f"greet {WORD}"},
            "sources": [sources[1], {"trajectory_id": told["id"]}],
        },
    )

    done = erase(fresh)

    left = fresh.admin.get(f"/v1/memories/{shared['id']}")
    assert [one["trajectory_id"] for one in left["version"]["sources"]] == [runs[1]["id"]]
    assert fresh.admin("GET", f"/v1/memories/{telling['id']}").status_code == 404
    assert done["report"]["counts"]["rewritten"] == 1


def test_the_belief_of_a_shared_memory_forgets_what_the_erased_run_said_of_it(fresh: App) -> None:
    shared = fresh.admin.post("/v1/memories", {"namespace": NS, "body": {"text": "knock"}})
    for who, score in ((PERSON, 0.0), (OTHER, 1.0)):
        run = run_of(who, "see", said="tea") | {
            "used": [shared["version_id"]],
            "outcome": {"score": score, "success": bool(score)},
        }
        fresh.admin.post("/v1/trajectories", {"namespace": NS, **run})
    assert fresh.admin.get(f"/v1/memories/{shared['id']}")["version"]["belief"]["outcomes"] == 2
    erase(fresh)
    belief = fresh.admin.get(f"/v1/memories/{shared['id']}")["version"]["belief"]
    assert (belief["outcomes"], round(belief["mean"], 3)) == (1, 0.667)


def test_a_backup_made_before_does_not_bring_the_person_back(fresh: App, tmp_path: Path) -> None:
    there = plant(fresh)
    kept = others(fresh)
    before = [fresh.admin.get(path) for path in kept]
    archive = backup(fresh)
    erase(fresh)

    restored(fresh, archive, replace=True)

    assert WORD not in everything_in_tables(fresh)
    assert files_with(tmp_path / "data", WORD) == []
    assert [fresh.admin.get(path) for path in kept] == before
    assert fresh.admin("GET", f"/v1/trajectories/{there['run']['id']}").status_code == 404
    assert len(fresh.admin.rows("/v1/erasures")) == 1


def test_a_backup_made_after_keeps_what_was_written_since(fresh: App) -> None:
    plant(fresh)
    erase(fresh)
    again = fresh.admin.post(
        "/v1/memories", {"namespace": NS, "body": {"text": "a new start"}, "subject": PERSON}
    )
    restored(fresh, backup(fresh), replace=True)
    assert fresh.admin.get(f"/v1/memories/{again['id']}")["subject"] == PERSON


@pytest.mark.parametrize("first", [PERSON, None])
def test_what_two_people_said_alike_outlives_the_erasure_of_one(
    fresh: App, first: str | None
) -> None:
    def tell(subject: str | None) -> list[str]:
        whose = {"namespace": NS, **({"subject": subject} if subject else {})}
        note = fresh.admin.post("/v1/memories", {**whose, "body": {"text": "knock twice"}})
        said = fresh.admin.post("/v1/remember", {**whose, "text": f"Our {WORD} opens at nine."})
        fact = {"entity": "clinic", "key": "phone", "value": "five"}
        kept = fresh.admin.post("/v1/memories", {**whose, "kind": "fact", "body": fact})
        told = fresh.admin.post(
            "/v1/remember", {**whose, "facts": [{**fact, "key": "street", "value": "Elm"}]}
        )
        items = [one["item"] for reply in (said, told) for one in reply["written"]]
        return [note["id"], kept["id"], *items]

    tell(first)
    mine = tell(OTHER)
    erase(fresh)
    for item in mine:
        # A fact that was nobody's before stays nobody's.
        assert fresh.admin.get(f"/v1/memories/{item}")["subject"] in (OTHER, first)


@pytest.mark.parametrize("way", ["memories", "remember"])
def test_a_fact_that_another_person_told_anew_is_no_hiding_place(fresh: App, way: str) -> None:
    def tell(subject: str, value: str) -> str:
        fact = {"entity": "Ada", "key": "drink", "value": value}
        if way == "memories":
            kept = {"namespace": NS, "kind": "fact", "body": fact, "subject": subject}
            return str(fresh.admin.post("/v1/memories", kept)["id"])
        told = {"namespace": NS, "facts": [fact], "subject": subject}
        return str(fresh.admin.post("/v1/remember", told)["written"][0]["item"])

    tell(PERSON, WORD)
    other = tell(OTHER, "tea")
    assert tell(OTHER, "milk") == other
    erase(fresh)
    assert WORD not in everything_in_tables(fresh)
    assert PERSON not in everything_in_tables(fresh)
    history = fresh.admin.get(f"/v1/memories/{other}/history")["versions"]
    assert [one["body"]["value"] for one in history] == ["milk", "tea"]


def test_what_is_told_of_nobody_changes_the_fact_of_the_one_person_who_has_it(fresh: App) -> None:
    def tell(subject: str | None, value: str) -> str:
        fact = {"entity": "Ada", "key": "drink", "value": value}
        whose = {"subject": subject} if subject else {}
        body = {"namespace": NS, "kind": "fact", "body": fact, **whose}
        return str(fresh.admin.post("/v1/memories", body)["id"])

    first = tell(PERSON, "tea")
    assert tell(None, "milk") == first
    other = tell(OTHER, "water")
    assert other != first
    of_nobody = tell(None, "juice")
    assert of_nobody not in (first, other)
    assert tell(PERSON, "coffee") == first
    assert tell(OTHER, "soda") == other


def test_what_a_tool_stores_in_a_persons_session_goes_with_them(fresh: App) -> None:
    session = "0190a000-0000-7000-8000-000000000017"
    event = {"kind": "message", "speaker": "user", "text": "hello"}
    fresh.admin.post(
        f"/v1/sessions/{session}/events", {"namespace": NS, "subject": PERSON, "events": [event]}
    )
    for arguments in (
        {"text": f"{WORD} likes tea"},
        {"fact": {"entity": WORD, "key": "drink", "value": "tea"}},
    ):
        call = {"namespace": NS, "name": "memory_store", "arguments": arguments}
        kept = fresh.admin.post("/v1/tools/call", {**call, "session": session})
        assert kept["data"]["operation"] == "ADD"
    erase(fresh)
    assert WORD not in everything_in_tables(fresh)


def test_an_index_that_was_set_aside_does_not_keep_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ExitStack() as stack:
        app = start_app(stack, data)
        key = app.admin.key
        plant(app)
    for log in (data / "index" / "wal").iterdir():
        log.unlink()
    with ExitStack() as stack:
        app = start_app(stack, data, key=key)
        assert (data / "index.aside-1").exists()
        erase(app)
        assert not (data / "index.aside-1").exists()


def test_work_that_was_under_way_brings_nothing_of_them_back(
    fresh: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(fresh)
    runner = fresh.server.services.operations._runner("distill")
    prepare, tenant = runner.prepare, _tenant(fresh)
    digest = subject_digest(tenant, PERSON)
    gone: list[str] = []

    def erased_meanwhile(operation: Any, step: str) -> Any:
        effect = prepare(operation, step)
        if not gone:
            gone.append(step)
            asked = Erasing(tenant, digest, "**", operation.requested_by)
            fresh.server.services.store.write(lambda tx: tx.erase(asked, lambda _: ()))
        return effect

    fresh.admin.post(
        "/v1/trajectories", {"namespace": NS, **run_of(PERSON, f"meet {WORD}", said=WORD)}
    )
    monkeypatch.setattr(runner, "prepare", erased_meanwhile)
    done = wait_for(fresh.admin, fresh.admin.post("/v1/distill", {"namespace": NS}))
    assert (done["state"], len(gone)) == ("succeeded", 1)
    kept = str(fresh.admin.rows("/v1/memories", namespace=NS))
    assert WORD not in kept + str(fresh.admin.rows("/v1/skills", namespace=NS))


def test_distilled_items_have_the_subject_that_all_their_runs_share(fresh: App) -> None:
    for goal in ("put a mug on a desk", "put a cup on a shelf"):
        run = run_of(PERSON, goal, said="tea") | {"mistakes": ["When: it is hot\nAvoid: touching"]}
        fresh.admin.post("/v1/trajectories", {"namespace": NS, **run})
    wait_for(fresh.admin, fresh.admin.post("/v1/distill", {"namespace": NS}))
    items = fresh.admin.rows("/v1/memories", namespace=NS)
    assert items
    assert {item["subject"] for item in items} == {PERSON}
    run = run_of(OTHER, "put a mug on a desk", said="tea") | {
        "mistakes": ["When: it is hot\nAvoid: touching"]
    }
    fresh.admin.post("/v1/trajectories", {"namespace": NS, **run})
    wait_for(fresh.admin, fresh.admin.post("/v1/distill", {"namespace": NS}))
    again = fresh.admin.rows("/v1/memories", namespace=NS)
    assert None in {item["subject"] for item in again}


def _tenant(app: App) -> Any:
    with app.server.services.store.reading() as reader:
        tenant = reader.tenant("default")
    assert tenant is not None
    return tenant.id


def test_an_item_is_not_taken_over_for_another_person(fresh: App) -> None:
    """Else an erasure of the first would no longer find what it said of them."""
    body = {"namespace": NS, "body": {"text": f"{WORD} is private"}, "subject": PERSON}
    item = fresh.admin.post("/v1/memories", body)["id"]
    new = {"body": {"text": "something else"}, "subject": OTHER}
    refused = fresh.admin("POST", f"/v1/memories/{item}/versions", json=new)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_body")
    fresh.admin.post(f"/v1/memories/{item}/versions", {**new, "subject": PERSON})
