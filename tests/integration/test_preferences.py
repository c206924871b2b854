"""Preferences over HTTP: learnt from edits once each, handed out for near contexts only."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from memserver.storage.encoders import SentenceTransformerEncoder
from tests.integration.conftest import App, Caller, start_app

LONG = (
    "We would like to let you know that the release has been delayed by one week, because the "
    "tests of the new search were not finished in time and we do not ship what is not tested."
)
SHORT = "The release is a week late: the tests of the new search were not finished."
EMAIL = "email to the team about the release"


def namespace() -> str:
    return f"prefs-{uuid4().hex[:12]}"


def edit(caller: Caller, where: str, before: str = LONG, after: str = SHORT, **more: Any) -> Any:
    body = {"namespace": where, "context": EMAIL, "before": before, "after": after, **more}
    return caller.post("/v1/preferences/edits", body)


def wanted(caller: Caller, where: str, context: str = EMAIL, **more: Any) -> list[str]:
    body = {"namespace": where, "context": context, **more}
    found = caller.post("/v1/preferences/for", body)["preferences"]
    return [one["statement"] for one in found]


def items(caller: Caller, where: str) -> list[Any]:
    return caller.rows("/v1/memories", namespace=where, kind="preference")


def test_a_repeated_edit_is_one_preference_whose_evidence_grows(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()

    first = edit(caller, where)
    again = [edit(caller, where) for _ in range(2)]

    assert [one["repeated"] for one in first["preferences"]] == [False]
    assert [one["repeated"] for reply in again for one in reply["preferences"]] == [True, True]
    (kept,) = items(caller, where)
    assert kept["id"] == first["preferences"][0]["id"]
    assert kept["version"]["belief"]["outcomes"] == 2
    assert kept["version"]["belief"]["mean"] > 0.5


def test_edits_sent_at_the_same_time_make_one_preference(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: edit(caller, where), range(8)))

    assert len(items(caller, where)) == 1


def test_what_it_says_names_its_context_and_nothing_of_the_texts(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()

    edit(caller, where)

    (kept,) = items(caller, where)
    assert kept["title"] == "Keep it short."
    assert EMAIL in kept["version"]["text"]
    assert "tests of the new search" not in str(kept)


def test_the_contrary_lowers_what_was_known_and_the_majority_has_it(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    shorter = edit(caller, where)["preferences"][0]["id"]
    edit(caller, where)

    longer = edit(caller, where, before=SHORT, after=LONG)["preferences"][0]
    still = wanted(caller, where)
    edit(caller, where, before=SHORT, after=LONG)
    edit(caller, where, before=SHORT, after=LONG)

    assert longer["wants"] == "longer"
    assert longer["against"] == [shorter]
    assert still == []
    assert wanted(caller, where) == ["Go into more detail."]
    belief = caller.get(f"/v1/memories/{shorter}")["version"]["belief"]
    assert belief["mean"] < 0.5


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The train is late.", "The  train is late.\n"),
        ("The train is late.", "The train is late!"),
        ("The trian is late today.", "The train is late today."),
        ("The train is late.", "The train is late."),
        ("The train is late.", ""),
    ],
)
def test_trifles_teach_nothing(shared_app: App, before: str, after: str) -> None:
    caller, where = shared_app.admin, namespace()

    reply = edit(caller, where, before=before, after=after)

    assert reply["preferences"] == []
    assert reply["change_id"] is None
    assert items(caller, where) == []


def test_a_lone_change_of_words_counts_from_the_second_time(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    before, after = "Please see the ticket about the login", "Please see the issue about the login"

    edit(caller, where, before=before, after=after)
    once = wanted(caller, where)
    edit(caller, where, before=before, after=after)

    assert once == []
    assert wanted(caller, where) == ["Write “issue” and not “ticket”."]


def test_one_persons_preferences_are_not_anothers(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    edit(caller, where, subject="ann")
    edit(caller, where, before=SHORT, after=LONG, subject="bob")

    assert wanted(caller, where, subject="ann") == ["Keep it short."]
    assert wanted(caller, where, subject="bob") == ["Go into more detail."]
    assert wanted(caller, where) == []


def test_what_is_about_nobody_in_particular_holds_for_everybody(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    edit(caller, where)

    assert wanted(caller, where, subject="ann") == ["Keep it short."]


def test_neither_namespaces_nor_tenants_see_each_others(shared_app: App) -> None:
    where, beside = namespace(), namespace()
    caller = shared_app.admin
    stranger = caller.with_key("admin", "**", tenant=f"t-{uuid4().hex[:8]}")
    reader = caller.with_key("reader", where)
    edit(caller, where)

    assert wanted(caller, beside) == []
    assert wanted(stranger, where) == []
    assert wanted(reader, where) == ["Keep it short."]
    body = {"namespace": where, "context": EMAIL, "before": LONG, "after": SHORT}
    assert reader("POST", "/v1/preferences/edits", json=body).status_code == 403
    asked = {"namespace": beside, "context": EMAIL}
    assert reader("POST", "/v1/preferences/for", json=asked).status_code == 403


def test_undo_takes_back_what_an_edit_taught(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    first = edit(caller, where)
    second = edit(caller, where)

    caller.post(f"/v1/changes/{second['change_id']}/undo", {})
    (kept,) = items(caller, where)
    assert kept["version"]["belief"]["outcomes"] == 0

    caller.post(f"/v1/changes/{first['change_id']}/undo", {})
    assert items(caller, where) == []
    assert wanted(caller, where) == []


def test_what_was_deleted_is_learnt_again_by_the_same_edit(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    item = edit(caller, where)["preferences"][0]["id"]
    caller.delete(f"/v1/memories/{item}")
    assert wanted(caller, where) == []

    edit(caller, where)

    assert wanted(caller, where) == ["Keep it short."]


def test_an_edit_is_learnt_once_a_key(shared_app: App) -> None:
    caller, where = shared_app.admin, namespace()
    body = {"namespace": where, "context": EMAIL, "before": LONG, "after": SHORT}
    headers = {"Idempotency-Key": uuid4().hex}

    first = caller.post("/v1/preferences/edits", body, headers=headers)
    second = caller.post("/v1/preferences/edits", body, headers=headers)

    assert first == second
    assert items(caller, where)[0]["version"]["belief"]["outcomes"] == 0


@pytest.mark.slow
def test_the_real_encoder_keeps_to_near_contexts(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        encoder = SentenceTransformerEncoder(threads=1)
        app = start_app(stack, tmp_path_factory.mktemp("real") / "data", encoder=encoder)
        caller, where = app.admin, namespace()
        edit(caller, where)
        edit(caller, where, context="email to my team about the delayed release")
        edit(
            caller,
            where,
            before="The poem was finished 🎉 and it is about spring in the old town.",
            after="The poem was finished and it is about spring in the old town.",
            context="birthday poem for grandma",
        )

        assert len(items(caller, where)) == 2
        assert wanted(caller, where, "email to the team about a new release") == ["Keep it short."]
        assert wanted(caller, where, "a poem for grandma's birthday") == ["Leave out emoji."]
        assert wanted(caller, where, "summary of a research paper") == []
        assert wanted(caller, where, "release notes in the change log, for machines") == []
