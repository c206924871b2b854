"""What a session comes to, in few words: its ledger, report and verified evidence, and those of
its sentences that say what the others are about. No model is needed; one may word it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memserver.domain.sessions.events import Message
from memserver.domain.sessions.state import State
from memserver.services.asking import Asking
from memserver.services.sessions.central import central
from memserver.services.sessions.fitting import Count, Part, fit
from memserver.services.sessions.rendering import render, standing
from memserver.services.writing.sentences import sentences

BY_RULES = "rules"
MOST_SENTENCES = 400
"""The last of them are looked at: how alike they are takes the square of their number."""
LONGEST_SENTENCE = 600
READ_PER_WORD_SAID = 10
"""Tokens of the session that a model reads for each that it may say, up to a bound."""
MOST_READ = 6_000

SYSTEM = """You sum up one session of an agent, for whoever goes on with its work later. Say what
was wanted, what was found out and decided, how it ended, what is still open, with the names,
numbers and dates that matter. Say nothing that the session does not say. Write at most {budget}
tokens."""


@dataclass(frozen=True, slots=True)
class Summed:
    """`by` is `rules`, or the model that worded it."""

    text: str
    by: str = BY_RULES


class Worded(BaseModel):
    model_config = ConfigDict(extra="forbid")

    summary: str


class SummingUp:
    """`count` is the server's token counter. Without `asking`, or where it has no answer that
    fits, the sentences of the session stand for themselves."""

    def __init__(self, *, count: Count, asking: Asking | None = None) -> None:
        self._count = count
        self._asking = asking

    def summed(
        self, tenant: UUID, state: State, messages: Sequence[Message], *, budget: int
    ) -> Summed | None:
        """Not over the budget; None where there is nothing to sum up. Asks the model, where there
        is one: not to be used inside a transaction."""
        extracted = self.extracted(state, messages, budget=budget)
        if extracted is None or self._asking is None:
            return extracted
        enough = min(MOST_READ, budget * READ_PER_WORD_SAID)
        worded = self._asking.ask(
            tenant,
            SYSTEM.format(budget=budget),
            f"{extracted.text}\n\n{render(state, budget=enough, count=self._count).text}",
            Worded,
            max_tokens=budget + 50,
        )
        text = "" if worded is None else worded.summary.strip()
        if not text or self._count(text) > budget:
            return extracted
        return Summed(text, self._asking.model)

    def extracted(self, state: State, messages: Sequence[Message], *, budget: int) -> Summed | None:
        """The same by rules alone."""
        parts = [part for part in standing(state) if part.name != "rules"]
        left = budget - fit(parts, budget=budget, count=self._count).tokens
        said = Part("sentences", "Said:", self._said(messages, left))
        fitted = fit([*parts, said], budget=budget, count=self._count)
        return Summed(fitted.text) if fitted.text else None

    def _said(self, messages: Sequence[Message], room: int) -> tuple[str, ...]:
        """The most central sentences that fit, in the order in which they were said."""
        lines = [
            (f"{message.speaker}: {sentence.text}", sentence.text)
            for message in messages
            for sentence in sentences(message.text)
            if len(sentence.text) <= LONGEST_SENTENCE
        ][-MOST_SENTENCES:]
        chosen = []
        left = room - self._count("Said:\n\n")
        for place in central([text for _, text in lines]):
            tokens = self._count(lines[place][0] + "\n")
            if tokens <= left:
                chosen.append(place)
                left -= tokens
        return tuple(lines[place][0] for place in sorted(chosen))
