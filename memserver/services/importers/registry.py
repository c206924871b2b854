"""The importers by name: what an import can be said to be."""

from collections.abc import Callable, Iterator, Mapping

from memserver.domain.ports import Clock
from memserver.domain.scope import Namespace
from memserver.domain.trajectories import Trajectory
from memserver.services.importers.alfworld import read_alfworld
from memserver.services.importers.jsonl import read_jsonl

# Lazy: a fault is raised when the iteration reaches it, so read all before storing any.
Importer = Callable[[bytes, Namespace, Clock], Iterator[Trajectory]]

IMPORTERS: Mapping[str, Importer] = {
    "jsonl": read_jsonl,
    "alfworld-condensed": read_alfworld,
}
