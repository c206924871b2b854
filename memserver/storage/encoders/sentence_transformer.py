"""Dense vectors from a sentence-transformers model in this process, the default encoder."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memserver.domain.errors import Invalid
from memserver.storage.encoders.packaged_model import NAME, packaged_model
from memserver.storage.encoders.windowing import Token, cut

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Texts of one batch are padded to the longest; they are sorted by length first, so small
# batches keep a long query from slowing down the short ones that came with it.
QUERY_BATCH = 8
DOCUMENT_BATCH = 16
LONGEST_DEFAULT = 512


class UnusableModel(Invalid):
    code = "unusable_model"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"The encoder model {name} cannot be used: {reason}.")


class SentenceTransformerEncoder:
    """`model` is a hub id or a folder; None takes the packaged all-MiniLM-L6-v2, whose weights
    are checked before they are loaded. Safe for use by many threads.

    `threads` is how many threads PyTorch may use for one call, in the whole process (None keeps
    its own choice). Loading torch takes seconds, so it is imported here and not with the module.
    """

    def __init__(
        self, model: str | None = None, *, device: str = "cpu", threads: int | None = None
    ) -> None:
        source = str(packaged_model()) if model is None else model
        self._name = NAME if model is None else _name(model)
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        self._model = _load(source, device)
        self._tokenizer = _own_tokenizer(self._model, self._name)
        longest = self._model.max_seq_length or LONGEST_DEFAULT
        prompt = (self._model.prompts or {}).get("document") or ""
        specials = self._tokenizer.num_special_tokens_to_add(False)
        self._window = longest - specials - (self.count_tokens(prompt) if prompt else 0)
        # The first calls set the shared tokenizer's truncation and padding; setting them while
        # another thread encodes would fail, setting the same again is skipped.
        self._dimension = len(self.encode_query("warm up"))
        self.encode(["warm up"])
        digest = _weights_digest(self._model)
        self._fingerprint = f"{self._name}@{digest[:16]}/{self._dimension}/{_shape(self._model)}"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def counter(self) -> str:
        return self._name

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        vectors = self._model.encode_document(
            list(texts),
            batch_size=DOCUMENT_BATCH,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self.encode_queries([text])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Several queries' vectors at once, shape [len(texts), dimension]."""
        vectors = self._model.encode_query(
            list(texts),
            batch_size=QUERY_BATCH,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def windows(self, text: str) -> tuple[str, ...]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if len(encoding) <= self._window:
            return (text,)
        tokens = [
            Token(start, end, word)
            for (start, end), word in zip(encoding.offsets, encoding.word_ids, strict=True)
        ]
        return cut(text, tokens, limit=self._window, count=self.count_tokens)

    def close(self) -> None:
        """Nothing to do: the model's memory goes with the object."""


def _load(source: str, device: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    # A server's log is no place for a progress bar that takes half a second.
    progress: Any = logging
    shown = progress.is_progress_bar_enabled()
    progress.disable_progress_bar()
    try:
        return SentenceTransformer(source, device=device)
    finally:
        if shown:
            progress.enable_progress_bar()


def _name(model: str) -> str:
    """A hub id as it is, a folder by its last part: where it lies is no part of what it is."""
    path = Path(model).expanduser()
    return path.resolve().name if path.exists() else model


def _own_tokenizer(model: "SentenceTransformer", name: str) -> Any:
    """A copy of the fast tokenizer that never truncates or pads, so that counting a long text
    cannot disturb an encode that runs at the same time."""
    from tokenizers import Tokenizer

    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UnusableModel(name, "it has no fast tokenizer, which gives character offsets")
    copy = Tokenizer.from_str(backend.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def _weights_digest(model: "SentenceTransformer") -> str:
    """SHA-256 over the parameters' values, whatever they are called and however the files are
    laid out, so that an upgrade of a library does not look like another model."""
    import torch

    digests = []
    for parameter in model.parameters():
        raw = parameter.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
        digests.append(hashlib.sha256(raw.data).digest())
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def _shape(model: "SentenceTransformer") -> str:
    """How token vectors become one: the modules after the transformer."""
    names = []
    for module in list(model)[1:]:
        mode = getattr(module, "pooling_mode", None)
        names.append(str(mode) if mode else type(module).__name__.lower())
    return "+".join(names)
