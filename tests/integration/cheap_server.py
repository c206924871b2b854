"""`memserver serve` with an encoder that needs no model, for tests that start it many times. All
else is real: SQL, embedded index, job engine, HTTP, and the line that says it is ready."""

import argparse
import json
import socket
from pathlib import Path

import uvicorn

from memserver.app.server import Parts, Server, database_url, utc_now
from memserver.app.serving import AnnouncingServer
from memserver.app.settings import read_settings
from memserver.storage.encoders import Bm25Encoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import open_store
from tests.fakes.encoder import HashEncoder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["serve"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    settings = read_settings(data=given.data, port=given.port)
    settings.data.mkdir(exist_ok=True)
    encoder = HashEncoder()
    parts = Parts(
        open_store(database_url(settings), clock=utc_now),
        encoder,
        Bm25Encoder(),
        EdgeIndex(settings.data / "index", dimension=encoder.dimension),
    )
    server = Server(settings, parts)
    with socket.create_server((settings.host, settings.port)) as bound:
        url = f"http://{settings.host}:{bound.getsockname()[1]}"
        secret = None if server.first_key is None else server.first_key.secret
        line = json.dumps({"url": url, "admin_key": secret})
        config = uvicorn.Config(server.api, log_level="warning", access_log=False)
        AnnouncingServer(config, line).run(sockets=[bound])


if __name__ == "__main__":
    main()
