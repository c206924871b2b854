"""What a restore answers."""

from pydantic import AwareDatetime

from memserver.wire.base import Model


class Restored(Model):
    """`rows` counts those of each table; `created_at` and `version` are the backup's. `documents`
    is how many are searchable, null where the index is still being built: `searchable` is false
    then. `keys` says in a sentence which keys count from now on."""

    created_at: AwareDatetime
    version: str
    position: int
    rows: dict[str, int]
    documents: int | None
    searchable: bool
    keys: str
    caller_known: bool
