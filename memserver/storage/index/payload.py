"""What both adapters store beside a point's vectors: flat, only what filters and replies need.
Integers and words only, because boolean filters match nothing in the embedded engine."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from memserver.domain.ports import DocumentKey, Hit, Point

DENSE = "dense"
SPARSE = "bm25"

NAMESPACE = "ns"
TENANT = "tenant"
DOCUMENT = "doc"
ITEM = "item"
KIND = "kind"
STATUS = "status"
TASK_TYPE = "task"
CREATED = "created"
VIEW = "view"
VALID_FROM = "from"
VALID_TO = "to"
RECORDED = "recorded"
CLOSED = "closed"

# The tenant needs no index: it is asked for only together with a document.
KEYWORDS = (DOCUMENT, KIND, STATUS, TASK_TYPE, VIEW)
TIMES = (CREATED, VALID_FROM, VALID_TO, RECORDED, CLOSED)
IN_REPLIES = [DOCUMENT, ITEM]
IN_KEYS = [TENANT, DOCUMENT]

# The last bits of a score depend on where a vector lies in memory; without them equal vectors
# have equal scores, and the tie-break decides.
DECIMALS = 5


def payload_of(point: Point) -> dict[str, Any]:
    return {
        NAMESPACE: namespace_word(point.namespace_id),
        TENANT: str(point.tenant),
        DOCUMENT: str(point.document),
        ITEM: str(point.item),
        KIND: point.kind,
        STATUS: point.status,
        TASK_TYPE: point.task_type,
        CREATED: point.created,
        VIEW: point.view.value,
        VALID_FROM: point.valid_from,
        VALID_TO: point.valid_to,
        RECORDED: point.recorded,
        CLOSED: point.closed,
    }


def namespace_word(namespace_id: int) -> str:
    """The engines mark tenants only by keywords."""
    return str(namespace_id)


def hit_of(payload: dict[str, Any] | None, score: float) -> Hit:
    stored = payload or {}
    return Hit(UUID(stored[DOCUMENT]), UUID(stored[ITEM]), round(score, DECIMALS))


def key_of(payload: dict[str, Any] | None) -> DocumentKey:
    stored = payload or {}
    return DocumentKey(UUID(stored[TENANT]), UUID(stored[DOCUMENT]))


def by_tenant(documents: Sequence[DocumentKey], size: int) -> Iterator[tuple[str, list[str]]]:
    """Each tenant with its documents, as the payload spells them, at most `size` at a time."""
    owned: dict[UUID, dict[UUID, None]] = {}
    for key in documents:
        owned.setdefault(key.tenant, {})[key.document] = None
    for tenant, ids in owned.items():
        words = [str(document) for document in ids]
        for start in range(0, len(words), size):
            yield str(tenant), words[start : start + size]
