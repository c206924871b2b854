"""The dataset folder that `memserver export decisions` writes: read as a stream, and checked
against its manifest while it is read. docs/training.md describes the format."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memserver.domain.policy import features
from memserver_trainers.errors import InvalidDataset

FORMAT = 1
KIND = "decisions"
SPLITS = ("train", "validation", "test")

Row = Mapping[str, Any]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a decision could choose. `features` has the order of `features.NAMES`; `credit` is the
    weight of the evidence that the outcome gave this version."""

    id: str
    features: Floats
    score: float
    rank: int | None
    packed: bool
    slot: str | None
    propensity: float
    gated: str | None
    credit: float


@dataclass(frozen=True, slots=True)
class Decision:
    """One logged retrieve with what is known of its outcome; `rewards` is empty where nothing is
    known yet. `group` is the task."""

    id: str
    group: str
    split: str
    encoder: str
    query_vector: Floats | None
    temperature: float
    explored: bool
    candidates: tuple[Candidate, ...]
    rewards: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of item versions: `index` says which row of `matrix` [M, d] is whose."""

    index: Mapping[str, int]
    matrix: Floats


@dataclass(frozen=True, slots=True)
class Manifest:
    rows: int
    vectors: int
    sha256: str
    encoder: str | None
    dimension: int | None
    decisions_file: str
    vectors_file: str


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    folder: Path
    manifest: Manifest

    def decisions(self) -> Iterator[Decision]:
        """Every decision in the order of the file. After the last one `InvalidDataset` is raised
        unless number and hash are the manifest's, so nothing may be trusted before the end; it is
        also raised for a row out of shape and for a task that lies in two splits."""
        digest = hashlib.sha256()
        split_of: dict[str, str] = {}
        count = 0
        for place, row in _rows(self.folder / self.manifest.decisions_file):
            digest.update(canonical_line(row))
            count += 1
            decision = _decision(place, row)
            self._check_query(place, decision)
            before = split_of.setdefault(decision.group, decision.split)
            if before != decision.split:
                raise InvalidDataset(
                    place,
                    f"the task {decision.group} is in {decision.split} and in {before}:"
                    " a split goes by task",
                )
            yield decision
        if count != self.manifest.rows:
            raise InvalidDataset(
                self.folder, f"{count} decisions, but its manifest says {self.manifest.rows}"
            )
        if digest.hexdigest() != self.manifest.sha256:
            raise InvalidDataset(
                self.folder,
                f"its decisions have the SHA-256 {digest.hexdigest()}, but its manifest says"
                f" {self.manifest.sha256}: they were changed after the export",
            )

    def _check_query(self, place: str, decision: Decision) -> None:
        query, manifest = decision.query_vector, self.manifest
        if query is not None and decision.encoder == manifest.encoder:
            _vector(place, query, manifest.dimension)

    def vectors(self) -> Vectors:
        """All item vectors as one matrix. Raises `InvalidDataset`."""
        manifest = self.manifest
        matrix = np.zeros((manifest.vectors, manifest.dimension or 0), np.float32)
        index: dict[str, int] = {}
        for place, row in _rows(self.folder / manifest.vectors_file):
            vector = _vector(place, row.get("vector"), manifest.dimension)
            if len(index) == manifest.vectors:
                raise InvalidDataset(place, f"the manifest promised {manifest.vectors} vectors")
            matrix[len(index)] = vector
            if index.setdefault(str(row.get("id")), len(index)) != len(index) - 1:
                raise InvalidDataset(place, f"a second vector of {row.get('id')}")
        if len(index) != manifest.vectors:
            raise InvalidDataset(
                self.folder, f"{len(index)} vectors, but its manifest says {manifest.vectors}"
            )
        return Vectors(index, matrix)


def open_dataset(folder: Path) -> DatasetFolder:
    """Reads the manifest only. Raises `InvalidDataset` where this version cannot learn from it."""
    file = folder / "manifest.json"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidDataset(folder, f"not a dataset folder: {error.strerror}") from error
    except ValueError as error:
        raise InvalidDataset(file, f"not JSON: {error}") from error
    wanted = {
        "format": FORMAT,
        "kind": KIND,
        "feature_schema": features.SCHEMA_VERSION,
        "feature_names": list(features.NAMES),
    }
    for key, value in wanted.items():
        if said.get(key) != value:
            raise InvalidDataset(
                file, f"{key} is {said.get(key)!r}, but this version reads {value!r}"
            )
    try:
        manifest = Manifest(
            rows=said["rows"],
            vectors=said["vectors"],
            sha256=said["sha256"],
            encoder=said["encoder"],
            dimension=said["dimension"],
            decisions_file=_beside(file, said["files"]["decisions"]),
            vectors_file=_beside(file, said["files"]["vectors"]),
        )
    except (KeyError, TypeError) as error:
        raise InvalidDataset(file, f"it lacks {error}") from error
    return DatasetFolder(folder, manifest)


def _beside(manifest: Path, name: str) -> str:
    """The name of a file in the dataset's own folder; no manifest points out of it."""
    if name in ("", "..") or Path(name).name != name:
        raise InvalidDataset(manifest, f"it names {name!r}, which is no file of its folder")
    return name


def canonical_line(row: Row) -> bytes:
    """A row as the content hash sees it, whatever the file's format."""
    text = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def write_dataset(
    folder: Path,
    decisions: Iterable[Row],
    vectors: Mapping[str, Floats],
    *,
    encoder: str,
    namespace: str,
) -> DatasetFolder:
    """Writes a dataset folder in JSON lines, for worlds that make up their own decisions."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    count = 0
    with (folder / "decisions.jsonl").open("wb") as file:
        for row in decisions:
            count += 1
            line = canonical_line(row)
            digest.update(line)
            file.write(line)
    with (folder / "vectors.jsonl").open("wb") as file:
        for id, vector in vectors.items():
            file.write(canonical_line({"id": id, "vector": vector.tolist()}))
    manifest = {
        "format": FORMAT,
        "kind": KIND,
        "rows": count,
        "vectors": len(vectors),
        "sha256": digest.hexdigest(),
        "feature_schema": features.SCHEMA_VERSION,
        "feature_names": list(features.NAMES),
        "encoder": encoder,
        "dimension": len(next(iter(vectors.values()), ())),
        "split": None,
        "namespace": namespace,
        "since": None,
        "files": {"decisions": "decisions.jsonl", "vectors": "vectors.jsonl"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return open_dataset(folder)


def _rows(file: Path) -> Iterator[tuple[str, Row]]:
    """Each row with the place to name when something is wrong with it."""
    read = _parquet if file.suffix == ".parquet" else _json_lines
    try:
        yield from read(file)
    except FileNotFoundError as error:
        raise InvalidDataset(file, "the manifest names it, but it is missing") from error


def _json_lines(file: Path) -> Iterator[tuple[str, Row]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file}, line {number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InvalidDataset(place, f"not JSON: {error}") from error
            if not isinstance(row, dict):
                raise InvalidDataset(place, "not a JSON object")
            yield place, row


def _parquet(file: Path) -> Iterator[tuple[str, Row]]:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    number = 0
    try:
        with parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=256):
                for row in batch.to_pylist(maps_as_pydicts="strict"):
                    number += 1
                    yield f"{file}, row {number}", row
    except arrow.ArrowInvalid as error:
        raise InvalidDataset(file, f"not Parquet: {error}") from error


def _decision(place: str, row: Row) -> Decision:
    try:
        split = row["split"]
        if split not in SPLITS:
            raise InvalidDataset(place, f"split is {split!r}, but it must be one of {SPLITS}")
        query_vector = row["query_vector"]
        return Decision(
            id=row["id"],
            group=row["group"],
            split=split,
            encoder=row["encoder"],
            query_vector=None if query_vector is None else np.asarray(query_vector, np.float32),
            temperature=float(row["temperature"]),
            explored=bool(row["explored"]),
            candidates=tuple(_candidate(place, each) for each in row["candidates"]),
            rewards={name: _reward(place, name, value) for name, value in row["rewards"].items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidDataset(place, f"not a decision: {error!r}") from error


def _candidate(place: str, row: Row) -> Candidate:
    vector = np.asarray(row["features"], np.float32)
    if vector.shape != (len(features.NAMES),):
        raise InvalidDataset(
            place, f"a candidate has {vector.size} features, but schema 1 has {len(features.NAMES)}"
        )
    return Candidate(
        id=row["id"],
        features=vector,
        score=float(row["score"]),
        rank=row["rank"],
        packed=bool(row["packed"]),
        slot=row["slot"],
        propensity=float(row["propensity"]),
        gated=row["gated"],
        credit=float(row["credit"]),
    )


def _reward(place: str, name: str, value: Any) -> float:
    if not 0.0 <= value <= 1.0:
        raise InvalidDataset(place, f"the reward {name} is {value}, but it must be in [0, 1]")
    return float(value)


def _vector(place: str, value: Any, dimension: int | None) -> Floats:
    vector = np.asarray(value, np.float32)
    if vector.shape != (dimension,):
        raise InvalidDataset(place, f"a vector of shape {vector.shape}, not of {dimension} numbers")
    return vector
