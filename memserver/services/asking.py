"""Asking a chat model: the answer has the form that was wanted, or there is none."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from memserver.domain.errors import ChatFailed
from memserver.domain.ports.chat import ChatModel, Completion
from memserver.domain.ports.meter import UNMETERED, Meter, ModelOutcome
from memserver.services.model_budget import ModelBudget

T = TypeVar("T", bound=BaseModel)

FORM = """Answer with one JSON object and nothing else: no fence, no comment. It has this schema:
{schema}
Leave every text in the language and script that it is in; translate nothing."""
AGAIN = """{user}

Your last answer to this could not be used: {fault}. Answer again with the JSON object
alone{how}."""
NO_TEXT = re.compile("[\x00\ud800-\udfff]")
ANSWER_TOKENS = 512
LONGEST_FAULT = 300


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """`value` is None where the model gave nothing that can be used; `outcome` then says why,
    in words for a reader."""

    value: T | None
    outcome: ModelOutcome


class Asking:
    """At most two calls a question: one, and one to repair what the first did not get right. Every
    call is paid from the tenant's budget before it is made. Must not be used inside a
    transaction: a model takes seconds."""

    def __init__(self, model: ChatModel, budget: ModelBudget, *, meter: Meter = UNMETERED) -> None:
        self._model = model
        self._budget = budget
        self._meter = meter

    @property
    def model(self) -> str:
        return self._model.name

    def ask(
        self,
        tenant: UUID,
        system: str,
        user: str,
        schema: type[T],
        *,
        max_tokens: int = ANSWER_TOKENS,
    ) -> T | None:
        """What the model answers, as `schema` has it. None where it gives nothing that can be used
        or the day's budget is spent: whoever asks goes on by rules."""
        return self.asked(tenant, system, user, schema, max_tokens=max_tokens).value

    def asked(
        self,
        tenant: UUID,
        system: str,
        user: str,
        schema: type[T],
        *,
        max_tokens: int = ANSWER_TOKENS,
    ) -> Asked[T]:
        """The same with the reason where there is no answer."""
        answer = self._asked(tenant, system, user, schema, max_tokens=max_tokens)
        self._meter.asked(answer.outcome)
        return answer

    def _asked(
        self, tenant: UUID, system: str, user: str, schema: type[T], *, max_tokens: int
    ) -> Asked[T]:
        told = f"{system}\n\n{FORM.format(schema=_compact(schema.model_json_schema()))}"
        question = user
        for outcome in ("answered", "repaired"):
            reply = self._completion(tenant, told, question, max_tokens=max_tokens)
            if isinstance(reply, str):
                return Asked(None, reply)
            try:
                return Asked(fitted(reply.text, schema), outcome)
            except Unfit as error:
                question = _again(user, str(error), cut=reply.cut)
        return Asked(None, "unfit")

    def _completion(
        self, tenant: UUID, system: str, user: str, *, max_tokens: int
    ) -> Completion | ModelOutcome:
        most = self._model.most_tokens(system) + self._model.most_tokens(user) + max_tokens
        reserved = self._budget.reserve(tenant, most)
        if reserved is None:
            return "budget spent"
        try:
            reply = self._model.complete(system, user, max_tokens=max_tokens)
        except ChatFailed as error:
            self._budget.settle(reserved, spent=most if error.spent else 0)
            return "unavailable"
        self._budget.settle(reserved, spent=reply.tokens)
        return reply


class Unfit(ValueError):
    """An answer that has not the form, with the reason in words that a model can act on."""


def fitted(text: str, schema: type[T]) -> T:
    """The first JSON object in `text` that fits, whatever stands before, around or after it.
    Raises `Unfit`."""
    fault = "it was empty" if not text.strip() else "it held no complete JSON object"
    for found in _objects(_spoken(text)):
        try:
            value = schema.model_validate(found)
        except ValidationError as error:
            fault = _fault(error)
            continue
        if _storable(value.model_dump()):
            return value
        fault = "a text in it held NUL or half a surrogate pair"
    raise Unfit(fault)


def _spoken(text: str) -> str:
    """Without what a reasoning model thought aloud first."""
    return text.rpartition("</think>")[2]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that stand in a text one after another; what is inside one is not seen
    again."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _storable(value: Any) -> bool:
    """NUL and half a surrogate pair are JSON, and no text to a database."""
    match value:
        case str():
            return NO_TEXT.search(value) is None
        case dict():
            return all(_storable(one) for one in value.values())
        case list() | tuple() | set() | frozenset():
            return all(_storable(one) for one in value)
    return True


def _fault(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where or 'the object'}: {first['msg']}"


def _again(user: str, fault: str, *, cut: bool) -> str:
    how = ", and shorter: the last one was cut off" if cut else ""
    return AGAIN.format(user=user, fault=fault[:LONGEST_FAULT].rstrip("."), how=how)


def _compact(schema: dict[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
