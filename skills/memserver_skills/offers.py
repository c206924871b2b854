"""What rules leave of a bank, in regions that are worth being worded by somebody else: what they
saw to be alike and could not join, paraphrases, and procedures that share their steps."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from uuid import UUID

from memserver.domain.items import Kind, RuleBody, SkillBody, TextBody
from memserver_skills.groups import block, standing
from memserver_skills.inspecting import Inspecting
from memserver_skills.plans import NearDuplicates, Rated, Refusal, Settings
from memserver_skills.procedures import steps_of

FEWEST_STEPS = 3
SEARCHED = 6
MOST_MEMBERS = 6
"""A region of more is more than one reader holds in mind."""


def offers(
    left: Sequence[Rated],
    refused: Sequence[Refusal],
    inspecting: Inspecting,
    *,
    near: NearDuplicates,
    settings: Settings,
) -> Iterator[tuple[Rated, ...]]:
    """Regions of two or more of what is `left`, each item in one of them at most. Lazy: what is
    not asked for costs no look. Raises `BudgetSpent`."""
    short = [one for one in left if len(one.entry.version.text) <= settings.longest]
    waiting = {one.item: one for one in sorted(short, key=standing)}
    texts = {item: one for item, one in waiting.items() if _is_text(one)}
    yield from _unjoined(texts, refused)
    for one in list(texts.values()):
        if one.item in texts:
            found = _paraphrases(one, texts, inspecting, near=near, settings=settings)
            if found:
                yield _given((one, *found), texts)
    yield from _procedures([one for one in waiting.values() if not _is_text(one)])


def _is_text(rated: Rated) -> bool:
    return isinstance(rated.entry.version.body, RuleBody | TextBody)


def _given(members: Sequence[Rated], waiting: dict[UUID, Rated]) -> tuple[Rated, ...]:
    for one in members:
        del waiting[one.item]
    return tuple(members)


def _unjoined(
    waiting: dict[UUID, Rated], refused: Sequence[Refusal]
) -> Iterator[tuple[Rated, ...]]:
    """What almost shares its wording, by the item that it was held against."""
    beside: dict[UUID, list[UUID]] = defaultdict(list)
    for refusal in refused:
        beside[refusal.items[-1]] += refusal.items[:-1]
    for leader, others in beside.items():
        items = [item for item in dict.fromkeys([leader, *others]) if item in waiting]
        if len(items) > 1:
            yield _given([waiting[item] for item in items[:MOST_MEMBERS]], waiting)


def _paraphrases(
    one: Rated,
    waiting: dict[UUID, Rated],
    inspecting: Inspecting,
    *,
    near: NearDuplicates,
    settings: Settings,
) -> list[Rated]:
    """Near by the vectors, whatever their wording."""
    hits = inspecting.search(one.entry.version.text, k=SEARCHED)
    others = [waiting[hit.item] for hit in hits if hit.item in waiting and hit.item != one.item]
    return [
        other
        for other in others
        if block(other) == block(one)
        and (near(one.version, other.version) or 0.0) >= settings.paraphrase
    ][: MOST_MEMBERS - 1]


def _procedures(left: Sequence[Rated]) -> Iterator[tuple[Rated, ...]]:
    """As many steps, each opened by the same word: goals and all that follows may differ."""
    alike: dict[Hashable, list[Rated]] = defaultdict(list)
    for one in left:
        body = one.entry.version.body
        if isinstance(body, SkillBody) and one.entry.item.kind is Kind.SKILL and body.goal:
            opening = tuple(step[:1] for step in steps_of(body))
            if len(opening) >= FEWEST_STEPS and all(opening):
                alike[block(one), opening].append(one)
    for members in alike.values():
        for start in range(0, len(members) - 1, MOST_MEMBERS):
            part = members[start : start + MOST_MEMBERS]
            if len(part) > 1:
                yield tuple(part)
