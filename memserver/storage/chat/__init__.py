"""Chat models: an endpoint, or one in this process."""

from memserver.storage.chat.local_model import LocalChatModel
from memserver.storage.chat.openai_compatible import OpenAICompatibleChat

__all__ = ["LocalChatModel", "OpenAICompatibleChat"]
