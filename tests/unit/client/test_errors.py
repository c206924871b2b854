"""Which class a refusal becomes, and what it carries."""

import httpx
import pytest

import memserver_client as client


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", client.Unauthenticated),
        (403, "namespace_forbidden", client.Forbidden),
        (404, "item_not_found", client.NotFound),
        (409, "undo_conflict", client.Conflict),
        (400, "invalid_cursor", client.InvalidRequest),
        (422, "invalid_namespace", client.InvalidRequest),
        (413, "body_too_large", client.TooLarge),
        (418, "unheard_of", client.ApiError),
        (429, "busy", client.Unavailable),
        (500, "internal_error", client.ServerError),
        (503, "unavailable", client.Unavailable),
    ],
)
def test_a_refusal_keeps_the_servers_code_and_gets_the_class_of_its_status(
    server, connect, problem, status, code, kind
):
    server.answers = [problem(status, code, "Not like this.")]

    with pytest.raises(client.ApiError, match="Not like this") as caught:
        connect(retries=0).retrieve("q", namespace="a")

    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.detail) == (status, code, "Not like this.")
    assert error.problem.type == f"urn:memserver:{code}"
    assert isinstance(error, client.MemserverError)


def test_field_errors_are_part_of_the_message(server, memory, problem):
    fields = [{"where": "body.k", "what": "too large", "a_newer_servers": "field"}]
    server.answers = [problem(422, "invalid_request", errors=fields)]

    with pytest.raises(client.InvalidRequest, match=r"body\.k: too large") as caught:
        memory.retrieve("q", namespace="a")
    assert caught.value.problem.errors[0].where == "body.k"


def test_a_proxys_page_becomes_an_error_of_its_status(server, connect):
    server.answers = [httpx.Response(502, text="<h1>Bad gateway</h1>")]

    with pytest.raises(client.ServerError, match="502 Bad Gateway") as caught:
        connect(retries=0).retrieve("q", namespace="a")
    assert caught.value.code == "http_502"


def test_an_unreadable_reply_names_the_field(server, memory):
    server.answers = [httpx.Response(200, json={"retrieval_id": "no-uuid"})]

    with pytest.raises(client.UnexpectedReply, match="retrieval_id"):
        memory.retrieve("q", namespace="a")


def test_the_url_and_the_key_come_from_the_environment(server, make, monkeypatch):
    monkeypatch.setenv("MEMSERVER_URL", "http://elsewhere.test/base")
    monkeypatch.setenv("MEMSERVER_API_KEY", "from-a-file\n")
    server.answers = [httpx.Response(200, json={"rows": []})]

    assert list(make(transport=httpx.MockTransport(server)).namespaces()) == []

    (request,) = server.requests
    assert request.url == "http://elsewhere.test/base/v1/namespaces"
    assert request.headers["Authorization"] == "Bearer from-a-file"


@pytest.mark.parametrize("missing", ["MEMSERVER_URL", "MEMSERVER_API_KEY"])
def test_a_missing_setting_is_named(make, monkeypatch, missing):
    monkeypatch.setenv("MEMSERVER_URL", "http://memory.test")
    monkeypatch.setenv("MEMSERVER_API_KEY", "k")
    monkeypatch.delenv(missing)

    with pytest.raises(client.NotConfigured, match=missing):
        make()


def test_an_empty_key_is_missing(make, monkeypatch):
    monkeypatch.delenv("MEMSERVER_API_KEY", raising=False)
    with pytest.raises(client.NotConfigured, match="api_key="):
        make("http://memory.test", "")


def test_the_key_is_not_in_the_repr(make):
    with make("http://memory.test", "s3cret") as memory:
        assert "s3cret" not in repr(memory)
        assert "memory.test" in repr(memory)


def test_every_error_of_the_tree_is_exported():
    from memserver_client import _errors

    named = {
        name
        for name, value in vars(_errors).items()
        if isinstance(value, type) and issubclass(value, client.MemserverError)
    }
    assert named <= set(client.__all__)
