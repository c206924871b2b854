"""How standing fades: what nothing has been heard of for long counts for less."""

import math
from datetime import datetime

from memserver.domain.evidence import Belief

A_DAY = 86_400
USUAL_HALF_LIFE = 30.0
"""Days, where a namespace sets none and yet has to choose what goes."""


def decay(last: datetime, *, now: datetime, half_life_days: float) -> float:
    """A factor in (0, 1]: 1 at the time of the last use, a half one half-life later."""
    days = max(0.0, (now - last).total_seconds() / A_DAY)
    return max(math.exp2(-days / half_life_days), math.ulp(0.0))


def last_use(belief: Belief, *known_since: datetime) -> datetime:
    """When it was last told, told again, or credited with an outcome."""
    return max(filter(None, (belief.last, *known_since)))


def keeping(
    belief: Belief, *known_since: datetime, now: datetime, half_life_days: float | None
) -> float:
    """What it is worth to keep something, to be compared within a namespace: whether it helps,
    times how much it is used of late. What nothing is known of has the prior's mean."""
    uses = 1 + math.log1p(belief.outcomes + belief.mentions)
    faded = decay(
        last_use(belief, *known_since),
        now=now,
        half_life_days=half_life_days or USUAL_HALF_LIFE,
    )
    return (belief.mean + belief.lower_bound) * uses * faded
