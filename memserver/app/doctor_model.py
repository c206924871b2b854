"""The encoder that the settings name: it loads, it encodes, and it is the one that the index was
built with."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memserver.app.settings import Settings
from memserver.cli import Finding, Health
from memserver.domain.errors import EncoderChanged, MemserverError
from memserver.domain.ports import Encoder

CHECK = "model"
OFFLINE = "HF_HUB_OFFLINE"


@dataclass(frozen=True, slots=True)
class Model:
    """`dimension` is None where it does not encode, or is another than the index's."""

    finding: Finding
    dimension: int | None = None


def examine_model(
    settings: Settings,
    mark: tuple[int, str] | None,
    make_encoder: Callable[[Settings], Encoder],
) -> Model:
    """The packaged model's weights are compared with the published sum as they are loaded."""
    try:
        with _nothing_downloaded():
            encoder = make_encoder(settings)
        try:
            vector = encoder.encode_query("whether this can be encoded")
            fingerprint, dimension = encoder.fingerprint, encoder.dimension
        finally:
            encoder.close()
    except MemserverError as error:
        return Model(Finding(CHECK, Health.PROBLEM, str(error), _what_helps(settings)))
    except Exception as error:
        says = f"It cannot be loaded ({type(error).__name__})."
        return Model(Finding(CHECK, Health.PROBLEM, says, _what_helps(settings)))
    if vector.shape != (dimension,) or not np.isfinite(vector).all():
        says = f"{fingerprint} gives vectors that cannot be used."
        return Model(Finding(CHECK, Health.PROBLEM, says, _what_helps(settings)))
    if mark is not None and mark[1] != fingerprint:
        return Model(Finding(CHECK, Health.PROBLEM, str(EncoderChanged(mark[1], fingerprint))))
    built = "." if mark is None else ", and is what the index was built with."
    says = f"{fingerprint} encodes{built}"
    return Model(Finding(CHECK, Health.OK, says), dimension)


def _what_helps(settings: Settings) -> str:
    if settings.encoder_url is not None:
        return "Look at the endpoint that MEMSERVER_ENCODER_URL names."
    if settings.encoder is None:
        return "Install the extra anew: pip install --force-reinstall 'memserver[server]'."
    if Path(settings.encoder).expanduser().exists():
        return "Look at the folder that MEMSERVER_ENCODER names."
    return "Nothing was downloaded to look at it: the next start tries that."


@contextmanager
def _nothing_downloaded() -> Iterator[None]:
    """Read by the model hub's library as it is imported, which happens as the encoder is made."""
    given = os.environ.get(OFFLINE)
    os.environ[OFFLINE] = "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[OFFLINE]
        else:
            os.environ[OFFLINE] = given
