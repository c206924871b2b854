"""A memserver process that is killed and started again, and requests that outlive it."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

STARTS_WITHIN = 180.0
ANSWERS_WITHIN = 180.0
PASSING = frozenset({429, 502, 503, 504})


class ServerProcess:
    """`command` is what `serve --data … --port 0 --json` is appended to."""

    def __init__(self, command: Sequence[str], data: Path) -> None:
        self._command = [*command, "serve", "--data", str(data), "--port", "0", "--json"]
        self._log = data.with_name(data.name + ".log")
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self.url = ""
        self.key = ""

    def spawn(self) -> None:
        """Starts the process; it is not ready yet."""
        self._lines = queue.Queue()
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=log, text=True
            )
        threading.Thread(target=_pass_on, args=(self._process, self._lines), daemon=True).start()

    def ready(self) -> None:
        """Returns once the server has said where it listens."""
        deadline = time.monotonic() + STARTS_WITHIN
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"the server did not get ready; see {self._log}") from None
            if not line:
                raise RuntimeError(f"the server ended at its start:\n{self._tail()}")
            if line.startswith("{"):
                said = json.loads(line)
                self.url = said["url"].rstrip("/")
                self.key = said.get("admin_key") or self.key
                return

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, closed or said goodbye to."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """SIGTERM, and waits until everything is flushed and closed."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def _tail(self) -> str:
        return "\n".join(self._log.read_text().splitlines()[-30:])


class Caller:
    """Sends a request again and again, over kills and restarts, until it has an answer."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._http = httpx.Client(timeout=30.0)
        self.server_errors: list[str] = []

    def close(self) -> None:
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._server.key}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        deadline = time.monotonic() + ANSWERS_WITHIN
        while time.monotonic() < deadline:
            try:
                response = self._http.request(
                    method, self._server.url + path, json=body, params=params, headers=headers
                )
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if response.status_code in PASSING:
                time.sleep(0.1)
                continue
            if response.is_server_error:
                self.server_errors.append(f"{method} {path}: {response.text[:300]}")
            return response
        raise RuntimeError(f"{method} {path} had no answer in {ANSWERS_WITHIN:g} s")

    def read(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """The JSON answer of a read that must succeed."""
        response = self.send("GET", path, params=params)
        response.raise_for_status()
        return response.json()

    def rows(self, path: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """All rows of a list, page by page."""
        rows: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.read(path, {**(params or {}), **cursor})
            rows.extend(page["rows"])
            if page["next_cursor"] is None:
                return rows
            cursor = {"cursor": page["next_cursor"]}


def default_command() -> list[str]:
    """The `memserver` that is installed beside this Python."""
    return [str(Path(sys.executable).with_name("memserver"))]


def _pass_on(process: subprocess.Popen[str], lines: "queue.Queue[str]") -> None:
    """Reads the process's output to its end, so that it never blocks; then an empty line."""
    if process.stdout is not None:
        with process.stdout as output:
            for line in output:
                lines.put(line)
    lines.put("")
