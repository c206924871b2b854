"""`memserver serve` with an encoder that needs no model, for tests that start it many times. All
else is real: SQL, embedded index, job engine, HTTP, and the line that says it is ready."""

import argparse
from collections.abc import Callable
from pathlib import Path

from memserver.app.opening import Parts, database_url, open_chat, utc_now
from memserver.app.serving import serve
from memserver.app.settings import Settings, read_settings
from memserver.storage.encoders import Bm25Encoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import open_store
from tests.fakes.encoder import HashEncoder

MakeParts = Callable[[Settings], Parts]


def main(make_parts: MakeParts) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["serve"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    settings = read_settings(data=given.data, port=given.port)
    serve(settings, as_json=given.json, make_parts=make_parts)


def cheap_parts(settings: Settings, encoder: HashEncoder | None = None) -> Parts:
    settings.data.mkdir(exist_ok=True)
    encoder = encoder or HashEncoder()
    return Parts(
        open_store(database_url(settings), clock=utc_now),
        encoder,
        Bm25Encoder(),
        EdgeIndex(settings.data / "index", dimension=encoder.dimension),
        chat=open_chat(settings),
    )


if __name__ == "__main__":
    main(cheap_parts)
