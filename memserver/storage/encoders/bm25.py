"""BM25 term weights, made by the embedded engine's own code for every index adapter, so that
all of them score alike. The index multiplies by the inverse document frequency itself."""

import re

from qdrant_edge import Bm25, Bm25Config, TokenizerType

from memserver.domain.ports import SparseVector

AVERAGE_LENGTH = 40.0

# Thai and Lao, Burmese, Khmer, kana, Han, half-width kana, Han beyond the first plane.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003ffff]+"
)


class Bm25Encoder:
    """Words with k 1.2 and b .75; `language` chooses stop words and stemmer. A document of more
    than `average_length` words weighs each of them less. Safe for use by many threads.

    Scripts without spaces between words become characters and pairs of neighbours. The engine
    has a tokenizer with dictionaries for them, but what it makes of a word depends on the text
    around it (a search for 寿司 misses 寿司が好き), and it drops numbers from every text.
    """

    def __init__(
        self, language: str = "english", *, average_length: float = AVERAGE_LENGTH
    ) -> None:
        self._bm25 = Bm25(
            Bm25Config(tokenizer=TokenizerType.Word, language=language, avg_len=average_length)
        )

    def document(self, text: str) -> SparseVector:
        made = self._bm25.embed_document(_spaced(text))
        return SparseVector(tuple(made.indices), tuple(made.values))

    def query(self, text: str) -> SparseVector:
        made = self._bm25.embed_query(_spaced(text))
        return SparseVector(tuple(made.indices), tuple(made.values))


def _spaced(text: str) -> str:
    return _UNSPACED.sub(_characters_and_pairs, text)


def _characters_and_pairs(match: re.Match[str]) -> str:
    run = match[0]
    pairs = (run[start : start + 2] for start in range(len(run) - 1))
    return f" {' '.join(run)} {' '.join(pairs)} "
