"""Working regions: the parts of a bank that a consolidation takes on, most worth it first.

A region is evidence and nothing is done to it: what is to replace it is made beside it and
verified against it (Auto-Dreamer)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memserver_skills.groups import Group
from memserver_skills.near_duplicates import overlap, shingles
from memserver_skills.plans import Rated

DAYS_OLD = 30.0
"""At this age a region counts half as old as one can be."""


@dataclass(frozen=True, slots=True)
class Region:
    """`redundancy` is how much of the wording the members share with their leader, [0, 1];
    `age_days` is that of the youngest member; `use` is the members' mean lower bound."""

    group: Group
    redundancy: float
    age_days: float
    use: float

    @property
    def members(self) -> tuple[Rated, ...]:
        return self.group.members

    @property
    def worth(self) -> float:
        """What there is to gain: items that say nothing new, that have settled, and that are
        not what has been seen to help most."""
        settled = self.age_days / (self.age_days + DAYS_OLD)
        gain = self.redundancy * (len(self.members) - 1)
        return gain * (1 + settled) * (2 - self.use)


def regions(groups: Sequence[Group], *, now: datetime) -> list[Region]:
    """The groups in which there is something to do, those with most to gain first."""
    found = [_region(group, now) for group in groups if group.followers]
    return sorted(found, key=lambda region: (-region.worth, region.group.leader.item))


def _region(group: Group, now: datetime) -> Region:
    said = shingles(group.leader.entry.version.text)
    members = group.members
    shared = [overlap(shingles(one.entry.version.text), said) for one in members[1:]]
    newest = max(one.entry.item.created_at for one in members)
    return Region(
        group,
        redundancy=sum(shared) / len(shared),
        age_days=max(0.0, (now - newest).total_seconds() / 86_400),
        use=sum(one.belief.lower_bound for one in members) / len(members),
    )
