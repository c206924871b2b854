"""Row images: equal rows hash alike however they were made, and come back from their image."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.changes import RowRef, Table
from memserver.storage.sql.images import from_image, image_hash, state_hash, to_image
from memserver.storage.sql.tables import ITEM
from memserver.storage.sql.types import canonical_json, from_json, to_json

TENANT = UUID(int=7)
ROW: dict[str, Any] = {
    "id": UUID(int=1),
    "tenant_id": TENANT,
    "namespace_id": 3,
    "position": 9,
    "kind": "note",
    "title": "a title",
    "status": "active",
    "head": UUID(int=2),
    "merged_into": None,
    "created_at": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "subject": None,
    "expires_at": None,
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_a_row_comes_back_from_its_image() -> None:
    image = to_image(ITEM, ROW)
    assert from_image(ITEM, json.loads(json.dumps(image)), TENANT) == ROW


def test_what_an_old_image_does_not_name_comes_back_as_none() -> None:
    image = to_image(ITEM, ROW | {"subject": "p-17"})
    assert image.pop("subject") == "p-17"
    assert image == to_image(ITEM, ROW)
    assert from_image(ITEM, image, TENANT)["subject"] is None


def test_the_image_does_not_depend_on_the_offset_in_which_a_time_is_told() -> None:
    east = ROW["created_at"].astimezone(timezone(timedelta(hours=9)))
    assert to_image(ITEM, ROW | {"created_at": east}) == to_image(ITEM, ROW)


def test_a_naive_time_has_no_image() -> None:
    with pytest.raises(ValueError, match="without an offset"):
        to_image(ITEM, ROW | {"created_at": datetime(2026, 1, 1)})  # noqa: DTZ001


@pytest.mark.parametrize("column", sorted(ROW.keys() - {"tenant_id"}))
def test_every_column_counts_for_the_hash(column: str) -> None:
    image = to_image(ITEM, ROW)
    assert image_hash(image | {column: "another"}) != image_hash(image)


def test_the_hash_of_a_state_does_not_depend_on_the_order_of_its_rows() -> None:
    one, two = RowRef(Table.ITEM, UUID(int=1)), RowRef(Table.VERSION, UUID(int=2))
    assert state_hash([(one, "a"), (two, None)]) == state_hash([(two, None), (one, "a")])
    assert state_hash([(one, "a"), (two, None)]) != state_hash([(one, None), (two, "a")])
    assert state_hash([(one, None)]) != state_hash([])


@given(JSON)
def test_json_comes_back_as_it_was_and_hashes_alike(value: Any) -> None:
    back = from_json(to_json(value))
    assert back == value
    assert canonical_json(back) == canonical_json(value)


def test_empty_json_is_new_at_each_read() -> None:
    first = from_json("[]")
    first.append(1)
    assert from_json("[]") == []
    assert from_json("{}") == {}
