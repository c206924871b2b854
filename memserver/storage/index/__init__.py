"""The vector index: an embedded adapter, and one for a Qdrant server."""

from memserver.storage.index.edge import EdgeIndex

__all__ = ["EdgeIndex"]
