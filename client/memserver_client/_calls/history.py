"""The change log."""

from memserver.wire.base import Page
from memserver.wire.operations import Change, ChangeDetail, Undone
from memserver_client._call import Call, Listing, read, write
from memserver_client._requests import Id, id_of


def undo(change_id: Id, reason: str = "") -> Call[Undone]:
    """Puts back all rows that the change touched; Conflict where a later change did too."""
    path = f"/v1/changes/{id_of(change_id)}/undo"
    return write("POST", path, Undone, params={"reason": reason or None})


def changes(*, namespace: str, row: Id | None = None) -> Listing[Change]:
    """The log of a namespace, or of one trajectory, item or version in it."""
    params = {"namespace": namespace, "row": None if row is None else str(id_of(row))}
    return Listing(path="/v1/changes", page=Page[Change], params=params)


def change(id: Id) -> Call[ChangeDetail]:
    return read(f"/v1/changes/{id_of(id)}", ChangeDetail)
