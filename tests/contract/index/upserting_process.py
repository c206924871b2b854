"""A process of its own that fills an embedded index and says what is done, until it is killed.
Run as `python upserting_process.py FOLDER FIRST`."""

import sys
from pathlib import Path

from memserver.storage.index import EdgeIndex
from tests.contract.index.points import DIMENSION, key, point


def main(folder: str, first: str) -> None:
    index = EdgeIndex(Path(folder), dimension=DIMENSION)
    number = int(first)
    while True:
        index.upsert([point(number + n, f"cup c{number + n}") for n in range(7)])
        if number % 3 == 0:
            index.delete_documents([key(number)])
        if number % 5 == 0:
            index.flush()
        print(number, flush=True)
        number += 7


if __name__ == "__main__":
    main(*sys.argv[1:])
