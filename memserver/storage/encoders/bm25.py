"""BM25 term weights, tokenised by the embedded engine's own code for every index adapter, so
that all of them score alike. The index multiplies by the inverse document frequency itself."""

import re
from collections import Counter

from qdrant_edge import Bm25, Bm25Config, TokenizerType

from memserver.domain.ports import SparseVector

SATURATION = 1.2
LENGTH_NORM = 0.75
AVERAGE_LENGTH = 40.0

# Thai and Lao, Burmese, Khmer, kana, Han, half-width kana, Han beyond the first plane.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003ffff]+"
)


class Bm25Encoder:
    """Weights of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond" (2009), eq. 3.15, without the inverse document frequency. Safe for many threads.

    `language` chooses stop words and stemmer. Scripts without spaces between words go to the
    engine's multilingual tokenizer, all else to its word tokenizer, because each of the two
    loses what the other keeps: Chinese words in the one, numbers in the other.
    """

    def __init__(
        self, language: str = "english", *, average_length: float = AVERAGE_LENGTH
    ) -> None:
        self._average = average_length
        self._words = _tokenizer(TokenizerType.Word, language)
        self._unspaced = _tokenizer(TokenizerType.Multilingual, language)

    def document(self, text: str) -> SparseVector:
        counts = self._counts(text)
        length = sum(counts.values())
        norm = SATURATION * (1 - LENGTH_NORM + LENGTH_NORM * length / self._average)
        return SparseVector(
            tuple(counts),
            tuple(count * (SATURATION + 1) / (count + norm) for count in counts.values()),
        )

    def query(self, text: str) -> SparseVector:
        counts = self._counts(text)
        return SparseVector(tuple(counts), (1.0,) * len(counts))

    def _counts(self, text: str) -> dict[int, int]:
        """How often each term occurs, in the order of the terms' hashes."""
        counts = _term_counts(self._words, _UNSPACED.sub(" ", text))
        if runs := _UNSPACED.findall(text):
            counts += _term_counts(self._unspaced, " ".join(runs))
        return dict(sorted(counts.items()))


def _tokenizer(kind: TokenizerType, language: str) -> Bm25:
    """Without length normalisation, so that a weight tells the count that it was made from."""
    return Bm25(Bm25Config(k=SATURATION, b=0.0, tokenizer=kind, language=language))


def _term_counts(tokenizer: Bm25, text: str) -> Counter[int]:
    made = tokenizer.embed_document(text)
    return Counter(
        {
            index: max(1, round(SATURATION * weight / (SATURATION + 1 - weight)))
            for index, weight in zip(made.indices, made.values, strict=True)
        }
    )
