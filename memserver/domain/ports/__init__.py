"""The ports: what services need from the outside, as Protocols that adapters fulfil."""

from memserver.domain.ports.encoder import Encoder, SparseEncoder, SparseVector
from memserver.domain.ports.index import (
    NEVER,
    DocumentKey,
    Filter,
    Hit,
    Leg,
    Point,
    Span,
    VectorIndex,
    View,
)
from memserver.domain.ports.jobs import Jobs, Work
from memserver.domain.ports.paging import Page, PageRequest
from memserver.domain.ports.practice import PracticeFilter
from memserver.domain.ports.sessions import SessionFilter
from memserver.domain.ports.store import (
    Clock,
    DecisionFilter,
    Document,
    FeedEntry,
    ItemFilter,
    Once,
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
    "NEVER",
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
    "PracticeFilter",
    "Readable",
    "Reader",
    "RunBrief",
    "Serving",
    "SessionFilter",
    "Span",
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
