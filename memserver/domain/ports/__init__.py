"""The ports: what services need from the outside, as Protocols that adapters fulfil."""

from memserver.domain.ports.encoder import Encoder, SparseEncoder, SparseVector
from memserver.domain.ports.index import DocumentKey, Filter, Hit, Leg, Point, VectorIndex, View
from memserver.domain.ports.jobs import Jobs, Work
from memserver.domain.ports.store import (
    Clock,
    DecisionFilter,
    Document,
    FeedEntry,
    ItemFilter,
    Once,
    Page,
    PageRequest,
    Readable,
    Reader,
    RunBrief,
    Serving,
    Store,
    StoredReply,
    TrajectoryFilter,
    Writer,
)

__all__ = [
    "Clock",
    "DecisionFilter",
    "Document",
    "DocumentKey",
    "Encoder",
    "FeedEntry",
    "Filter",
    "Hit",
    "ItemFilter",
    "Jobs",
    "Leg",
    "Once",
    "Page",
    "PageRequest",
    "Point",
    "Readable",
    "Reader",
    "RunBrief",
    "Serving",
    "SparseEncoder",
    "SparseVector",
    "Store",
    "StoredReply",
    "TrajectoryFilter",
    "VectorIndex",
    "View",
    "Work",
    "Writer",
]
