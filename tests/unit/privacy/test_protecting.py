"""Placeholders in the place of secrets: in every part of a value, the same for the same value."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.items import FactBody
from memserver.domain.ports.privacy import Looking
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import OutcomeSource
from memserver.services.privacy.protecting import Protecting
from memserver.services.privacy.sealing import Sealing, UnusableSealingKey, sealing_of

KEY = "sk-proj-abc123DEF456ghi789"
ONE, OTHER = UUID(int=1), UUID(int=2)
SECRETS = Looking()


@dataclass(frozen=True)
class Said:
    words: str
    parts: tuple[Any, ...] = ()
    subject: str | None = None
    namespace: Namespace | None = None


class Secrets:
    """A store of what the server makes once."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def server_secret(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def put_server_secret(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    def write(self, work: Any) -> Any:
        return work(self)


def opened(sealing: Sealing | None = None, store: Any = None) -> Protecting:
    protecting = Protecting(sealing or Sealing())
    protecting.open(store or Secrets())
    return protecting


def protect(protecting: Protecting, value: Any, tenant: UUID = ONE) -> Any:
    return protecting.protect(value, tenant, SECRETS, {}).value


def test_every_text_of_a_value_is_protected_and_its_type_stays() -> None:
    value = Said(
        f"use {KEY}",
        (f"{KEY}", {"k": [KEY, 1, None, True]}, OutcomeSource.HUMAN, UUID(int=3), b"raw"),
        subject=KEY,
        namespace=Namespace(1, ONE, "sk-proj-abc123DEF456ghi789"),
    )
    done = protect(opened(), value)
    assert KEY not in repr((done.words, done.parts))
    assert isinstance(done, Said)
    assert done.parts[2:] == value.parts[2:]
    assert (done.subject, done.namespace) == (value.subject, value.namespace)


def test_a_value_without_secrets_is_the_very_same() -> None:
    value = Said("put the mug on the desk", ({"a": ["b"]},))
    assert protect(opened(), value) is value


def test_what_stands_under_a_secrets_name_is_one() -> None:
    done = protect(opened(), {"password": "hunter2", "api_key": "a8f3k2m9q1", "note": "hunter2"})
    assert done["password"].startswith("[SECRET:password:")
    assert done["api_key"].startswith("[SECRET:token:")
    assert done["note"] == "hunter2"
    fact = protect(opened(), FactBody("router", "wifi password", "tulip-77"))
    assert fact.value.startswith("[SECRET:password:")


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_same_secret_is_the_same_in_one_tenant_and_another_in_another(
    before: str, after: str
) -> None:
    protecting = opened()
    first = protect(protecting, f"{before} {KEY} {after}")
    assert protect(protecting, first) == first
    assert protect(protecting, f"{before} {KEY} {after}") == first
    assert protect(protecting, f"x {KEY}") != protect(protecting, f"x {KEY}", OTHER)


def test_originals_are_kept_encrypted_where_there_is_a_key() -> None:
    protecting = opened(sealing_of(Fernet.generate_key().decode()))
    done = protecting.protect(f"use {KEY}", ONE, SECRETS, {})
    [original] = done.originals
    assert KEY.encode() not in original.data
    assert protecting.original(original.data) == KEY
    assert opened().protect(f"use {KEY}", ONE, SECRETS, {}).originals == ()


def test_a_sealing_key_that_comes_later_leaves_placeholders_as_they_are() -> None:
    store = Secrets()
    before = protect(opened(store=store), KEY)
    sealing = sealing_of(Fernet.generate_key().decode())
    assert protect(opened(sealing, store), KEY) == before
    with pytest.raises(UnusableSealingKey):
        opened(store=store)


def test_what_is_no_key_is_refused_and_not_told() -> None:
    with pytest.raises(UnusableSealingKey) as refused:
        sealing_of("swordfish")
    assert "swordfish" not in str(refused.value)
