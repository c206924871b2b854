"""The local model alone: what it refuses, and that its text is whole."""

import pytest

from memserver.domain.errors import ChatFailed
from memserver.storage.chat import LocalChatModel
from memserver.storage.chat.local_model import UnusableChatModel

pytestmark = pytest.mark.slow


def test_a_question_longer_than_it_reads_is_refused_and_costs_nothing(
    local: LocalChatModel,
) -> None:
    with pytest.raises(ChatFailed, match="8192 tokens") as refused:
        local.complete("Answer.", "word " * 9_000, max_tokens=5)

    assert not refused.value.spent


def test_it_is_named_by_its_file(local: LocalChatModel) -> None:
    assert local.name.endswith(".gguf")


def test_a_model_that_cannot_be_loaded_is_refused_by_name() -> None:
    with pytest.raises(UnusableChatModel, match="no/such-model"):
        LocalChatModel("/no/such-model")
