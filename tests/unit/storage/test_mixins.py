"""The store's reader and writer are put together from many classes, in which a second method of the
same name would quietly take the place of the first."""

from collections import defaultdict

import pytest

from memserver.storage.sql.reading import SqlReader
from memserver.storage.sql.writing import SqlWriter


@pytest.mark.parametrize("made", [SqlReader, SqlWriter])
def test_no_part_hides_a_method_of_another(made: type) -> None:
    defining: defaultdict[str, list[str]] = defaultdict(list)
    for part in made.__mro__:
        for name, value in vars(part).items():
            if callable(value) and not name.startswith("__"):
                defining[name].append(part.__name__)

    assert {name: parts for name, parts in defining.items() if len(parts) > 1} == {}
