"""The recipe `case-value`: what a remembered case is worth for a task, from the outcomes of tasks
in which it was packed. A logit, linear in the features and bilinear in the vectors of task and
case, fitted to outcomes by cross-entropy: Memento's parametric case value (Zhou et al. 2025)."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor, nn

from memserver.domain.policy import features
from memserver.domain.policy.folder import Manifest, PolicyFolder, write_folder
from memserver.domain.policy.scorer import CASE_VALUE, make_scorer
from memserver_trainers.batches import Batches
from memserver_trainers.checkpoint import Checkpoint, load_checkpoint, resumable, save_checkpoint
from memserver_trainers.config import RunConfig
from memserver_trainers.dataset import DatasetFolder, open_dataset
from memserver_trainers.devices import device_of
from memserver_trainers.errors import Diverged
from memserver_trainers.evaluation import evaluate_ranking
from memserver_trainers.examples import Examples, read_examples
from memserver_trainers.recipes import Run
from memserver_trainers.reporting import Reporter, reporting
from memserver_trainers.within_group import within_group_auc

# Config


@dataclass(frozen=True, kw_only=True)
class Config(RunConfig):
    """Names and meanings are in docs/training.md."""

    reward: Annotated[str, "the reward that says how the task went"] = "outcome"
    rank: Annotated[int, "rows of the two maps whose product compares task and case"] = 16
    batch_size: Annotated[int, "examples a step"] = 256
    learning_rate: Annotated[float, "of AdamW"] = 0.01
    weight_decay: Annotated[float, "of AdamW, on all weights but bias and cosine"] = 1.0
    propensity_clip: Annotated[
        float, "weigh an example by 1 / propensity, at most by this; 0 weighs all alike"
    ] = 0.0
    evaluate_every: Annotated[int, "steps between looks at the validation split"] = 50
    patience: Annotated[int, "stop after so many looks in a row without a better one"] = 10
    checkpoint_every: Annotated[int, "steps between checkpoints"] = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("rank", "batch_size", "evaluate_every", "patience", "checkpoint_every"):
            self.require(getattr(self, key) >= 1, key, "at least 1")
        self.require(self.learning_rate > 0, "learning_rate", "above 0")
        self.require(self.weight_decay >= 0, "weight_decay", "0 or above")
        clip = self.propensity_clip
        self.require(clip == 0 or clip >= 1, "propensity_clip", "0, or 1 or above")


# Data


@dataclass(frozen=True, eq=False)
class Tables:
    """The examples as tensors, on the device where the model is."""

    queries: Tensor
    items: Tensor
    splits: Mapping[str, Mapping[str, Tensor]]

    @classmethod
    def of(cls, examples: Examples, device: torch.device) -> "Tables":
        splits = {
            name: {key: torch.from_numpy(array).to(device) for key, array in vars(split).items()}
            for name, split in examples.splits.items()
        }
        queries, items = torch.from_numpy(examples.queries), torch.from_numpy(examples.items)
        return cls(queries.to(device), items.to(device), splits)

    def batch(self, split: str, chosen: Tensor | slice) -> "Batch":
        rows = {key: table[chosen] for key, table in self.splits[split].items()}
        return Batch(
            query=self.queries[rows["query"]],
            item=self.items[rows["item"]],
            features=rows["features"],
            label=rows["label"],
            weight=rows["weight"],
        )


@dataclass(frozen=True, eq=False)
class Batch:
    """`query` and `item` are [n, d], `features` [n, f], the others [n]."""

    query: Tensor
    item: Tensor
    features: Tensor
    label: Tensor
    weight: Tensor


# Loss


class CaseValue(nn.Module):
    """What `memserver.domain.policy.scorer.CaseValueScorer` computes, under the same names."""

    feature_mean: Tensor
    feature_scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor, *, dimension: int, rank: int) -> None:
        super().__init__()
        self.register_buffer("feature_mean", mean)
        self.register_buffer("feature_scale", scale)
        self.feature_weight = nn.Parameter(torch.zeros(len(mean)))
        self.query_map = nn.Parameter(torch.randn(rank, dimension) / dimension**0.5)
        self.item_map = nn.Parameter(torch.randn(rank, dimension) / dimension**0.5)
        self.cosine_weight = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, batch: Batch) -> Tensor:
        """The logits [n] of a batch."""
        standard = (batch.features - self.feature_mean) / self.feature_scale
        mapped = (batch.query @ self.query_map.T) * (batch.item @ self.item_map.T)
        cosine = (batch.query * batch.item).sum(1)
        known = self.bias + standard @ self.feature_weight
        return known + mapped.sum(1) + self.cosine_weight * cosine


def weighted_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Binary cross-entropy of labels in [0, 1]: a mean in which each counts by its weight. All are
    [n], the weights not all 0."""
    each = nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (weights * each).sum() / weights.sum()


# Loop


@dataclass
class Training:
    """All that a resumed run must find again. `best` are the weights of the lowest validation loss
    so far; `stale` counts the looks since then."""

    model: CaseValue
    optimizer: torch.optim.Optimizer
    step: int = 0
    best: Mapping[str, Tensor] | None = None
    best_loss: float = float("inf")
    best_step: int = 0
    stale: int = 0

    def checkpoint(self) -> Checkpoint:
        own = {"best": self.best, "best_loss": self.best_loss, "best_step": self.best_step}
        weights = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return Checkpoint(self.step, {**weights, **own, "stale": self.stale})

    def restore(self, checkpoint: Checkpoint) -> None:
        state = checkpoint.state
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.stale, self.best = checkpoint.step, state["stale"], state["best"]
        self.best_loss, self.best_step = state["best_loss"], state["best_step"]

    def look(self, tables: Tables) -> float:
        """The validation loss; the weights are kept if it is the best so far."""
        batch = tables.batch("validation", slice(None))
        with torch.no_grad():
            loss = weighted_loss(self.model(batch), batch.label, batch.weight).item()
        self.stale += 1
        if loss < self.best_loss:
            self.best = {name: each.clone() for name, each in self.model.state_dict().items()}
            self.best_loss, self.best_step, self.stale = loss, self.step, 0
        return loss


def begin(examples: Examples, config: Config, device: torch.device) -> Training:
    """An untrained model of the seed; features are standardised as the training split has them."""
    torch.manual_seed(config.seed)
    known = examples.splits["train"].features
    # A feature that never varied here would explode where it does.
    scale = np.where(known.std(0) > 1e-6, known.std(0), np.float32(1))
    mean = torch.from_numpy(known.mean(0))
    dimension = examples.items.shape[1]
    model = CaseValue(mean, torch.from_numpy(scale), dimension=dimension, rank=config.rank)
    model.to(device)
    shrunk = [model.feature_weight, model.query_map, model.item_map]
    parameters: list[dict[str, Any]] = [
        {"params": shrunk, "weight_decay": config.weight_decay},
        {"params": [model.cosine_weight, model.bias], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(parameters, lr=config.learning_rate)
    return Training(model, optimizer)


def steps(
    training: Training, tables: Tables, config: Config, reporter: Reporter
) -> Iterator[Checkpoint]:
    """Trains until `max_steps` or until patience ends; gives a checkpoint when one is due and one
    at the end."""
    batches = Batches(len(tables.splits["train"]["label"]), config.batch_size, config.seed)
    while training.step < config.max_steps and training.stale < config.patience:
        batch = tables.batch("train", torch.from_numpy(batches.at(training.step)))
        loss = weighted_loss(training.model(batch), batch.label, batch.weight)
        training.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        training.optimizer.step()
        training.step += 1
        if not torch.isfinite(loss):
            raise Diverged(training.step)
        values = {"loss": loss.item()}
        if training.step % config.evaluate_every == 0:
            values["validation_loss"] = training.look(tables)
        reporter.step(training.step, values)
        if training.step % config.checkpoint_every == 0:
            yield training.checkpoint()
    yield training.checkpoint()


def train(config: Config, run: Run) -> Mapping[str, object]:
    """Reads, trains, saves the policy of the best look, and says how it went."""
    if run.dry_run:
        config, run = replace(config, max_steps=2, device="cpu"), replace(run, report_to="none")
    device = device_of(config.device)
    dataset = open_dataset(config.data)
    examples = read_examples(dataset, reward=config.reward, propensity_clip=config.propensity_clip)
    tables = Tables.of(examples, device)
    training = begin(examples, config, device)
    sha256 = dataset.manifest.sha256
    resumed = None if run.dry_run else resumable(config.out, run.resume)
    if resumed:
        training.restore(load_checkpoint(resumed, config=config, dataset_sha256=sha256))
    start = training.step
    total = max(start, config.max_steps)
    with reporting(CASE_VALUE, run.report_to, out=config.out, start=start, total=total) as reporter:
        for checkpoint in steps(training, tables, config, reporter):
            if not run.dry_run:
                save_checkpoint(config.out, checkpoint, config=config, dataset_sha256=sha256)
        # A run that goes on would not have taken this look, so it is in no checkpoint.
        if training.step % config.evaluate_every or training.best is None:
            reporter.record(training.step, {"validation_loss": training.look(tables)})
        if training.best is None:  # no look gave a number
            raise Diverged(training.step)
        training.model.load_state_dict(training.best)
        found = metrics(training.model, tables)
        reporter.record(training.step, found)
    said = {"steps": training.step, "best_step": training.best_step, "resumed_from": start}
    summary = {"dry_run": run.dry_run, **said, "metrics": found, "data": examples.counts()}
    if run.dry_run:
        return summary
    policy = save(training.model, dataset, config, metrics=found, run=run)
    place = str(config.out / POLICY)
    return {**summary, "evaluation": policy.manifest.evaluation, "policy": place}


def metrics(model: CaseValue, tables: Tables) -> dict[str, float | None]:
    """Of the held-out splits that have examples: the loss, and how well the value, the cosine and
    the belief's mean order what was tried for one task."""
    found: dict[str, float | None] = {}
    for name in ("validation", "test"):
        rows = tables.splits[name]
        if not len(rows["label"]):
            continue
        batch = tables.batch(name, slice(None))
        with torch.no_grad():
            logits = model(batch)
        found[f"{name}_loss"] = weighted_loss(logits, batch.label, batch.weight).item()
        orders = {
            "learned": logits,
            "cosine": (batch.query * batch.item).sum(1),
            "belief": batch.features[:, features.NAMES.index("belief_mean")],
        }
        labels, groups = batch.label.cpu().numpy(), rows["group"].cpu().numpy()
        for order, scores in orders.items():
            auc = within_group_auc(scores.cpu().numpy(), labels, groups)
            found[f"{name}_auc_{order}"] = auc
    return found


# Save

POLICY = "policy"


def save(
    model: CaseValue,
    dataset: DatasetFolder,
    config: Config,
    *,
    metrics: Mapping[str, float | None],
    run: Run,
) -> PolicyFolder:
    """Writes `policy` in the out folder, in place of the one that an earlier stretch of the run
    left; a run that is killed in between writes it again when it is resumed."""
    weights = {name: each.detach().cpu().numpy() for name, each in model.state_dict().items()}
    scorer = make_scorer(CASE_VALUE, weights)
    manifest = Manifest(
        kind=CASE_VALUE,
        feature_schema=features.SCHEMA_VERSION,
        feature_names=features.NAMES,
        encoder=dataset.manifest.encoder or "",
        dimension=dataset.manifest.dimension or 0,
        dataset_sha256=dataset.manifest.sha256,
        config_sha256=config.sha256(),
        config=config.choices(),
        metrics=dict(metrics),
        evaluation=evaluate_ranking(dataset, scorer, reward=config.reward, seed=config.seed),
        seed=config.seed,
        created_at=run.now.isoformat(),
    )
    place = config.out / POLICY
    if place.exists():
        shutil.rmtree(place)
    return write_folder(place, manifest, weights)
