"""A chat model: words in, words out. No service needs one; where one is configured, services
reach it through `services/asking.py`, which holds it to a form and a budget."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said, as it said it, and what that took: the tokens of question and answer
    together. `cut` says that the answer ended at its limit and not where the model would have."""

    text: str
    tokens: int
    cut: bool = False


class ChatModel(Protocol):
    """Safe for use by many threads. Keeps nothing of what it is asked."""

    @property
    def name(self) -> str:
        """The model's name, as users know it."""

    def complete(self, system: str, user: str, *, max_tokens: int) -> Completion:
        """One answer of at most `max_tokens`. Raises `ChatFailed` where there is none; its
        `spent` says whether tokens may have been used all the same."""

    def most_tokens(self, text: str) -> int:
        """A bound on the tokens in `text` that is never too low: budgets are reserved by it."""

    def close(self) -> None: ...
