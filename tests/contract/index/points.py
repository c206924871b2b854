"""Points and searches for tests of the index, made from a few words."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import numpy.typing as npt

from memserver.domain.ports import DocumentKey, Filter, Leg, Point, SparseVector
from memserver.storage.encoders import Bm25Encoder
from tests.fakes.encoder import HashEncoder

DIMENSION = 32
TENANT = UUID(int=0xA)
OTHER = UUID(int=0xB)

encoder = HashEncoder(dimension=DIMENSION)
bm25 = Bm25Encoder()


def point(number: int, text: str = "", *, window: int = 0, **fields: Any) -> Point:
    """A point whose ids follow from `number`, its tenant and window."""
    text = text or f"word{number}"
    made = Point(
        id=UUID(int=0),
        tenant=TENANT,
        document=UUID(int=number),
        item=UUID(int=1_000_000 + number),
        namespace_id=1,
        kind="skill",
        status="active",
        task_type="",
        created=1_700_000_000 + number,
        dense=encoder.encode_query(text),
        sparse=bm25.document(text),
    )
    made = replace(made, **fields)
    return replace(made, id=uuid5(made.tenant, f"{made.document}/{made.view}/{window}"))


def key(number: int, tenant: UUID = TENANT) -> DocumentKey:
    return DocumentKey(tenant, UUID(int=number))


def dense(text: str, *, limit: int = 10, namespaces: tuple[int, ...] = (1,), **where: Any) -> Leg:
    return Leg(Filter(namespaces, **where), limit, dense=encoder.encode_query(text))


def sparse(text: str, *, limit: int = 10, namespaces: tuple[int, ...] = (1,), **where: Any) -> Leg:
    return Leg(Filter(namespaces, **where), limit, sparse=bm25.query(text))


def vector(*numbers: float) -> npt.NDArray[np.float32]:
    """The numbers, then zeros up to the dimension."""
    made = np.zeros(DIMENSION, dtype=np.float32)
    made[: len(numbers)] = numbers
    return made


def terms(*pairs: tuple[int, float]) -> SparseVector:
    return SparseVector(tuple(i for i, _ in pairs), tuple(v for _, v in pairs))
