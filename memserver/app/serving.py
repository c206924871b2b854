"""`memserver serve`: binds, starts, says where it is, runs until it is told to stop."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from memserver.app import logs
from memserver.app.opening import Parts, open_parts
from memserver.app.server import Server
from memserver.app.settings import Settings
from memserver.domain.errors import PortTaken


class AnnouncingServer(uvicorn.Server):
    """Says that it is ready once it really is, so that whoever waits for the line can call."""

    def __init__(self, config: uvicorn.Config, announcement: Callable[[], str]) -> None:
        super().__init__(config)
        self._announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self._announcement(), flush=True)


def serve(
    settings: Settings, *, as_json: bool, make_parts: Callable[[Settings], Parts] = open_parts
) -> None:
    """Runs the server in this thread until a signal stops it. The port is bound first, so that
    a taken one (`PortTaken`) is known before anything is opened."""
    logs.configure(level=settings.log_level, form=settings.log_format)
    with listen(settings.host, settings.port) as bound:
        server = Server(settings, make_parts(settings))
        address = _url(settings.host, bound.getsockname()[1])
        config = uvicorn.Config(
            server.api,
            # Its lines go where all others go; the line of a request is our own.
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=10,
        )
        running = AnnouncingServer(config, lambda: _announcement(server, address, as_json=as_json))
        running.run(sockets=[bound])
        if not running.started:
            raise SystemExit(1)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket. Raises `PortTaken`.

    Its protocol is named, because asyncio sends small writes at once only on sockets that say
    they are TCP: without it every reply waits 40 ms for the client's delayed acknowledgement.
    """
    bound = socket.socket(_family(host), socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise PortTaken(host, port, error.strerror or "") from error
    return bound


def _announcement(server: Server, address: str, *, as_json: bool) -> str:
    first = server.first_key
    secret = None if first is None else first.secret
    if as_json:
        return json.dumps({"url": address, "admin_key": secret})
    lines = [f"memserver listens on {address}", f"API docs: {address}/docs"]
    if secret is not None:
        lines += [
            f"System key (shown this once, keep it): {secret}",
            "Give each agent its own: memserver keys create --role writer --grant 'team/**'",
        ]
    else:
        lines.append(f"Data: {Path(server.settings.data).absolute()}")
    return "\n".join(lines)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
