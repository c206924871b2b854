"""Answers from any endpoint that speaks OpenAI's chat completions."""

import json
import random
import time
from collections.abc import Callable
from typing import Any

import httpx

from memserver.domain.errors import ChatFailed
from memserver.domain.ports.chat import Completion

TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
TEMPLATE_TOKENS = 32
"""What a model's template puts around one text, with room to spare."""
LARGEST_REPLY = 4 * 1024 * 1024
# Before these, the endpoint can have done nothing for the request.
NOT_REACHED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class OpenAICompatibleChat:
    """`POST {url}/chat/completions`, without streaming, at temperature 0.

    A full or failing server is tried `tries` times in all, after growing pauses of `pause_s` and
    up, or what `Retry-After` asks for; all of it takes `patience_s` at most. A request that the
    endpoint may have worked on is not sent again: its tokens were reserved once. `http` is owned
    by the model from then on.
    """

    def __init__(
        self,
        http: httpx.Client,
        *,
        model: str,
        url: str = "",
        tries: int = 3,
        pause_s: float = 0.5,
        patience_s: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        spread: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = http
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._model = model
        self._tries = tries
        self._pause_s = pause_s
        self._patience_s = patience_s
        self._sleep = sleep
        self._spread = spread
        self._clock = clock
        self._limit = "max_tokens"
        self._temperature: dict[str, float] = {"temperature": 0}

    @property
    def name(self) -> str:
        return self._model

    def complete(self, system: str, user: str, *, max_tokens: int) -> Completion:
        deadline = self._clock() + self._patience_s
        for attempt in range(1, self._tries + 1):
            try:
                status, wait, data = self._request(system, user, max_tokens, deadline)
            except NOT_REACHED as error:
                problem, wait = type(error).__name__, 0.0
            except httpx.TransportError as error:
                raise ChatFailed(type(error).__name__, spent=True) from None
            else:
                if 200 <= status < 300:
                    return self._completion(data, system, user)
                problem = f"status {status}"
                if not (status in TRY_AGAIN or (status == 400 and self._adapted(data))):
                    break
            wait = max(wait, self._pause_s * 2 ** (attempt - 1) * (1 + self._spread()))
            if attempt == self._tries or self._clock() + wait >= deadline:
                break
            self._sleep(wait)
        raise ChatFailed(problem)

    def most_tokens(self, text: str) -> int:
        """Tokenizers of today make no more tokens than a text has bytes."""
        return len(text.encode()) + TEMPLATE_TOKENS

    def close(self) -> None:
        self._http.close()

    def _request(
        self, system: str, user: str, max_tokens: int, deadline: float
    ) -> tuple[int, float, bytes]:
        """Status, seconds to wait, and body. Read piece by piece, since an endpoint that sends a
        byte now and then would never meet a timeout."""
        body = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "stream": False,
            self._limit: max_tokens,
            **self._temperature,
        }
        read = bytearray()
        with self._http.stream("POST", self._url, json=body) as reply:
            for piece in reply.iter_bytes():
                read += piece
                if len(read) > LARGEST_REPLY:
                    raise ChatFailed("its reply does not end", spent=True)
                if self._clock() > deadline:
                    raise ChatFailed("its reply takes too long", spent=True)
            return reply.status_code, _retry_after(reply), bytes(read)

    def _adapted(self, refusal: bytes) -> bool:
        """Some models take the limit under another name, or no temperature; they say so."""
        if self._limit == "max_tokens" and b"max_completion_tokens" in refusal:
            self._limit = "max_completion_tokens"
            return True
        if self._temperature and b"temperature" in refusal:
            self._temperature = {}
            return True
        return False

    def _completion(self, data: bytes, system: str, user: str) -> Completion:
        try:
            body: Any = json.loads(data)
            choice = body["choices"][0]
            text = _text(choice["message"]["content"])
            usage = body.get("usage")
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise ChatFailed("its reply has not the shape of the API", spent=True) from None
        total = usage.get("total_tokens") if isinstance(usage, dict) else None
        if not isinstance(total, int) or total <= 0:
            total = sum(self.most_tokens(part) for part in (system, user, text))
        return Completion(text, total, cut=choice.get("finish_reason") == "length")


def _text(content: Any) -> str:
    """Nothing is said where the model refuses; some endpoints give the text in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _retry_after(reply: httpx.Response) -> float:
    """Seconds that the server asks to wait; it may also name a date, which is not worth waiting
    for here."""
    said = reply.headers.get("Retry-After", "")
    return float(said) if said.isascii() and said.isdigit() else 0.0
