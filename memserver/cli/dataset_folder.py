"""The folder that trainers read: decisions, the vectors of what they considered, a manifest."""

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memserver.cli.row_files import Format, Row, arriving_folder, open_rows
from memserver.domain.policy.features import NAMES, SCHEMA_VERSION
from memserver.services.exporting.lines import line_of

FORMAT = 1
KIND = "decisions"
MANIFEST = "manifest.json"


class OtherSchema(ValueError):
    """The server logs features that this version of the command cannot describe."""

    def __init__(self, schema: int) -> None:
        super().__init__(
            f"The server's decisions have features of schema {schema}, and this command knows "
            f"{SCHEMA_VERSION}: use the command of the server's version."
        )


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a folder holds; `encoder` and `dimension` are those of the vectors, where it has any."""

    rows: int
    vectors: int
    sha256: str
    encoder: str | None
    dimension: int | None


def write_dataset(
    folder: Path,
    decisions: Iterable[Row],
    vectors: Iterable[Row],
    *,
    format: Format,
    namespace: str,
    split: str | None,
    since: str | None,
    reached: Callable[[int], None],
) -> Dataset:
    """Writes rows as they come, in the order in which they come. The folder must be empty or
    absent; it is there only once it is whole. Raises `OtherSchema`."""
    files = {kind: f"{kind}.{format}" for kind in (KIND, "vectors")}
    with arriving_folder(folder) as unfinished:
        digest = hashlib.sha256()
        count = vector_count = 0
        encoder: str | None = None
        dimension: int | None = None
        with closing(open_rows(unfinished / files[KIND], format, KIND)) as file:
            for count, row in enumerate(decisions, 1):
                if row["schema"] != SCHEMA_VERSION:
                    raise OtherSchema(row["schema"])
                line = line_of(row)
                digest.update(line)
                file.write(row, line)
                reached(count)
        with closing(open_rows(unfinished / files["vectors"], format, "vectors")) as file:
            for vector_count, row in enumerate(vectors, 1):
                encoder, dimension = row["encoder"], len(row["vector"])
                kept = {"id": row["id"], "vector": row["vector"]}
                file.write(kept, line_of(kept))
                reached(count + vector_count)
        written = Dataset(count, vector_count, digest.hexdigest(), encoder, dimension)
        manifest = {
            "format": FORMAT,
            "kind": KIND,
            "rows": written.rows,
            "vectors": written.vectors,
            "sha256": written.sha256,
            "feature_schema": SCHEMA_VERSION,
            "feature_names": list(NAMES),
            "encoder": written.encoder,
            "dimension": written.dimension,
            "split": split,
            "namespace": namespace,
            "since": since,
            "files": files,
        }
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        (unfinished / MANIFEST).write_text(text, encoding="utf-8")
    return written
