"""The light rerank: turns of conversations ordered by what their scores, their session and their
own words say, where ranks alone put them by how well a word or a meaning matched.

It looks at the candidates that were loaded anyway, a number that is bounded whatever is stored,
and calls no model.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memserver.domain.ports import Hit
from memserver.services.retrieval import cues
from memserver.services.retrieval.presets import CONTEXT_DENSE, CONTEXT_SPARSE, DENSE, SPARSE
from memserver.services.retrieval.query import Candidate

OWN_WORDS = "its own words"
WORDS_AROUND = "the words around it"
OWN_MEANING = "its own meaning"
MEANING_AROUND = "the meaning around it"
SPEAKER = "its speaker is named"
SESSION = "its session"
LENGTH = "how much it says"
ASKS = "it asks a question"
TIME = "it tells a time"

WEIGHTS: Mapping[str, float] = {
    OWN_WORDS: 1.6,
    WORDS_AROUND: 3.2,
    OWN_MEANING: 1.6,
    MEANING_AROUND: 3.1,
    SPEAKER: 0.8,
    SESSION: 2.7,
    LENGTH: 0.75,
    ASKS: -0.9,
    TIME: 2.3,
}
"""What each part counts. They are those of a softmax over a question's candidates, fitted to
conversations other than those they were judged on (docs/benchmarks.md, locomo), and rounded."""

BEST_OF_SESSION = 3
"""Turns of a session whose mean says how much of the answer lies in it."""

_WORDS = {OWN_WORDS: SPARSE, WORDS_AROUND: CONTEXT_SPARSE}
_MEANING = {OWN_MEANING: DENSE, MEANING_AROUND: CONTEXT_DENSE}


@dataclass(frozen=True, slots=True)
class Reach:
    """The best score of an arm, and one that nothing it left out can exceed."""

    best: float
    floor: float


def reaches(found: Mapping[str, Sequence[Hit]], depth: int) -> dict[str, Reach]:
    """By arm, where each was asked for `depth` hits. One that found fewer left out only what does
    not match at all."""
    return {
        arm: Reach(hits[0].score, hits[-1].score if len(hits) >= depth else 0.0)
        for arm, hits in found.items()
        if hits
    }


def reranked(
    candidates: Sequence[Candidate], reach: Mapping[str, Reach], question: str
) -> list[Candidate]:
    """The same candidates, best fused first. The turns among them exchange their fused scores, so
    that the best by `WEIGHTS` has the highest; everything else keeps its own, and with it its place
    among the turns."""
    turns = [candidate for candidate in candidates if candidate.turn is not None]
    if len(turns) < 2:
        return list(candidates)
    parts = _parts(turns, reach, question)
    order = sorted(turns, key=lambda c: (-sum(parts[c.document].values()), str(c.document)))
    scores = sorted((turn.fused for turn in turns), reverse=True)
    placed = [
        replace(turn, fused=score, parts=parts[turn.document])
        for turn, score in zip(order, scores, strict=True)
    ]
    others = [candidate for candidate in candidates if candidate.turn is None]
    # Stable, so that turns of equal fused scores stay in the new order.
    return sorted([*placed, *others], key=lambda candidate: -candidate.fused)


def _parts(
    turns: Sequence[Candidate], reach: Mapping[str, Reach], question: str
) -> dict[UUID, dict[str, float]]:
    words = cues.names(question)
    wants_time = cues.asks_when(question)
    sessions = _sessions(turns, reach)
    parts: dict[UUID, dict[str, float]] = {}
    for turn in turns:
        assert turn.turn is not None
        values = {part: _share(turn, arm, reach) for part, arm in _WORDS.items()}
        values |= {part: _score(turn, arm, reach) for part, arm in _MEANING.items()}
        values |= {
            SPEAKER: float(cues.is_named(turn.turn.speaker, words)),
            SESSION: sessions[turn.turn.session],
            LENGTH: cues.length(turn.said),
            ASKS: float(cues.asks(turn.said)),
            TIME: float(wants_time and cues.tells_time(turn.said)),
        }
        parts[turn.document] = {part: WEIGHTS[part] * value for part, value in values.items()}
    return parts


def _score(turn: Candidate, arm: str, reach: Mapping[str, Reach]) -> float:
    """The arm's score of a turn; what it left out is taken to be as good as it can be."""
    if arm in turn.arms:
        return turn.arms[arm].score
    return reach[arm].floor if arm in reach else 0.0


def _share(turn: Candidate, arm: str, reach: Mapping[str, Reach]) -> float:
    """The score as a share of the best: BM25's scale differs from question to question."""
    return _score(turn, arm, reach) / reach[arm].best if arm in reach else 0.0


def _sessions(turns: Sequence[Candidate], reach: Mapping[str, Reach]) -> dict[UUID, float]:
    """By session, how well its best turns match, as a share of the best session's."""
    shares: dict[UUID, list[float]] = defaultdict(list)
    for turn in turns:
        assert turn.turn is not None
        shares[turn.turn.session].append(_share(turn, CONTEXT_SPARSE, reach))
    means = {
        session: sum(sorted(of, reverse=True)[:BEST_OF_SESSION]) / BEST_OF_SESSION
        for session, of in shares.items()
    }
    best = max(means.values())
    return {session: mean / best if best > 0 else 0.0 for session, mean in means.items()}
