"""Scores are what the formula says, fast, and need no training library."""

import statistics
import subprocess
import sys
import time
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.folder import write_folder
from memserver.domain.policy.sampling import draw
from memserver.domain.policy.scorer import make_scorer
from tests.unit.policy.made import DIMENSION, FEATURES, Tensors, manifest, tensors


def asked(count: int) -> tuple[Tensors, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    random = np.random.default_rng(11)
    query = random.normal(size=DIMENSION).astype(np.float32)
    items = random.normal(size=(count, DIMENSION)).astype(np.float32)
    features = random.normal(size=(count, FEATURES)).astype(np.float32)
    return tensors(), (query, items, features)


def test_a_logit_worked_by_hand() -> None:
    weights = {
        "feature_mean": [1.0, 0.0],
        "feature_scale": [2.0, 1.0],
        "feature_weight": [3.0, -1.0],
        "query_map": [[1.0, 0.0, 0.0]],
        "item_map": [[0.0, 2.0, 0.0]],
        "cosine_weight": [10.0],
        "bias": [0.5],
    }
    scorer = make_scorer(
        "case-value", {name: np.array(values, np.float32) for name, values in weights.items()}
    )

    logits = scorer.logits(
        np.array([3.0, 0.0, 1.0], np.float32),
        np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], np.float32),
        np.array([[5.0, 4.0], [1.0, 0.0]], np.float32),
    )

    # .5 + (3 * 2 - 4) + 3 * 2 + 10 * 1   and   .5 + 0 + 0 + 10 * 3
    assert logits.tolist() == [18.5, 30.5]
    assert logits.dtype == np.float64


def test_logits_are_the_formula_written_out() -> None:
    weights, (query, items, features) = asked(50)
    w = {name: tensor.astype(np.float64) for name, tensor in weights.items()}

    logits = make_scorer("case-value", weights).logits(query, items, features)

    standard = (features - w["feature_mean"]) / w["feature_scale"]
    expected = (
        w["bias"]
        + standard @ w["feature_weight"]
        + (items @ w["item_map"].T) @ (w["query_map"] @ query)
        + w["cosine_weight"] * (items.astype(np.float64) @ query)
    )
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-5)


def test_no_candidates_have_no_logits() -> None:
    weights, (query, items, features) = asked(0)

    assert make_scorer("case-value", weights).logits(query, items, features).shape == (0,)


@pytest.mark.parametrize("wrong", ["query", "items", "features"])
def test_an_input_of_the_wrong_shape_is_named(wrong: str) -> None:
    weights, inputs = asked(4)
    given = dict(zip(("query", "items", "features"), inputs, strict=True))
    given[wrong] = given[wrong][..., :-1]

    with pytest.raises(ValueError, match=f"'{wrong}' has the shape"):
        make_scorer("case-value", weights).logits(**given)


def test_fewer_features_than_items_are_refused() -> None:
    weights, (query, items, features) = asked(4)

    with pytest.raises(ValueError, match="'features' has the shape \\(3, 30\\)"):
        make_scorer("case-value", weights).logits(query, items, features[:3])


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InvalidPolicy, match=r"kind 'oracle' is unknown.*case-value"):
        make_scorer("oracle", tensors())


@pytest.mark.parametrize(
    ("name", "tensor", "reason"),
    [
        ("bias", None, "lack the tensor 'bias'"),
        ("extra", np.zeros(1, np.float32), "hold a tensor 'extra'"),
        ("bias", np.zeros(2, np.float32), r"'bias' has the shape \(2,\) instead of \(1,\)"),
        ("item_map", np.zeros((3, 384), np.float32), r"'item_map' has the shape \(3, 384\)"),
        ("query_map", np.zeros(384, np.float32), "'query_map' has the shape"),
        ("feature_weight", np.zeros((2, 2), np.float32), "'feature_weight' has the shape"),
        ("feature_mean", np.zeros(3, np.float32), "'feature_mean' has the shape"),
        ("bias", np.zeros(1, np.float64), "'bias' is of float64 instead of float32"),
        ("bias", np.full(1, np.nan, np.float32), "'bias' holds a number that is not finite"),
        ("feature_scale", np.zeros(30, np.float32), "not above 0"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    name: str, tensor: np.ndarray | None, reason: str
) -> None:
    weights = tensors()
    if tensor is None:
        del weights[name]
    else:
        weights[name] = tensor

    with pytest.raises(InvalidPolicy, match=reason):
        make_scorer("case-value", weights)


def test_a_folder_is_read_and_scores_where_torch_cannot_be_imported(tmp_path: Path) -> None:
    write_folder(tmp_path / "policy", manifest(), tensors())
    weights, (query, items, features) = asked(3)
    np.savez(tmp_path / "asked.npz", query=query, items=items, features=features)
    program = f"""
import sys
sys.modules["torch"] = None
import numpy as np
from pathlib import Path
from memserver.domain.policy import features, off_policy, sampling, sequential
from memserver.domain.policy.folder import read_folder
asked = np.load({str(tmp_path / "asked.npz")!r})
scorer = read_folder(Path({str(tmp_path / "policy")!r})).scorer()
print(scorer.logits(asked["query"], asked["items"], asked["features"]).tolist())
"""

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    expected = make_scorer("case-value", weights).logits(query, items, features)
    np.testing.assert_allclose(np.fromstring(ran.stdout.strip("[]\n"), sep=","), expected)


def test_two_hundred_candidates_are_ranked_in_milliseconds() -> None:
    weights, (query, items, features) = asked(200)
    scorer = make_scorer("case-value", weights)
    seconds = []
    for number in range(50):
        started = time.perf_counter()
        logits = scorer.logits(query, items, features)
        draw(logits, 10, temperature=0.5, exposure_slots=1, seed=UUID(int=number))
        seconds.append(time.perf_counter() - started)

    assert statistics.median(seconds) < 0.005
