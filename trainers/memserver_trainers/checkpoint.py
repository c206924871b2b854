"""One file a run, replaced as a whole: whoever is killed finds the last complete one. It says what
it was trained on and how, so that a run is never continued as another."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from memserver_trainers.config import MAY_CHANGE, RunConfig
from memserver_trainers.errors import Drifted, NoCheckpoint

FORMAT = 1
NAME = "checkpoint.pt"


@dataclass(frozen=True)
class Checkpoint:
    """After `step` steps. `state` is the recipe's own: tensors, numbers, texts and containers of
    these. The states of torch's random streams travel beside it."""

    step: int
    state: Mapping[str, Any]


def save_checkpoint(
    out: Path, checkpoint: Checkpoint, *, config: RunConfig, dataset_sha256: str
) -> Path:
    """Puts it in place of the one before, on disk before it returns."""
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "format": FORMAT,
        "step": checkpoint.step,
        "state": dict(checkpoint.state),
        "random": {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all()},
        "config": config.choices(),
        "config_sha256": config.sha256(),
        "dataset_sha256": dataset_sha256,
    }
    handle, name = tempfile.mkstemp(prefix=f".{NAME}.", dir=out)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, out / NAME)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(out, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return out / NAME


def load_checkpoint(file: Path, *, config: RunConfig, dataset_sha256: str) -> Checkpoint:
    """Also puts torch's random streams back. Raises `Drifted` with the key that differs between
    then and now, and `NoCheckpoint` where the file is none."""
    content = _content(file)
    if content["dataset_sha256"] != dataset_sha256:
        raise Drifted("dataset_sha256", was=content["dataset_sha256"], now=dataset_sha256)
    then, now = content["config"], config.choices()
    for key in sorted({*then, *now} - {*MAY_CHANGE}):
        if then.get(key) != now.get(key):
            raise Drifted(key, was=then.get(key), now=now.get(key))
    torch.set_rng_state(content["random"]["cpu"])
    if len(content["random"]["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(content["random"]["cuda"])
    return Checkpoint(content["step"], content["state"])


def resumable(out: Path, resume: str) -> Path | None:
    """The file that `--resume` means: none for `never`, the one in `out` if there is one for
    `auto`, else the path itself, a file or the folder that holds it."""
    if resume == "never":
        return None
    if resume == "auto":
        return out / NAME if (out / NAME).exists() else None
    return Path(resume) / NAME if Path(resume).is_dir() else Path(resume)


def _content(file: Path) -> dict[str, Any]:
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise NoCheckpoint(file, "there is no such file") from error
    except Exception as error:  # torch raises many kinds for a file that is not its own
        raise NoCheckpoint(file, f"it is not a checkpoint ({error})") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise NoCheckpoint(file, "it is not a checkpoint of this version")
    return content
