"""Opening what a server stands on, as the settings say: its store, index, encoder and models."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx

from memserver.app.settings import Settings
from memserver.domain.ports import Encoder, SparseEncoder, Store, VectorIndex
from memserver.domain.ports.chat import ChatModel
from memserver.services.indexing import check_encoder
from memserver.services.privacy.protecting import Detector, PatternDetector
from memserver.storage.encoders import BatchingEncoder, Bm25Encoder, SentenceTransformerEncoder
from memserver.storage.index import EdgeIndex
from memserver.storage.sql import SqlStore, open_store


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the services stand on; `alive` says of their threads, by name, whether they still run.
    Tests hand in cheaper ones."""

    store: Store
    encoder: Encoder
    sparse: SparseEncoder
    index: VectorIndex
    alive: Mapping[str, Callable[[], bool]] = field(default_factory=dict)
    chat: ChatModel | None = None


def open_parts(settings: Settings) -> Parts:
    """Opens what the settings name, in order, and closes it again where one of them fails.

    Raises `EncoderChanged` before the index is touched, `DataInUse`, `UnusableModel`.
    """
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as stack:
        store = open_store(database_url(settings), clock=utc_now)
        stack.callback(store.close)
        encoder = open_encoder(settings)
        stack.callback(encoder.close)
        check_encoder(store, encoder.fingerprint)
        index = open_index(settings, encoder.dimension)
        stack.callback(index.close)
        chat = open_chat(settings)
        stack.pop_all()
    return Parts(
        store,
        encoder,
        Bm25Encoder(settings.language),
        index,
        threads(store, index, encoder),
        chat=chat,
    )


def threads(store: SqlStore, index: VectorIndex, encoder: Encoder) -> dict[str, Callable[[], bool]]:
    """`Parts.alive`. A Qdrant server has no thread here: the indexer notices where it fails."""
    alive: dict[str, Callable[[], bool]] = {"store": lambda: store.alive}
    if isinstance(encoder, BatchingEncoder):
        alive["encoder"] = lambda: encoder.alive
    if isinstance(index, EdgeIndex):
        alive["index engine"] = lambda: index.alive
    return alive


def detector(settings: Settings) -> Detector:
    """What finds secrets and personal data. Raises `PresidioMissing`."""
    if settings.personal_data_detector == "presidio":
        from memserver.services.privacy.presidio import PresidioDetector

        return PresidioDetector()
    return PatternDetector()


def open_encoder(settings: Settings) -> Encoder:
    """Raises `UnusableModel`, or `Unavailable` where the endpoint does not answer."""
    if settings.encoder_url is None:
        return BatchingEncoder(
            SentenceTransformerEncoder(
                settings.encoder,
                device=settings.encoder_device,
                threads=settings.encoder_threads,
            )
        )
    from memserver.storage.encoders.openai_compatible import OpenAICompatibleEncoder

    key = settings.encoder_api_key
    http = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=30)
    return BatchingEncoder(
        OpenAICompatibleEncoder(http, url=settings.encoder_url, model=settings.encoder or "default")
    )


def open_chat(settings: Settings) -> ChatModel | None:
    """The chat model that the settings name, if any. Raises `UnusableChatModel`. An endpoint is
    not asked until somebody has a question: the server works without an answer."""
    if settings.chat_url is not None:
        from memserver.storage.chat import OpenAICompatibleChat

        key = settings.chat_api_key
        http = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=60)
        return OpenAICompatibleChat(
            http, url=settings.chat_url, model=settings.chat_model or "default"
        )
    if settings.chat_model is not None:
        from memserver.storage.chat import LocalChatModel

        return LocalChatModel(settings.chat_model, device=settings.chat_device)
    return None


def open_index(settings: Settings, dimension: int, *, empty: bool = False) -> VectorIndex:
    """`empty` throws away what is there, whatever its dimension. Raises `DataInUse`,
    `WrongDimension`."""
    if settings.qdrant_url is None:
        return EdgeIndex(settings.data / "index", dimension=dimension, empty=empty)
    # Imported where it is used: the client of a server costs half a second.
    from qdrant_client import QdrantClient

    from memserver.storage.index.qdrant_server import QdrantIndex

    client = QdrantClient(url=settings.qdrant_url, api_key=settings.qdrant_api_key)
    return QdrantIndex(client, dimension=dimension, empty=empty)


def database_url(settings: Settings) -> str:
    return settings.database_url or _sqlite(settings.data / "memserver.db")


def jobs_url(settings: Settings) -> str:
    """The job engine keeps its tables in a schema of their own on PostgreSQL, and in a file of
    their own beside SQLite, whose one writer they must not compete for."""
    return settings.database_url or _sqlite(settings.data / "jobs.db")


def _sqlite(path: Path) -> str:
    return f"sqlite:///{path.absolute()}"
