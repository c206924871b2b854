"""What is known of an option, in the feature schema of writes."""

import math
from datetime import datetime

from memserver.domain.items import FactBody, normal_name
from memserver.domain.policy.write_features import Operation, WriteFeatures
from memserver.services.writing.candidates import Candidate, Neighbour, Sort, same_value
from memserver.services.writing.likeness import differences
from memserver_skills.near_duplicates import overlap

_DAY_S = 86_400.0


def features_of(
    candidate: Candidate,
    operation: Operation | None,
    target: Neighbour | None,
    *,
    rules: bool,
    searched: bool,
    now: datetime,
) -> WriteFeatures:
    about = {
        "operation": operation,
        "rules": float(rules),
        "searched": float(searched),
        "candidate_fact": float(candidate.sort is Sort.FACT),
        "candidate_retraction": float(candidate.sort is Sort.RETRACTION),
        "candidate_correction": float(candidate.correction),
        "candidate_words": math.log1p(len(candidate.words.said)),
    }
    if target is None:
        return WriteFeatures(**about)  # type: ignore[arg-type]
    apart = differences(candidate.words, target.words)
    entity, key, value = _shared(candidate.fact, target.fact)
    return WriteFeatures(
        **about,  # type: ignore[arg-type]
        target=1.0,
        cosine=target.cosine,
        sparse_score=target.sparse,
        overlap=overlap(candidate.words.shingles, target.words.shingles),
        same_entity=float(entity),
        same_key=float(key),
        same_value=float(value),
        names_differ=float(apart.names),
        numbers_differ=float(apart.numbers),
        negations_differ=float(apart.negations),
        target_live=float(target.live),
        target_age_days=(now - target.entry.version.recorded_at).total_seconds() / _DAY_S,
        target_mentions=float(target.mentions),
        target_belief_mean=target.mean,
        target_outcomes=float(target.outcomes),
    )


def _shared(told: FactBody | None, known: FactBody | None) -> tuple[bool, bool, bool]:
    """Whether entity, key and value of two facts are the same."""
    if told is None or known is None:
        return False, False, False
    return (
        normal_name(told.entity) == normal_name(known.entity),
        normal_name(told.key) == normal_name(known.key),
        same_value(told.value, known.value),
    )
