"""HTTP as a load generator speaks it: one kept connection a client and nothing on top, since
what the client spends would be counted as the server's."""

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Reply:
    """`seconds` run from the first byte sent to the last byte received."""

    status: int
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One connection to one server, for one thread."""

    def __init__(self, url: str, key: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._headers = {"Authorization": f"Bearer {key}"}

    def get(self, path: str) -> Reply:
        return self._send("GET", path, b"", {})

    def post(self, path: str, body: Mapping[str, Any]) -> Reply:
        sent = json.dumps(body).encode()
        return self._send("POST", path, sent, {"Content-Type": "application/json"})

    def post_raw(self, path: str, body: bytes) -> Reply:
        return self._send("POST", path, body, {"Content-Type": "application/octet-stream"})

    def wait_until_searchable(self) -> None:
        """Returns when the index has followed all that is stored."""
        while self.get("/health/ready").json()["index"]["lag"] > 0:
            time.sleep(0.02)

    def close(self) -> None:
        self._connection.close()

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Reply:
        started = time.perf_counter()
        self._connection.request(method, path, body, {**self._headers, **headers})
        response = self._connection.getresponse()
        received = response.read()
        return Reply(response.status, received, time.perf_counter() - started)


class Refused(Exception):
    """The server did not do what the benchmark is about, so there is nothing to measure."""

    def __init__(self, what: str, reply: Reply) -> None:
        super().__init__(f"{what}: status {reply.status}, {reply.body[:300]!r}")
