"""Reading whole lists, for work that needs all of a namespace."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from memserver.domain.ports import Page, PageRequest

R = TypeVar("R")
ROWS = 500


def every(read: Callable[[PageRequest], Page[R]]) -> Iterator[R]:
    """All rows of a list, page after page."""
    request = PageRequest(ROWS)
    while True:
        page = read(request)
        yield from page.rows
        if page.next_cursor is None:
            return
        request = PageRequest(ROWS, page.next_cursor)
