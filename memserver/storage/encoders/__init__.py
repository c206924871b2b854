"""Encoders: text to dense vectors, and to BM25 term weights."""

from memserver.storage.encoders.batching import BatchingEncoder
from memserver.storage.encoders.bm25 import Bm25Encoder
from memserver.storage.encoders.openai_compatible import OpenAICompatibleEncoder
from memserver.storage.encoders.sentence_transformer import SentenceTransformerEncoder

__all__ = [
    "BatchingEncoder",
    "Bm25Encoder",
    "OpenAICompatibleEncoder",
    "SentenceTransformerEncoder",
]
