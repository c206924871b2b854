"""What a trained policy says of itself, so that a server can tell whether it fits."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from memserver.domain.policy import features, write_features
from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.scorer import CASE_VALUE, WRITE_LINEAR

FORMAT = 1
SCHEMAS: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "retrieve": (features.SCHEMA_VERSION, features.NAMES),
    "write": (write_features.SCHEMA_VERSION, write_features.NAMES),
}
"""By role the version of its feature schema, and the features' names."""
KIND_OF_ROLE: Mapping[str, str] = {"retrieve": CASE_VALUE, "write": WRITE_LINEAR}
ROLES = tuple(SCHEMAS)
MANIFEST_LIMIT = 256 * 1024
DEPTH_LIMIT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`encoder` is the fingerprint of the encoder whose vectors, of `dimension` numbers, the
    policy was trained on. `config` is the training's, hashed in `config_sha256`; `evaluation` is
    what the trainer found on held-out data, which a server shows but never goes by.
    `created_at` is ISO 8601 with a zone. `weights_sha256` is set when the folder is written."""

    kind: str
    feature_schema: int
    feature_names: tuple[str, ...]
    encoder: str
    dimension: int
    dataset_sha256: str
    config_sha256: str
    config: dict[str, Any]
    metrics: dict[str, Any]
    evaluation: dict[str, Any] | None
    seed: int
    created_at: str
    format: int = FORMAT
    role: str = "retrieve"
    weights_sha256: str = ""

    def document(self) -> dict[str, Any]:
        """The manifest as it stands in JSON."""
        return {**asdict(self), "feature_names": list(self.feature_names)}

    def encoded(self) -> bytes:
        """The bytes of manifest.json; equal manifests give equal bytes. Raises InvalidPolicy for
        what JSON cannot say or a reader would refuse."""
        try:
            text = json.dumps(
                self.document(), allow_nan=False, ensure_ascii=False, indent=2, sort_keys=True
            )
            data = (text + "\n").encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidPolicy(f"The manifest cannot be written as JSON: {error}.") from error
        if len(data) > MANIFEST_LIMIT:
            raise InvalidPolicy(_too_long(len(data)))
        return data


def decoded(data: bytes) -> Manifest:
    """The manifest in these bytes of manifest.json. Raises InvalidPolicy that names the field at
    fault: each must be there and of its type, and no other may be."""
    if len(data) > MANIFEST_LIMIT:
        raise InvalidPolicy(_too_long(len(data)))
    try:
        document = json.loads(data, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidPolicy):
            raise
        raise InvalidPolicy(f"The manifest is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise InvalidPolicy("The manifest is not a JSON object.")
    _check_storable(document)
    # Before its fields are looked at: another format may well have other fields.
    if document.get("format") != FORMAT:
        found = repr(document.get("format"))[:80]
        raise InvalidPolicy(f"The manifest is of format {found}; this server reads {FORMAT}.")
    for name in (field.name for field in fields(Manifest)):
        if name not in document:
            raise InvalidPolicy(f"The manifest lacks {name!r}.")
        _check_type(name, document[name])
    unknown = sorted(set(document) - {field.name for field in fields(Manifest)})
    if unknown:
        raise InvalidPolicy(
            f"The manifest has a field {unknown[0][:80]!r} that format {FORMAT} lacks."
        )
    if document["role"] not in ROLES:
        raise InvalidPolicy(
            f"The role {document['role'][:80]!r} is unknown; there is {', '.join(ROLES)}."
        )
    _check_time(document["created_at"])
    return Manifest(**{**document, "feature_names": tuple(document["feature_names"])})


def differences(manifest: Manifest, *, encoder: str, dimension: int) -> tuple[str, ...]:
    """A sentence for each thing that the policy was trained with and this server has otherwise;
    empty where it can be served."""
    version, names = SCHEMAS[manifest.role]
    found = [
        _difference(name, trained, here)
        for name, trained, here in (
            ("feature schema", manifest.feature_schema, version),
            ("encoder", manifest.encoder, encoder),
            ("dimension", manifest.dimension, dimension),
        )
        if trained != here
    ]
    if manifest.feature_names != names:
        found.append(_difference("feature names", *_first_apart(manifest.feature_names, names)))
    return tuple(found)


def _difference(name: str, trained: object, here: object) -> str:
    return f"{name}: the policy was trained with {str(trained)[:200]}, this server has {here}"


def _first_apart(trained: tuple[str, ...], here: tuple[str, ...]) -> tuple[str, str]:
    for place, (one, other) in enumerate(zip(trained, here, strict=False), start=1):
        if one != other:
            return f"{one[:80]!r} as feature {place}", repr(other)
    return f"{len(trained)} features", str(len(here))


_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "format": (int, "a whole number"),
    "kind": (str, "text"),
    "role": (str, "text"),
    "feature_schema": (int, "a whole number"),
    "feature_names": (list, "a list"),
    "encoder": (str, "text"),
    "dimension": (int, "a whole number"),
    "dataset_sha256": (str, "text"),
    "config_sha256": (str, "text"),
    "config": (dict, "an object"),
    "metrics": (dict, "an object"),
    "evaluation": ((dict, type(None)), "an object or null"),
    "seed": (int, "a whole number"),
    "created_at": (str, "text"),
    "weights_sha256": (str, "text"),
}


def _check_type(name: str, value: object) -> None:
    expected, words = _TYPES[name]
    # To Python true is a number as well.
    if not isinstance(value, expected) or isinstance(value, bool):
        raise InvalidPolicy(f"The manifest's {name!r} is not {words}.")
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        raise InvalidPolicy(f"The manifest's {name!r} holds something that is not text.")


def _check_storable(document: dict[str, Any]) -> None:
    """JSON may say what no database keeps, and nest deeper than its readers follow."""
    level: list[Any] = [document]
    for _ in range(DEPTH_LIMIT):
        below: list[Any] = []
        for part in level:
            if isinstance(part, str):
                _check_text(part)
            elif isinstance(part, dict):
                below += [*part.keys(), *part.values()]
            elif isinstance(part, list):
                below += part
        if not below:
            return
        level = below
    raise InvalidPolicy(f"The manifest nests deeper than {DEPTH_LIMIT} levels.")


def _check_text(text: str) -> None:
    if "\0" in text:
        raise InvalidPolicy("The manifest holds the character NUL.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidPolicy("The manifest holds half of a surrogate pair.") from error


def _check_time(text: str) -> None:
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise InvalidPolicy(
            f"The manifest's 'created_at' is no ISO time with a zone: {text[:80]!r}."
        )


def _refuse_constant(name: str) -> float:
    raise InvalidPolicy(f"The manifest holds {name}, which is no JSON number.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidPolicy(f"The manifest holds a number that is too large: {text[:80]}.")
    return number


def _too_long(size: int) -> str:
    return f"The manifest takes {size} bytes, more than the {MANIFEST_LIMIT} that are allowed."
