"""`memserver reindex --offline`: the index built anew while no server runs, for another encoder
as well."""

from contextlib import closing
from dataclasses import dataclass

from memserver.app.opening import database_url, open_encoder, open_index, utc_now
from memserver.app.settings import Settings
from memserver.services.indexing import reindex_offline as rebuild
from memserver.storage.encoders import Bm25Encoder
from memserver.storage.sql import open_store


@dataclass(frozen=True, slots=True)
class Reindexed:
    documents: int
    skipped: int
    encoder: str


def reindex_offline(settings: Settings) -> Reindexed:
    """Raises `DataInUse` where a server has the index open."""
    with (
        closing(open_store(database_url(settings), clock=utc_now)) as store,
        closing(open_encoder(settings)) as encoder,
        closing(open_index(settings, encoder.dimension, empty=True)) as index,
    ):
        done = [0]
        skipped = rebuild(
            store,
            index,
            encoder,
            Bm25Encoder(settings.language),
            progress=lambda documents: done.append(documents),
        )
        return Reindexed(done[-1], len(skipped), encoder.fingerprint)
