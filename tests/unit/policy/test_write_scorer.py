"""The linear policy of writes, by numbers worked by hand, and what it refuses."""

import numpy as np
import pytest

from memserver.domain.policy.errors import InvalidPolicy
from memserver.domain.policy.folder import PolicyFolder
from memserver.domain.policy.manifest import differences
from memserver.domain.policy.scorer import make_scorer
from memserver.domain.policy.write_features import NAMES, Operation, WriteFeatures, matrix
from memserver.domain.policy.write_scorer import WriteLinearScorer
from tests.fakes.policies import ENCODER, folder, write_folder_of

NOTHING = np.empty(0, np.float32)


def weights(features: int) -> dict[str, np.ndarray]:
    made = {
        "feature_mean": np.zeros(features),
        "feature_scale": np.ones(features),
        "weight": np.zeros((4, features)),
        "bias": np.zeros(4),
    }
    return {name: tensor.astype(np.float32) for name, tensor in made.items()}


def test_a_logit_is_the_bias_and_weights_of_the_rows_own_operation() -> None:
    tensors = weights(2)
    tensors["feature_mean"][:] = (1, 0)
    tensors["feature_scale"][:] = (2, 1)
    tensors["weight"][:] = [(1, 0), (0, 1), (2, 2), (0, 0)]
    tensors["bias"][:] = (0.5, -1, 0, 3)
    rows = np.array(
        [(1, 0, 0, 0, 5, 7), (0, 1, 0, 0, 5, 7), (0, 0, 1, 0, 5, 7), (0, 0, 0, 1, 5, 7)],
        np.float32,
    )

    logits = WriteLinearScorer.of(tensors).logits(NOTHING, NOTHING, rows)

    assert logits.tolist() == [0.5 + 2, -1 + 7, 2 * 2 + 2 * 7, 3]


def test_features_stand_where_their_names_say() -> None:
    row = WriteFeatures(Operation.NOOP, overlap=0.25, same_key=1.0).row()
    named = dict(zip(NAMES, row, strict=True))

    assert [name for name, value in named.items() if value] == [
        "operation_noop",
        "overlap",
        "same_key",
    ]
    assert sum(WriteFeatures(None).row()) == 0
    assert matrix([]).shape == (0, len(NAMES))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda w: w.pop("bias"), "lack the tensor 'bias'"),
        (lambda w: w.update(more=np.zeros(1, np.float32)), "'more'"),
        (lambda w: w.update(weight=np.zeros((3, 2), np.float32)), "'weight' has the shape"),
        (lambda w: w.update(feature_scale=np.zeros(2, np.float32)), "not above 0"),
        (lambda w: w.update(bias=np.full(4, np.nan, np.float32)), "not finite"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_name(damage, message) -> None:
    tensors = weights(2)
    damage(tensors)
    with pytest.raises(InvalidPolicy, match=message):
        make_scorer("write-linear", tensors)


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"instead of \(n, 6\)"):
        WriteLinearScorer.of(weights(2)).logits(NOTHING, NOTHING, np.zeros((1, 5), np.float32))


def test_each_role_has_its_kind_and_its_features() -> None:
    made = write_folder_of({})
    here = {"encoder": ENCODER.fingerprint, "dimension": ENCODER.dimension}

    assert differences(made.manifest, **here) == ()
    with pytest.raises(InvalidPolicy, match="of kind 'case-value', not 'write-linear'"):
        write_folder_of({}, role="retrieve")
    with pytest.raises(InvalidPolicy, match="of kind 'write-linear', not 'case-value'"):
        folder({}, role="write")
    assert isinstance(made, PolicyFolder)
