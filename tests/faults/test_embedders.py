"""Embedders: another one is noticed and refused before anything is emptied, and a rebuild with it
leaves nothing out and does nothing but embed."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memserver.app import opening, reindexing
from memserver.app.opening import open_parts
from memserver.app.settings import Settings, read_settings
from memserver.domain.errors import EncoderChanged
from memserver.domain.items import Kind
from memserver.services import indexing_projection
from memserver.services.retrieval.query import TRAJECTORY
from tests.fakes.encoder import HashEncoder
from tests.integration.conftest import App, Caller, start_app, wait_for

TENANTS = ("first", "second", "third")
BODIES: dict[Kind, dict[str, Any]] = {
    Kind.SKILL: {"when": "the lamp is off", "steps": [{"action": "switch on the lamp"}]},
    Kind.HINT: {"when": "the lamp flickers", "do": "tighten the bulb of the lamp"},
    Kind.RULE: {"text": "never touch a hot lamp"},
    Kind.FACT: {"entity": "lamp", "key": "color", "value": "green"},
    Kind.CASE: {"goal": "mend the lamp", "steps": ["open", "close"], "score": 1.0},
    Kind.PRINCIPLE: {"text": "a lamp needs power"},
    Kind.SUMMARY: {"text": "we spoke of the lamp"},
    Kind.PREFERENCE: {"text": "prefers a dim lamp"},
    Kind.NOTE: {"text": "the lamp stands in the hall"},
}
LONG = "lamp " + "and so on " * 400


@dataclass(frozen=True)
class Filled:
    """A data folder with a document of every kind in every tenant, and what was found of them."""

    data: Path
    keys: dict[str, str]
    system: str
    found: dict[str, list[tuple[str, str]]]
    kept: dict[str, Any]

    @property
    def documents(self) -> int:
        """What holds, and what held: past versions of what is there are indexed as well."""
        histories = [one for rows in self.kept.values() for one in rows["histories"].values()]
        past = sum(len(history["versions"]) - 1 for history in histories)
        return sum(len(hits) for hits in self.found.values()) + past

    @property
    def settings(self) -> Settings:
        return read_settings(data=self.data)

    def callers(self, app: App) -> dict[str, Caller]:
        return {tenant: Caller(app.admin.http, key) for tenant, key in self.keys.items()}


def found(caller: Caller) -> list[tuple[str, str]]:
    kinds = [*Kind, TRAJECTORY]
    ask = {"namespace": "**", "query": "lamp", "k": 100, "kinds": kinds}
    return sorted((hit["kind"], hit["id"]) for hit in caller.post("/v1/retrieve", ask)["items"])


def kept(caller: Caller) -> Any:
    """All that must be the same before and after: nothing is distilled, written or taken again."""
    lists = ("memories", "trajectories", "changes")
    rows = {name: caller.rows(f"/v1/{name}", namespace="**") for name in lists}
    histories = {
        row["id"]: caller.get(f"/v1/memories/{row['id']}/history") for row in rows["memories"]
    }
    return {**rows, "operations": caller.rows("/v1/operations"), "histories": histories}


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    with ExitStack() as stack:
        app = start_app(stack, tmp_path / "data")
        callers = {name: app.admin.with_key("admin", "**", tenant=name) for name in TENANTS}
        for caller in callers.values():
            for kind, body in BODIES.items():
                route = "skills" if kind is Kind.SKILL else "memories"
                sent = {"namespace": f"of/{kind}", "body": body}
                caller.post(f"/v1/{route}", sent if route == "skills" else {**sent, "kind": kind})
            note = {"namespace": "of/long", "body": {"text": LONG}}
            newer = caller.post("/v1/memories", note)["id"]
            caller.post(f"/v1/memories/{newer}/versions", {"body": {"text": LONG + "lamp"}})
            gone = caller.post("/v1/memories", {"namespace": "of/note", "body": {"text": "lamp"}})
            caller.delete(f"/v1/memories/{gone['id']}")
            won = {"score": 1.0, "success": True}
            for n in range(3):
                task = {"goal": f"put lamp {n} on the desk", "type": "put"}
                steps = [{"action": f"take lamp {n}"}, {"action": f"put lamp {n} on desk 1"}]
                run = {"namespace": "runs", "task": task, "steps": steps, "outcome": won}
                caller.post("/v1/trajectories", run)
            wait_for(caller, caller.post("/v1/distill", {"namespace": "runs"}))
        assert app.server.first_key is not None
        return Filled(
            tmp_path / "data",
            {name: str(caller.key) for name, caller in callers.items()},
            app.server.first_key.secret,
            {name: found(caller) for name, caller in callers.items()},
            {name: kept(caller) for name, caller in callers.items()},
        )


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> HashEncoder:
    """What the settings name from now on: another model, with longer vectors."""
    encoder = HashEncoder(dimension=96, name="other")
    for module in (opening, reindexing):
        monkeypatch.setattr(module, "open_encoder", lambda _: encoder)
    return encoder


def whole(filled: Filled, app: App) -> Iterator[str]:
    """What differs from before, by tenant; nothing if all is well."""
    for tenant, caller in filled.callers(app).items():
        if found(caller) != filled.found[tenant]:
            yield f"{tenant} does not find all"
        if kept(caller) != filled.kept[tenant]:
            yield f"{tenant} has other rows"
    audit = app.audit()
    if (audit["missing"], audit["orphans"], audit["skipped"]) != (0, 0, 0):
        yield f"the index differs from SQL: {audit}"


def test_every_kind_of_document_is_among_those_tried_here(filled: Filled) -> None:
    assert set(BODIES) == set(Kind)
    for hits in filled.found.values():
        assert {kind for kind, _ in hits} == {*Kind, TRAJECTORY}


def test_another_encoder_is_refused_with_what_to_do_and_nothing_is_emptied(
    filled: Filled, other: HashEncoder
) -> None:
    for _ in range(2):
        with pytest.raises(EncoderChanged) as refused:
            open_parts(filled.settings)
    said = str(refused.value)
    assert "memserver reindex --offline" in said
    assert "restore the setting" in said
    assert HashEncoder().fingerprint in said
    assert other.fingerprint in said

    with ExitStack() as stack:
        app = start_app(stack, filled.data, key=filled.system)
        assert list(whole(filled, app)) == []


@pytest.mark.parametrize(
    ("dimension", "name"), [(96, "hash"), (64, "other"), (96, "other")], ids=str
)
def test_neither_another_model_nor_another_dimension_is_served(
    filled: Filled, dimension: int, name: str
) -> None:
    encoder = HashEncoder(dimension=dimension, name=name)
    with ExitStack() as stack, pytest.raises(EncoderChanged):
        start_app(stack, filled.data, key=filled.system, encoder=encoder)


def test_reindexing_offline_embeds_again_and_distils_nothing_again(
    filled: Filled, other: HashEncoder
) -> None:
    done = reindexing.reindex_offline(filled.settings)

    assert (done.documents, done.skipped) == (filled.documents, 0)
    assert done.encoder == other.fingerprint
    assert sum(len(texts) for texts in other.encoded) > 0
    other.encoded.clear()
    with ExitStack() as stack:
        app = start_app(stack, filled.data, key=filled.system, encoder=other)
        assert list(whole(filled, app)) == []
        assert other.encoded == [], "the vectors were kept"
    again = reindexing.reindex_offline(filled.settings)
    assert (again.documents, other.encoded) == (filled.documents, [])


def test_a_reindex_that_is_cut_off_leaves_nothing_out_when_it_is_done_again(
    filled: Filled, other: HashEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, whole_encode = itertools.count(), HashEncoder.encode

    def stop_at_the_second(encoder: HashEncoder, texts: Sequence[str]) -> Any:
        if next(calls) == 1:
            raise KeyboardInterrupt
        return whole_encode(encoder, texts)

    with monkeypatch.context() as patched:
        patched.setattr(indexing_projection, "ENCODED_TOGETHER", 4)
        patched.setattr(HashEncoder, "encode", stop_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            reindexing.reindex_offline(filled.settings)
    done = reindexing.reindex_offline(filled.settings)
    assert (done.documents, done.skipped) == (filled.documents, 0)
    with ExitStack() as stack:
        app = start_app(stack, filled.data, key=filled.system, encoder=other)
        assert list(whole(filled, app)) == []


def test_a_reindex_while_the_server_serves_leaves_nothing_out(filled: Filled) -> None:
    with ExitStack() as stack:
        app = start_app(stack, filled.data, key=filled.system)
        index = app.server.services.readiness._index
        lost = sorted(index.documents())[::2]
        index.delete_documents(lost)
        assert app.audit()["missing"] == len(lost)

        ended = wait_for(app.admin, app.admin.post("/v1/reindex"))

        assert (ended["state"], ended["report"]) == ("succeeded", {"documents": filled.documents})
        assert list(whole(filled, app)) == []
