"""A chat endpoint over real HTTP that answers by script, well and badly."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request is answered: a text as the API has it, or a `body` sent as it is."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    tokens: int | None = 40
    finish: str = "stop"
    body: bytes | None = None

    def data(self) -> bytes:
        if self.body is not None:
            return self.body
        said = {"role": "assistant", "content": self.text}
        whole: dict[str, Any] = {
            "choices": [{"index": 0, "message": said, "finish_reason": self.finish}]
        }
        if self.tokens is not None:
            whole["usage"] = {"total_tokens": self.tokens}
        return json.dumps(whole, ensure_ascii=False).encode()


Answer = Callable[[dict[str, Any]], Reply]


class ChatEndpoint:
    """`with ChatEndpoint(...) as endpoint`: its `url` is the API's root. Answers the next of the
    script, the last one again and again; a function is asked with the request's body. Notes every
    request, and with what key it came."""

    def __init__(self, *script: Reply | Answer) -> None:
        self.script = list(script)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = endpoint._next(self.path, body, self.headers.get("Authorization"))
                data = reply.data()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def questions(self) -> list[str]:
        """What users' parts of the requests said."""
        return [body["messages"][-1]["content"] for body in self.asked]

    def __enter__(self) -> "ChatEndpoint":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _next(self, path: str, body: dict[str, Any], key: str | None) -> Reply:
        if path != "/v1/chat/completions":
            return Reply(status=404)
        with self._lock:
            self.asked.append(body)
            self.keys.append(key)
            said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return said if isinstance(said, Reply) else said(body)
