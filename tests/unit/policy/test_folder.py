"""A policy comes back as it was written, or is refused with what is wrong with it."""

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.features import NAMES
from memserver.domain.policy.folder import (
    PolicyFolder,
    differences,
    packed,
    read_folder,
    unpacked,
    write_folder,
)
from tests.unit.policy.made import DIMENSION, manifest, tensors

MANIFEST, WEIGHTS = "manifest.json", "policy.safetensors"


def made() -> PolicyFolder:
    weights = save(tensors())
    return PolicyFolder(manifest(weights_sha256=hashlib.sha256(weights).hexdigest()), weights)


def zipped(files: dict[str, bytes], *, comment: bytes = b"", method: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.comment = comment
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def parts() -> dict[str, bytes]:
    folder = made()
    return {MANIFEST: folder.manifest.encoded(), WEIGHTS: folder.weights}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = write_folder(tmp_path / "new" / "policy", manifest(), tensors())

    read = read_folder(tmp_path / "new" / "policy")

    assert read == written
    assert replace(read.manifest, weights_sha256="") == manifest()
    for name, tensor in tensors().items():
        np.testing.assert_array_equal(read.tensors()[name], tensor)
    assert sorted(os.listdir(tmp_path / "new" / "policy")) == [MANIFEST, WEIGHTS]
    assert os.listdir(tmp_path / "new") == ["policy"]


def test_what_is_packed_is_unpacked_and_equal_folders_pack_alike() -> None:
    assert unpacked(packed(made())) == made()
    assert packed(made()) == packed(made())
    assert unpacked(zipped(parts(), method=zipfile.ZIP_DEFLATED)) == made()


def test_a_transposed_tensor_is_written_as_it_reads(tmp_path: Path) -> None:
    turned = np.asfortranarray(tensors()["query_map"])

    folder = write_folder(tmp_path / "policy", manifest(), {**tensors(), "query_map": turned})

    np.testing.assert_array_equal(folder.tensors()["query_map"], turned)


def test_a_version_is_never_written_over(tmp_path: Path) -> None:
    write_folder(tmp_path / "policy", manifest(), tensors())

    with pytest.raises(FileExistsError, match="never changes"):
        write_folder(tmp_path / "policy", manifest(seed=4), tensors())

    assert read_folder(tmp_path / "policy").manifest.seed == 3


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError, match="No space"):
        write_folder(tmp_path / "policy", manifest(), tensors())

    assert os.listdir(tmp_path) == []


def test_what_no_reader_takes_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicy, match="weights take 29 features, the manifest names 30"):
        write_folder(tmp_path / "policy", manifest(), tensors(features=29))
    with pytest.raises(InvalidPolicy, match="dimension 12, the manifest says 384"):
        write_folder(tmp_path / "policy", manifest(), tensors(dimension=12))
    with pytest.raises(InvalidPolicy, match="cannot be written as JSON"):
        write_folder(tmp_path / "policy", manifest(metrics={"auc": math.nan}), tensors())
    with pytest.raises(InvalidPolicy, match="no ISO time with a zone: '2026-05-04'"):
        write_folder(tmp_path / "policy", manifest(created_at="2026-05-04"), tensors())

    assert os.listdir(tmp_path) == []


def test_a_changed_byte_of_the_weights_is_noticed(tmp_path: Path) -> None:
    write_folder(tmp_path / "policy", manifest(), tensors())
    file = tmp_path / "policy" / WEIGHTS
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)

    with pytest.raises(InvalidPolicy, match="SHA-256 is"):
        read_folder(tmp_path / "policy")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path / "policy", manifest(), tensors())
    (tmp_path / "policy" / WEIGHTS).unlink()

    with pytest.raises(InvalidPolicy, match=r"policy\.safetensors cannot be read: No such file"):
        read_folder(tmp_path / "policy")


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    write_folder(tmp_path / "policy", manifest(), tensors())
    with (tmp_path / "policy" / WEIGHTS).open("r+b") as file:
        file.truncate(65 * 1024 * 1024)

    with pytest.raises(InvalidPolicy, match="safetensors takes 68157440 bytes, more than"):
        read_folder(tmp_path / "policy")


def test_weights_that_are_no_safetensors_are_refused() -> None:
    for junk in (b"", b"pickle", b"\xff" * 64, save({"bias": np.zeros(1, np.float32)})[:-2]):
        digest = hashlib.sha256(junk).hexdigest()
        with pytest.raises(InvalidPolicy, match="no safetensors"):
            PolicyFolder(manifest(weights_sha256=digest), junk)


def test_many_empty_tensors_are_not_even_listed() -> None:
    many = save({f"tensor {number}": np.zeros(0, np.float32) for number in range(2_000)})
    digest = hashlib.sha256(many).hexdigest()

    with pytest.raises(InvalidPolicy, match=r"header takes \d+ bytes, more than"):
        PolicyFolder(manifest(weights_sha256=digest), many)


def nested(levels: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(levels):
        inner = [inner]
    return inner


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    document = made().manifest.document()
    change(document)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "manifest is not JSON"),
        (b"\xff", "manifest is not JSON"),
        (b"[" * 200_000, "manifest is not JSON"),
        (b"[]", "not a JSON object"),
        (b" " * 300_000, r"manifest\.json takes 300000 bytes, more than"),
        (changed(lambda d: d.update(format=2)), "of format 2; this server reads 1"),
        (changed(lambda d: d.pop("encoder")), "lacks 'encoder'"),
        (changed(lambda d: d.update(extra=1)), "field 'extra'"),
        (changed(lambda d: d.update(seed="3")), "'seed' is not a whole number"),
        (changed(lambda d: d.update(dimension=True)), "'dimension' is not a whole number"),
        (changed(lambda d: d.update(config=[])), "'config' is not an object"),
        (changed(lambda d: d.update(evaluation=1)), "'evaluation' is not an object or null"),
        (changed(lambda d: d.update(feature_names=["a", 1])), "holds something that is not text"),
        (changed(lambda d: d.update(role="oracle")), "role 'oracle' is unknown"),
        (changed(lambda d: d.update(role="write")), "is of kind 'write-linear', not"),
        (changed(lambda d: d.update(kind="oracle")), "kind 'oracle' is unknown"),
        (changed(lambda d: d.update(metrics={"auc": math.nan})), "holds NaN"),
        (changed(lambda d: d.update(created_at="now")), "no ISO time"),
        (
            changed(lambda d: d.update(seed=3)).replace(b'"seed": 3', b'"seed": 3e999'),
            "too large: 3e999",
        ),
        (changed(lambda d: d.update(config={"a": "\ud800"})), "half of a surrogate pair"),
        (changed(lambda d: d.update(encoder="\udfff")), "half of a surrogate pair"),
        (changed(lambda d: d.update(config={"\0": 1})), "the character NUL"),
        (changed(lambda d: d.update(config={"a": nested(40)})), "deeper than 32 levels"),
    ],
)
def test_a_manifest_that_is_wrong_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidPolicy, match=reason):
        unpacked(zipped({**parts(), MANIFEST: data}))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no zip file"),
        (b"PK", "no zip file"),
        (b"\x1f\x8b" + b"x" * 100, "no zip file"),
        (b"PK\x03\x04" + b"x" * 100, "does not end as a plain one"),
        (zipped(parts(), comment=b"hello"), "does not end as a plain one without a comment"),
        (zipped({MANIFEST: b"{}"}), "holds 1 members"),
        (zipped({**parts(), "more": b""}), "holds 3 members"),
        (zipped({f"../{MANIFEST}": b"{}", WEIGHTS: b""}), r"holds '\.\./manifest\.json'"),
        (zipped({f"policy/{MANIFEST}": b"{}", WEIGHTS: b""}), "in no folder"),
        (zipped(parts(), method=zipfile.ZIP_LZMA), "neither stored nor deflated"),
        (
            zipped(
                {MANIFEST: b"{}", WEIGHTS: bytes(65 * 1024 * 1024)}, method=zipfile.ZIP_DEFLATED
            ),
            "safetensors takes 68157440 bytes, more than",
        ),
        (
            zipped({MANIFEST: b" " * 300_000, WEIGHTS: b""}, method=zipfile.ZIP_DEFLATED),
            r"manifest\.json takes 300000 bytes, more than",
        ),
        (bytes(65 * 1024 * 1024), "zip takes 68157440 bytes"),
    ],
    ids=range(13),
)
def test_a_zip_that_is_no_policy_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidPolicy, match=reason):
        unpacked(data)


def test_two_members_of_one_name_are_refused() -> None:
    other = "Manifest.json"  # as long, so that renaming it damages nothing else
    twice = zipped({MANIFEST: b"{}", other: b"{}"}).replace(other.encode(), MANIFEST.encode())

    with pytest.raises(InvalidPolicy, match=r"'manifest\.json' 2 times"):
        unpacked(twice)


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(zipped(parts()))
    data[data.index(b"PK\x01\x02") + 8] |= 1

    with pytest.raises(InvalidPolicy, match=r"'manifest\.json' is encrypted"):
        unpacked(bytes(data))


def test_a_member_longer_than_it_says_is_refused() -> None:
    """The directory declares ten bytes; the data inflate to many more."""
    whole = zipped(parts(), method=zipfile.ZIP_DEFLATED)
    size = len(made().weights).to_bytes(4, "little")

    with pytest.raises(InvalidPolicy, match="zip is damaged"):
        unpacked(whole.replace(size, (10).to_bytes(4, "little")))


SOUND = packed(made())


@given(
    at=st.one_of(st.integers(0, 400), st.integers(len(SOUND) - 400, len(SOUND) - 1)),
    value=st.integers(0, 255),
)
def test_whatever_byte_is_damaged_the_policy_is_refused_or_unharmed(at: int, value: int) -> None:
    data = bytearray(SOUND)
    data[at] = value
    try:
        found = unpacked(bytes(data))
    except InvalidPolicy:
        return
    assert found == made()


def test_each_difference_to_the_server_is_named() -> None:
    trained = manifest(
        feature_schema=2, encoder="other", dimension=768, feature_names=("age", *NAMES[1:])
    )

    assert differences(manifest(), encoder="minilm:53aa5117", dimension=DIMENSION) == ()
    assert differences(trained, encoder="minilm:53aa5117", dimension=DIMENSION) == (
        "feature schema: the policy was trained with 2, this server has 1",
        "encoder: the policy was trained with other, this server has minilm:53aa5117",
        "dimension: the policy was trained with 768, this server has 384",
        "feature names: the policy was trained with 'age' as feature 1, this server has "
        "'dense_rank'",
    )
    assert differences(
        manifest(feature_names=NAMES[:-1]), encoder="minilm:53aa5117", dimension=DIMENSION
    ) == ("feature names: the policy was trained with 29 features, this server has 30",)
