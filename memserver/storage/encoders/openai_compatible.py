"""Dense vectors from any endpoint that speaks OpenAI's embeddings API."""

import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

from memserver.domain.errors import Invalid, Unavailable
from memserver.storage.encoders.windowing import Token, cut

Vector = npt.NDArray[np.float32]

# Words and single marks; a long word counts as several, since models split it.
PIECE = re.compile(r"\w{1,8}|[^\w\s]")
COUNTER = "pieces of 8 letters"
TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
# What the text itself can be to blame for; all else is about the endpoint or its settings.
ABOUT_THE_TEXT = frozenset({400, 413, 422})


class EndpointFailed(Unavailable):
    code = "encoder_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The embedding endpoint gives no vectors: {reason}.")


class TextRefused(Invalid):
    code = "text_refused"

    def __init__(self, status: int) -> None:
        super().__init__(f"The embedding endpoint refuses this text with status {status}.")


class OpenAICompatibleEncoder:
    """`POST {url}/embeddings` with at most `batch` texts at a time. The dimension is probed by a
    first request, so the endpoint must answer when the server starts.

    A request that times out or meets a full or failing server is tried `tries` times in all,
    after growing pauses of `pause_s` and up, or what `Retry-After` asks for. `window` is the
    model's limit in tokens, which are estimated: the model's own tokenizer is not known here.
    `http` is owned by the encoder from then on.
    """

    def __init__(
        self,
        http: httpx.Client,
        *,
        model: str,
        url: str = "",
        batch: int = 64,
        tries: int = 4,
        pause_s: float = 0.5,
        window: int = 512,
        sleep: Callable[[float], None] = time.sleep,
        spread: Callable[[], float] = random.random,
    ) -> None:
        self._http = http
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._batch = batch
        self._tries = tries
        self._pause_s = pause_s
        self._window = window
        self._sleep = sleep
        self._spread = spread
        self._dimension: int | None = None
        self._dimension = len(self.encode_query("probe"))

    @property
    def fingerprint(self) -> str:
        """Weights cannot be seen from here: the model's name must stand for them."""
        return f"{self._model}@endpoint/{self._dimension}"

    @property
    def dimension(self) -> int:
        assert self._dimension is not None
        return self._dimension

    @property
    def counter(self) -> str:
        return COUNTER

    def encode(self, texts: Sequence[str]) -> Vector:
        rows = [
            row
            for start in range(0, len(texts), self._batch)
            for row in self._request(texts[start : start + self._batch])
        ]
        return np.array(rows, dtype=np.float32).reshape(len(texts), -1 if rows else self.dimension)

    def encode_query(self, text: str) -> Vector:
        row: Vector = self.encode_queries([text])[0]
        return row

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Several queries' vectors at once, shape [len(texts), dimension]; each is cut to the
        first window."""
        return self.encode([self.windows(text)[0] for text in texts])

    def count_tokens(self, text: str) -> int:
        return sum(1 for _ in PIECE.finditer(text))

    def windows(self, text: str) -> tuple[str, ...]:
        tokens = [Token(piece.start(), piece.end(), None) for piece in PIECE.finditer(text)]
        return cut(text, _with_words(tokens), limit=self._window, count=self.count_tokens)

    def close(self) -> None:
        self._http.close()

    def _request(self, texts: Sequence[str]) -> list[Vector]:
        # Endpoints refuse empty texts; a space has a vector like any other.
        body = {"model": self._model, "input": [text or " " for text in texts]}
        for attempt in range(1, self._tries + 1):
            try:
                reply = self._http.post(self._url, json=body)
            except httpx.TransportError as error:
                problem, wait = type(error).__name__, self._backoff(attempt)
            else:
                if reply.is_success:
                    return self._rows(reply, len(texts))
                if reply.status_code in ABOUT_THE_TEXT:
                    raise TextRefused(reply.status_code)
                problem = f"status {reply.status_code}"
                if reply.status_code not in TRY_AGAIN:
                    break
                wait = max(self._backoff(attempt), _retry_after(reply))
            if attempt < self._tries:
                self._sleep(wait)
        raise EndpointFailed(problem)

    def _backoff(self, attempt: int) -> float:
        return float(self._pause_s * 2 ** (attempt - 1) * (1 + self._spread()))

    def _rows(self, reply: httpx.Response, count: int) -> list[Vector]:
        """The vectors in the order of the texts, at unit length. A reply that does not fit the
        request is the endpoint's fault, never a text's."""
        try:
            data: list[Any] = sorted(reply.json()["data"], key=lambda one: one["index"])
            rows = [np.array(one["embedding"], dtype=np.float32) for one in data]
        except (ValueError, TypeError, LookupError):
            raise EndpointFailed("its reply has not the shape of the API") from None
        if len(rows) != count:
            raise EndpointFailed(f"it gave {len(rows)} vectors for {count} texts")
        return [self._unit(row) for row in rows]

    def _unit(self, row: Vector) -> Vector:
        if row.ndim != 1 or (self._dimension is not None and len(row) != self._dimension):
            raise EndpointFailed(f"a vector has the shape {row.shape}")
        norm = float(np.linalg.norm(row))
        if not np.isfinite(norm) or norm == 0.0:
            raise EndpointFailed("a vector is zero or not finite")
        scaled: Vector = (row / norm).astype(np.float32)
        return scaled


def _with_words(tokens: Sequence[Token]) -> list[Token]:
    """Pieces that touch belong to one word."""
    made: list[Token] = []
    word = 0
    for token in tokens:
        if made and made[-1].end != token.start:
            word += 1
        made.append(Token(token.start, token.end, word))
    return made


def _retry_after(reply: httpx.Response) -> float:
    """Seconds that the server asks to wait, at most a minute; it may also name a date, which is
    not worth waiting for here."""
    said = reply.headers.get("Retry-After", "")
    return min(60.0, float(said)) if said.isdigit() else 0.0
