"""Every adapter of the vector index, each empty, for one suite."""

import os
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from memserver.domain.ports import VectorIndex
from memserver.storage.index import EdgeIndex
from memserver.storage.index.qdrant_server import QdrantIndex
from tests.contract.index.points import DIMENSION

SERVER = "MEMSERVER_TEST_QDRANT_URL"
ADAPTERS = ["edge", "local mode", "server"]

Opener = Callable[[str], VectorIndex]


@pytest.fixture(scope="module")
def open_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    """Gives the index of an adapter, emptied. It is opened once a module, which takes a second."""
    opened: dict[str, VectorIndex] = {}

    def give(adapter: str) -> VectorIndex:
        if adapter not in opened:
            opened[adapter] = _open(adapter, tmp_path_factory.mktemp("index") / "shard")
        index = opened[adapter]
        index.delete_documents(list(index.documents()))
        return index

    yield give
    for index in opened.values():
        if isinstance(index, QdrantIndex):
            index._client.delete_collection(index._collection)
        index.close()


@pytest.fixture(params=ADAPTERS)
def index(request: pytest.FixtureRequest, open_index: Opener) -> VectorIndex:
    return open_index(request.param)


def _open(adapter: str, path: Path) -> VectorIndex:
    if adapter == "edge":
        return EdgeIndex(path, dimension=DIMENSION)
    if adapter == "local mode":
        with warnings.catch_warnings():
            # It has no payload indexes, and says so.
            warnings.filterwarnings("ignore", message="Payload indexes have no effect")
            return QdrantIndex(QdrantClient(":memory:"), dimension=DIMENSION)
    if SERVER not in os.environ:
        pytest.skip(f"needs a Qdrant server: {SERVER} is not set")
    client = QdrantClient(url=os.environ[SERVER])
    return QdrantIndex(client, dimension=DIMENSION, collection=f"test-{uuid.uuid4()}")
