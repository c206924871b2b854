"""The write manager with a chat model, over real HTTP on both sides: it chooses among what the
rules admit, and is neither heard nor asked about the rest."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.fakes.chat_endpoint import Answer, ChatEndpoint, Reply
from tests.integration.conftest import App, start_app

KNOWN = "The bell at the north gate must be rung by whoever comes late."
PARAPHRASE = "Whoever comes late must ring the bell that is at the north gate."


class Desk:
    def __init__(self, app: App, endpoint: ChatEndpoint) -> None:
        self.app = app
        self.endpoint = endpoint
        self.namespace = f"n-{uuid4().hex[:12]}"

    def says(self, *script: Reply | Answer) -> None:
        self.endpoint.script = list(script)
        self.endpoint.asked.clear()

    def remember(self, **told: Any) -> list[Any]:
        body = {"namespace": self.namespace, **told}
        written: list[Any] = self.app.admin.post("/v1/remember", body)["written"]
        return written

    def memories(self) -> list[Any]:
        return self.app.admin.rows("/v1/memories", namespace=self.namespace)

    def mentions(self, version: str) -> int:
        services = self.app.server.services
        scope = services.access.authenticate(self.app.admin.key or "")
        with services.store.reading() as reader:
            beliefs = reader.beliefs(scope, [UUID(version)])[UUID(version)]
        return sum(belief.mentions for belief in beliefs)


def choosing(wanted: str) -> Answer:
    """A model that chooses the option that begins so, or one that was not offered."""

    def answer(body: dict[str, Any]) -> Reply:
        question = body["messages"][-1]["content"]
        found = re.search(rf"^(\d+)\. {wanted}", question, re.MULTILINE)
        return Reply(f'{{"option": {found.group(1) if found else 99}, "reason": "same"}}')

    return answer


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, ChatEndpoint]]:
    with ExitStack() as stack:
        endpoint = stack.enter_context(ChatEndpoint(Reply("")))
        data = tmp_path_factory.mktemp("judged") / "data"
        yield start_app(stack, data, chat_url=endpoint.url, chat_model="m"), endpoint


@pytest.fixture
def desk(shared: tuple[App, ChatEndpoint]) -> Desk:
    return Desk(*shared)


def test_a_model_says_that_a_paraphrase_is_known_and_it_counts_as_a_mention(desk: Desk) -> None:
    desk.says(choosing("NOOP, which says"))
    (first,) = desk.remember(text=KNOWN)

    (again,) = desk.remember(text=PARAPHRASE)

    assert (again["operation"], again["by"], again["reason"]) == ("NOOP", "model", "same")
    assert again["target"] == first["version"]
    assert f"NOOP, which says: {KNOWN}" in desk.endpoint.questions()[-1]
    [row] = desk.memories()
    assert row["version"]["body"]["text"] == KNOWN
    assert desk.mentions(row["version"]["id"]) == 1
    logged = desk.app.admin.get(f"/v1/decisions/{again['decision']}")
    assert logged["choice"]["by"] == "model"


@pytest.mark.parametrize(
    "said",
    [choosing("DELETE"), Reply("DELETE"), Reply("{}"), Reply(status=400), Reply('{"option": -1}')],
)
def test_a_judgement_that_was_not_offered_leaves_a_paraphrase_to_the_rules(
    desk: Desk, said: Reply | Answer
) -> None:
    desk.says(said)
    desk.remember(text=KNOWN)

    (again,) = desk.remember(text=PARAPHRASE)

    assert desk.endpoint.asked
    assert (again["operation"], again["by"]) == ("ADD", "rules")
    assert "DELETE" not in desk.endpoint.questions()[0]
    assert len(desk.memories()) == 2


@pytest.mark.parametrize("said", [choosing("DELETE"), Reply('{"option": 1}'), Reply("DELETE it")])
@pytest.mark.parametrize(
    "told",
    [
        {"text": KNOWN},
        {"facts": [{"entity": "Ana", "key": "office", "value": "B12"}]},
        {"text": "Ana's office is B12."},
    ],
)
def test_a_models_delete_of_what_is_said_again_is_not_followed_nor_asked_for(
    desk: Desk, told: dict[str, Any], said: Reply | Answer
) -> None:
    desk.says(said)
    (first,) = desk.remember(**told)

    (again,) = desk.remember(**told)

    assert (again["operation"], again["reason"], again["by"]) == ("NOOP", "restated", "rules")
    assert again["item"] == first["item"]
    assert desk.endpoint.asked == []
    [row] = desk.memories()
    assert (row["status"], row["version"]["valid_to"]) == ("active", None)


def test_a_model_that_is_down_is_asked_once_for_all_that_a_call_tells(desk: Desk) -> None:
    desk.says(Reply(status=400))
    known = [f"The lift in hall number {n} is loud." for n in range(5)]
    desk.remember(messages=[{"speaker": "Bo", "text": text} for text in known], keep_turns=False)
    desk.endpoint.asked.clear()

    written = desk.remember(
        messages=[
            {"speaker": "Bo", "text": text.replace("loud", "slow and loud")} for text in known
        ],
        keep_turns=False,
    )

    assert [one["operation"] for one in written] == ["ADD"] * 5
    assert len(desk.endpoint.asked) == 1
