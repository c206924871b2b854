"""A server with something of every kind in it, its backups and what is in them."""

import io
import json
import tarfile
from collections import Counter
from typing import Any

from sqlalchemy import create_engine, select

from memserver.app.opening import database_url
from memserver.storage.sql.tables import metadata
from tests.integration.conftest import App, Caller, wait_for

NS = "kept"
TEXTS = [f"the {color} valve closes pipe {n}" for n, color in enumerate(("red", "blue", "green"))]


def fill(app: App) -> None:
    """Something of every kind that there is."""
    for text in TEXTS:
        app.admin.post("/v1/memories", {"namespace": NS, "body": {"text": text}})
    run = app.admin.post("/v1/trajectories", {"namespace": NS, "task": {"goal": "close the pipe"}})
    found = app.admin.post(
        "/v1/retrieve", {"namespace": NS, "query": TEXTS[0], "trajectory_id": run["id"]}
    )
    app.admin.post("/v1/feedback", {"retrieval_id": found["retrieval_id"], "score": 1.0})
    app.admin.post("/v1/memories", {"namespace": f"{NS}/b", "body": {"text": "elsewhere"}})
    app.admin("POST", "/v1/namespaces", json={"path": "x"}, headers={"Idempotency-Key": "k"})
    app.admin.with_key("writer", "**", tenant="other").post(
        "/v1/memories", {"namespace": NS, "body": {"text": "another tenant's"}}
    )
    wait_for(app.admin, app.admin.post("/v1/distill", {"namespace": NS}))


def backup(app: App) -> bytes:
    reply = app.admin("GET", "/v1/backup")
    assert reply.status_code == 200, reply.text
    content: bytes = reply.content
    return content


def restore(app: App, archive: bytes, **params: Any) -> Any:
    return app.admin("POST", "/v1/restore", content=archive, params=params)


def restored(app: App, archive: bytes, **params: Any) -> dict[str, Any]:
    reply = restore(app, archive, **params)
    assert reply.status_code == 200, reply.text
    told: dict[str, Any] = reply.json()
    return told


def table_rows(app: App) -> dict[str, Counter[str]]:
    """Every row of every table; marks move by themselves."""
    # What nobody waits for, such as the log of retrieves, is committed before a later write.
    app.server.services.store.write(lambda tx: None)
    engine = create_engine(database_url(app.server.settings).replace("sql://", "sql+psycopg://"))
    try:
        with engine.connect() as connection:
            return {
                table.name: Counter(repr(tuple(row)) for row in connection.execute(select(table)))
                for table in metadata.sorted_tables
                if table.name != "mark"
            }
    finally:
        engine.dispose()


def members(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        return {info.name: tar.extractfile(info).read() for info in tar}  # type: ignore[union-attr]


def rows_of(archive: bytes, table: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for name, content in members(archive).items()
        if name.startswith(f"{table}/")
        for line in content.splitlines()
    ]


def packed_again(files: dict[str, bytes]) -> bytes:
    """An archive of other content, its manifest included, as a forger would make it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def seen(app: App, key: Any = None) -> dict[str, Any]:
    caller = key or app.admin
    return {
        "memories": caller.rows("/v1/memories", namespace=f"{NS}/**"),
        "runs": caller.rows("/v1/trajectories", namespace=NS),
        "changes": caller.rows("/v1/changes", namespace=NS),
        "keys": caller.rows("/v1/keys"),
        "found": [
            [
                (hit["id"], hit["score"])
                for hit in caller.post("/v1/retrieve", {"namespace": NS, "query": text})["items"]
            ]
            for text in TEXTS
        ],
    }


def ids_in(app: App) -> set[str]:
    return {row["id"] for row in app.admin.rows("/v1/memories", namespace=NS)}


def as_known_to(app: App, other: App) -> Caller:
    """The first server's system key, used on the second."""
    return Caller(other.admin.http, app.admin.key)
