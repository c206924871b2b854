"""Cursors come back as they were given, and nothing else passes for one."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memserver.domain.errors import InvalidCursor
from memserver.domain.ports.paging import Page, PageRequest
from memserver.storage.sql import cursors


@given(
    st.integers(0, 2**63 - 1),
    st.uuids(),
    st.datetimes(timezones=st.just(UTC)),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
)
def test_a_cursor_gives_back_its_parts(position: int, row: UUID, time: datetime, name: str) -> None:
    cursor = cursors.encode("list", position, row, time, name)
    assert cursors.decode(cursor, "list", int, UUID, datetime, str) == (position, row, time, name)
    assert cursor.isascii()


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.hex()))
def test_no_other_text_is_a_cursor(text: str) -> None:
    with pytest.raises(InvalidCursor):
        cursors.decode(text, "list", int)


@pytest.mark.parametrize(
    ("of", "parts", "types"),
    [
        ("other", (1,), (int,)),
        ("list", (1, 2), (int,)),
        ("list", (), (int,)),
        ("list", ("1",), (int,)),
        ("list", (-1,), (int,)),
        ("list", (2**63,), (int,)),
        ("list", (True,), (int,)),
        ("list", (1,), (str,)),
        ("list", ("a\0b",), (str,)),
        ("list", ("\ud800",), (str,)),
        ("list", ("no-uuid",), (UUID,)),
        ("list", ("2026-01-01T00:00:00",), (datetime,)),
        ("list", ("0001-01-01T00:00:00+14:00",), (datetime,)),
    ],
)
def test_a_cursor_of_the_wrong_shape_is_refused(
    of: str, parts: tuple[int | str, ...], types: tuple[type[cursors.Part], ...]
) -> None:
    with pytest.raises(InvalidCursor):
        cursors.decode(cursors.encode(of, *parts), "list", *types)


def test_a_page_has_a_cursor_only_where_more_follows() -> None:
    def cursor_of(row: int) -> str:
        return f"after {row}"

    assert cursors.page([1, 2, 3], PageRequest(2), cursor_of) == Page((1, 2), "after 2")
    assert cursors.page([1, 2], PageRequest(2), cursor_of) == Page((1, 2), None)
    assert cursors.page([], PageRequest(2), cursor_of) == Page((), None)
