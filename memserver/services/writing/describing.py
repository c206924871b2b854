"""What is known of an option, in the feature schema of writes."""

import math
from datetime import datetime

from memserver.domain.items import normal_name
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
    told, known = candidate.fact, target.fact
    both = told is not None and known is not None
    return WriteFeatures(
        **about,  # type: ignore[arg-type]
        target=1.0,
        cosine=target.cosine,
        sparse_score=target.sparse,
        overlap=overlap(candidate.words.shingles, target.words.shingles),
        same_entity=float(both and normal_name(told.entity) == normal_name(known.entity)),
        same_key=float(both and normal_name(told.key) == normal_name(known.key)),
        same_value=float(both and same_value(told.value, known.value)),
        names_differ=float(apart.names),
        numbers_differ=float(apart.numbers),
        negations_differ=float(apart.negations),
        target_live=float(target.live),
        target_age_days=(now - target.entry.version.recorded_at).total_seconds() / _DAY_S,
        target_mentions=float(target.mentions),
        target_belief_mean=target.mean,
        target_outcomes=float(target.outcomes),
    )
