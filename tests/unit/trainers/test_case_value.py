"""The recipe `case-value`: its loss by hand, what it learns, how it resumes, what it saves."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from memserver.domain.policy.features import NAMES
from memserver.domain.policy.folder import read_folder
from memserver_trainers import case_value
from memserver_trainers.case_value import Batch, CaseValue, Config, weighted_loss
from memserver_trainers.dataset import write_dataset
from memserver_trainers.errors import Diverged, Drifted, InvalidValue, NoCheckpoint
from memserver_trainers.recipes import Run
from tests.unit.trainers.made import DIMENSION, ENCODER, dataset, rows, vectors

RUN = Run(now=datetime(2026, 1, 1, tzinfo=UTC))
AUTO = replace(RUN, resume="auto")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("data"), tasks=60).folder


def config(data: Path, out: Path, **said: Any) -> Config:
    usual: dict[str, Any] = {"rank": 4, "batch_size": 16, "weight_decay": 0.1, "seed": 7}
    return Config(data=data, out=out, **{**usual, "max_steps": 40, "evaluate_every": 7, **said})


def weights(out: Path) -> bytes:
    return read_folder(out / "policy").weights


# Loss


def test_the_loss_is_the_weighted_mean_of_cross_entropies() -> None:
    # -log(1/2) of both, since sigmoid(0) is 1/2.
    at_zero = weighted_loss(torch.zeros(2), torch.tensor([1.0, 0.0]), torch.ones(2))
    assert at_zero.item() == pytest.approx(0.693147, abs=1e-6)
    # sigmoid(log 3) is 3/4: weight 3 on -log(3/4) = .287682, weight 1 on -log(1/4) = 1.386294.
    logits = torch.full((2,), float(np.log(3.0)))
    unequal = weighted_loss(logits, torch.tensor([1.0, 0.0]), torch.tensor([3.0, 1.0]))
    assert unequal.item() == pytest.approx((3 * 0.287682 + 1.386294) / 4, abs=1e-6)


def test_a_graded_outcome_is_a_graded_label() -> None:
    # .5 * (.287682 + 1.386294)
    logits = torch.tensor([float(np.log(3.0))])
    loss = weighted_loss(logits, torch.tensor([0.5]), torch.ones(1))
    assert loss.item() == pytest.approx(0.836988, abs=1e-6)


def test_the_logit_is_bias_features_maps_and_cosine() -> None:
    model = CaseValue(torch.tensor([1.0]), torch.tensor([2.0]), dimension=2, rank=1)
    with torch.no_grad():
        model.feature_weight.fill_(3.0)
        model.query_map.copy_(torch.tensor([[1.0, 2.0]]))
        model.item_map.copy_(torch.tensor([[3.0, 0.0]]))
        model.cosine_weight.fill_(0.5)
        model.bias.fill_(-1.0)
    one = torch.ones(1)
    batch = Batch(torch.tensor([[1.0, 1.0]]), torch.tensor([[2.0, 4.0]]), 5 * one[None], one, one)
    # -1 + 3 (5 - 1) / 2 + (1 + 2) (3 * 2) + .5 (2 + 4)
    assert model(batch).item() == pytest.approx(26.0)


# What is learned


def test_it_learns_what_cosine_cannot_see(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "data", tasks=200).folder
    learns = config(folder, tmp_path / "out", max_steps=300, evaluate_every=25)
    found = case_value.train(learns, RUN)["metrics"]
    assert isinstance(found, dict)
    assert found["test_auc_learned"] > found["test_auc_cosine"] + 0.2
    assert found["test_auc_belief"] == 0.5


def test_rows_of_the_held_out_splits_change_no_weight(tmp_path: Path, data: Path) -> None:
    """Their labels are turned round; with patience out of the way the last weights are equal."""

    def turned(row: dict[str, Any]) -> dict[str, Any]:
        held_out = row["split"] != "train"
        return {**row, "rewards": {"outcome": 1 - row["rewards"]["outcome"]}} if held_out else row

    other = map(turned, rows(tasks=60))
    write_dataset(tmp_path / "data", other, vectors(), encoder=ENCODER, namespace="made")
    for folder, out in ((data, "one"), (tmp_path / "data", "two")):
        case_value.train(config(folder, tmp_path / out, patience=100), RUN)
    one, two = (
        torch.load(tmp_path / out / "checkpoint.pt", weights_only=True)["state"]["model"]
        for out in ("one", "two")
    )
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_patience_ends_the_training_and_the_best_look_is_kept(tmp_path: Path, data: Path) -> None:
    hasty = config(data, tmp_path, max_steps=5000, learning_rate=0.3, patience=3)
    summary = case_value.train(hasty, RUN)
    assert summary["steps"] == summary["best_step"] + 3 * hasty.evaluate_every  # type: ignore[operator]
    kept = torch.load(tmp_path / "checkpoint.pt", weights_only=True)["state"]
    saved = read_folder(tmp_path / "policy").tensors()
    assert all(np.array_equal(saved[name], kept["best"][name].numpy()) for name in saved)


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path, data: Path) -> None:
    with pytest.raises(Diverged, match="learning_rate"):
        case_value.train(config(data, tmp_path, learning_rate=1e30), RUN)


# Resuming


def test_a_resumed_run_equals_an_uninterrupted_one_byte_for_byte(
    tmp_path: Path, data: Path
) -> None:
    case_value.train(config(data, tmp_path / "whole", max_steps=40), RUN)
    case_value.train(config(data, tmp_path / "parts", max_steps=20), RUN)
    resumed = case_value.train(config(data, tmp_path / "parts", max_steps=40), AUTO)
    assert resumed["resumed_from"] == 20
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def test_the_seed_decides_the_weights(tmp_path: Path, data: Path) -> None:
    for out, seed in (("one", 1), ("again", 1), ("other", 2)):
        case_value.train(config(data, tmp_path / out, seed=seed), RUN)
    assert weights(tmp_path / "one") == weights(tmp_path / "again")
    assert weights(tmp_path / "one") != weights(tmp_path / "other")


def test_a_killed_run_goes_on_from_its_last_whole_checkpoint(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"max_steps": 40, "checkpoint_every": 10}
    case_value.train(config(data, tmp_path / "whole", **said), RUN)
    saves = []

    def killed_while_saving(*args: Any, **kwargs: Any) -> None:
        if len(saves) == 2:
            (tmp_path / "killed" / ".checkpoint.pt.half").write_bytes(b"half a checkpoint")
            raise KeyboardInterrupt
        saves.append(save(*args, **kwargs))

    save = case_value.save_checkpoint
    with monkeypatch.context() as patched:
        patched.setattr(case_value, "save_checkpoint", killed_while_saving)
        with pytest.raises(KeyboardInterrupt):
            case_value.train(config(data, tmp_path / "killed", **said), RUN)
    assert case_value.train(config(data, tmp_path / "killed", **said), AUTO)["resumed_from"] == 20
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")


def test_auto_begins_anew_where_there_is_no_checkpoint(tmp_path: Path, data: Path) -> None:
    assert case_value.train(config(data, tmp_path), AUTO)["resumed_from"] == 0


def test_another_config_is_refused_by_the_key_that_drifted(tmp_path: Path, data: Path) -> None:
    case_value.train(config(data, tmp_path), RUN)
    with pytest.raises(Drifted) as refused:
        case_value.train(config(data, tmp_path, batch_size=17), AUTO)
    assert refused.value.key == "batch_size"


def test_other_data_is_refused(tmp_path: Path, data: Path) -> None:
    case_value.train(config(data, tmp_path / "out"), RUN)
    other = dataset(tmp_path / "other", tasks=60, seed=1).folder
    with pytest.raises(Drifted) as refused:
        case_value.train(config(other, tmp_path / "out"), AUTO)
    assert refused.value.key == "dataset_sha256"


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, data: Path) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(NoCheckpoint):
        case_value.train(config(data, tmp_path), AUTO)
    with pytest.raises(NoCheckpoint, match="no such file"):
        case_value.train(config(data, tmp_path), replace(RUN, resume=str(tmp_path / "gone.pt")))


# Saving


def test_the_saved_scorer_agrees_with_the_model(tmp_path: Path, data: Path) -> None:
    case_value.train(config(data, tmp_path), RUN)
    folder = read_folder(tmp_path / "policy")
    model = CaseValue(torch.zeros(len(NAMES)), torch.ones(len(NAMES)), dimension=DIMENSION, rank=4)
    model.load_state_dict({name: torch.tensor(each) for name, each in folder.tensors().items()})
    rng = np.random.default_rng(0)
    query = rng.normal(size=DIMENSION).astype(np.float32)
    items = rng.normal(size=(50, DIMENSION)).astype(np.float32)
    known = rng.normal(size=(50, len(NAMES))).astype(np.float32)
    served = folder.scorer().logits(query, items, known)
    nothing = torch.zeros(50)
    queries = torch.from_numpy(query).expand(50, -1)
    batch = Batch(queries, torch.from_numpy(items), torch.from_numpy(known), nothing, nothing)
    assert np.abs(served - model(batch).detach().numpy()).max() < 1e-5


def test_the_manifest_says_what_it_was_trained_on_and_how_it_did(
    tmp_path: Path, data: Path
) -> None:
    summary = case_value.train(config(data, tmp_path), RUN)
    manifest = read_folder(tmp_path / "policy").manifest
    said = json.loads((data / "manifest.json").read_text())
    assert manifest.dataset_sha256 == said["sha256"]
    assert (manifest.encoder, manifest.dimension) == (ENCODER, DIMENSION)
    assert manifest.config_sha256 == config(data, tmp_path).sha256()
    assert (manifest.seed, manifest.created_at) == (7, "2026-01-01T00:00:00+00:00")
    assert manifest.metrics == summary["metrics"]
    assert manifest.evaluation is not None
    assert manifest.evaluation["split"] == "test"


def test_a_dry_run_checks_takes_two_steps_and_saves_nothing(tmp_path: Path, data: Path) -> None:
    dry = replace(RUN, dry_run=True, report_to="tensorboard")
    summary = case_value.train(config(data, tmp_path / "out", device="cuda:9"), dry)
    assert (summary["dry_run"], summary["steps"]) == (True, 2)
    assert not (tmp_path / "out").exists()


def test_event_files_lie_under_the_out_folder(tmp_path: Path, data: Path) -> None:
    case_value.train(config(data, tmp_path), replace(RUN, report_to="tensorboard"))
    assert len(list((tmp_path / "events").iterdir())) == 1


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:99"])
def test_a_device_that_is_none_or_not_there_is_refused(
    tmp_path: Path, data: Path, device: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        case_value.train(config(data, tmp_path, device=device), RUN)
    assert refused.value.key == "device"
