"""The vector index: embedded in this process (here), or on a Qdrant server (`qdrant_server`,
to be imported by itself, because its client takes seconds to load)."""

from memserver.storage.index.edge import EdgeIndex

__all__ = ["EdgeIndex"]
