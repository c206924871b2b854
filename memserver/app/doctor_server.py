"""A server that runs, as it answers: whether it works, and what it finds when it audits itself."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx

import memserver
from memserver.app.doctor_database import STOPS_WITHIN, STUCK_AFTER
from memserver.cli import Finding, Health
from memserver.domain.ports import Clock

WAITED_S = 10.0
AUDIT_S = 600.0
UNFINISHED = {"running": STUCK_AFTER, "pending": STUCK_AFTER, "cancelling": STOPS_WITHIN}


Connect = Callable[[str, str | None], httpx.Client]


def connect(url: str, api_key: str | None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {api_key.strip()}"} if api_key else {}
    return httpx.Client(base_url=url.strip(), headers=headers, timeout=WAITED_S)


def examine_server(
    http: httpx.Client, *, clock: Clock, operations_seen: bool = False
) -> Iterator[Finding]:
    """With an administrator's key it is asked to audit its index, and for its operations unless
    those were seen in its database."""
    try:
        yield from _answers(http, None if operations_seen else clock)
    except httpx.HTTPError as error:
        says = f"No answer from {http.base_url} ({type(error).__name__})."
        yield Finding("server", Health.PROBLEM, says, "Start it, or set MEMSERVER_URL.")
    except (ValueError, KeyError, TypeError):
        says = f"{http.base_url} answers something that is no memserver reply."
        yield Finding("server", Health.PROBLEM, says, "Set MEMSERVER_URL.")


def _answers(http: httpx.Client, clock: Clock | None) -> Iterator[Finding]:
    told = http.get("/health/ready").json()
    yield _works(told)
    yield _same_version(told["version"])
    yield _decisions(told["decisions_dropped"])
    if "Authorization" not in http.headers:
        says = "No key was given, so neither operations nor the index were looked at closely."
        yield Finding("your key", Health.WARNING, says, "Set MEMSERVER_API_KEY to an admin's key.")
        yield _index(told["index"])
        return
    http.timeout = httpx.Timeout(WAITED_S, read=AUDIT_S)
    asked = http.get("/health/ready", params={"audit": True})
    yield _key(asked.status_code)
    audited = asked.status_code in (200, 503) and "index" in asked.json()
    yield _index(asked.json()["index"] if audited else told["index"])
    if audited and clock is not None:
        yield _operations(http, clock)


def _works(told: dict[str, Any]) -> Finding:
    if told["ready"]:
        return Finding("server", Health.OK, "It is ready.")
    if told["stopped"]:
        says = f"These of its parts have died: {', '.join(told['stopped'])}."
        return Finding("server", Health.PROBLEM, says, "Restart it; its log says why.")
    says = f"It is not ready: {told['index']['problem']}"
    return Finding("server", Health.PROBLEM, says, "Wait where it is being rebuilt; see its log.")


def _same_version(version: str) -> Finding:
    if version == memserver.__version__:
        return Finding("server version", Health.OK, f"{version}, as here.")
    says = f"The server's is {version}, this program's {memserver.__version__}."
    return Finding("server version", Health.WARNING, says, "Install the same.")


def _decisions(dropped: int) -> Finding:
    if not dropped:
        return Finding("decisions", Health.OK, "Every one was logged since the start.")
    says = f"{dropped} were not logged since the start: its queue of writes was full, or failed."
    return Finding("decisions", Health.WARNING, says, "See its log; a faster disk helps.")


def _key(status: int) -> Finding:
    if status == 401:
        says = "The key that was given is unknown or revoked."
        return Finding("your key", Health.PROBLEM, says, "Set MEMSERVER_API_KEY to another.")
    if status == 403:
        says = "The key that was given may not administer, so the index was not audited."
        return Finding("your key", Health.WARNING, says, "Set MEMSERVER_API_KEY to an admin's key.")
    return Finding("your key", Health.OK, "The key that was given can administer.")


def _index(told: dict[str, Any]) -> Finding:
    missing, orphans = told["missing"], told["orphans"]
    if told["skipped"]:
        says = f"{told['skipped']} documents cannot be indexed."
        return Finding("index", Health.WARNING, says, "The server's log names them.")
    if missing or orphans:
        says = f"{missing} documents are missing, {orphans} should be gone."
        if told["lag"]:
            helps = f"It is {told['lag']} changes behind; look again when it has caught up."
            return Finding("index", Health.WARNING, says, helps)
        return Finding("index", Health.PROBLEM, says, "memserver reindex")
    if told["lag"]:
        return Finding("index", Health.WARNING, f"It is {told['lag']} changes behind.", "Wait.")
    if missing is None:
        return Finding("index", Health.OK, "It follows; it was not compared with the database.")
    return Finding("index", Health.OK, "It holds what the database says, and nothing else.")


def _operations(http: httpx.Client, clock: Clock) -> Finding:
    """Those of the key's tenant."""
    stuck: list[str] = []
    under_way = 0
    for state, patience in UNFINISHED.items():
        for row in http.get("/v1/operations", params={"state": state, "limit": 100}).json()["rows"]:
            under_way += 1
            if _age(row, clock) > patience:
                stuck.append(f"{row['verb']} {row['id']} ({state})")
    if stuck:
        says = f"{', '.join(stuck[:3])} came no further for long."
        helps = "memserver operations show ID says where; cancel and retry it, or restart."
        return Finding("operations", Health.PROBLEM, says, helps)
    return Finding("operations", Health.OK, f"{under_way} under way, none of them stuck.")


def _age(row: dict[str, Any], clock: Clock) -> timedelta:
    return clock() - datetime.fromisoformat(row["updated_at"])
