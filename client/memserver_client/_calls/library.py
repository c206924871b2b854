"""The library of skills as a whole: what its parts are worth, and how it evolves."""

from memserver.wire.library import RunCredit, Worth
from memserver_client._call import Call, read
from memserver_client._requests import Id, id_of


def worth(id: Id) -> Call[Worth]:
    """What an item is worth by what came of it: counts, lower bound and moving utility, by the
    type of task."""
    return read(f"/v1/memories/{id_of(id)}/worth", Worth)


def run_credit(id: Id) -> Call[RunCredit]:
    """What a run's outcome says of the orders in which it was offered items, and of what is
    distilled from it."""
    return read(f"/v1/trajectories/{id_of(id)}/credit", RunCredit)
