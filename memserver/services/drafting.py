"""A chat model words what is to stand for a region. It looks at the bank by the same tools and on
the same budget as the rules, a few rounds long, and hears of the verifier before it is refused."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from memserver.domain.items import RuleBody, SkillBody
from memserver.services.asking import Asking
from memserver.services.drafting_prompt import (
    LAST,
    LOOKED,
    REFUSED,
    REGION,
    SYSTEM,
    Answer,
    Item,
    Look,
)
from memserver_skills.drafts import Draft, Judge, Judged, Proposal
from memserver_skills.inspecting import Inspecting
from memserver_skills.plans import Rated
from memserver_skills.words import shorten

ROUNDS = 3
ANSWER_TOKENS = 1_500
LONGEST_SHOWN = 1_000
"""Of what is looked up; the region's items are shown whole."""
MOST_STEPS = 20
MOST_REMEMBERED = 10_000
LEFT_ALONE = "model: left as they are"
ENDS = ("budget spent", "unavailable")


class Drafting:
    """Keeps in mind which regions came to nothing, so that a bank that is consolidated again and
    again does not pay for the same ones."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._came_to_nothing: set[frozenset[UUID]] = set()

    def for_tenant(self, tenant: UUID) -> "Author":
        return Author(self._asking, tenant, self._came_to_nothing)

    def forget(self) -> None:
        """Versions may have become others by the same ids."""
        self._came_to_nothing.clear()


class Author:
    """Must not be used inside a transaction: a model takes seconds."""

    def __init__(self, asking: Asking, tenant: UUID, came_to_nothing: set[frozenset[UUID]]) -> None:
        self._asking = asking
        self._tenant = tenant
        self._came_to_nothing = came_to_nothing

    def wants(self, region: Sequence[Rated]) -> bool:
        return _named(region) not in self._came_to_nothing

    def propose(self, region: Sequence[Rated], inspecting: Inspecting, *, judge: Judge) -> Proposal:
        """Asks at most `ROUNDS` questions. Raises `BudgetSpent` where the looks are."""
        shown = _Shown(region)
        told = [shown.region()]
        drafts: tuple[Draft, ...] = ()
        verdict = Judged()
        for left in reversed(range(ROUNDS)):
            question = "\n\n".join([*told, *([] if left else [LAST])])
            answer = self._asking.asked(
                self._tenant, SYSTEM, question, Answer, max_tokens=ANSWER_TOKENS
            )
            if answer.value is None:
                # What was proposed before is still worth what the verifier makes of it.
                reason = f"model: {answer.outcome}"
                return Proposal(drafts, reason, ends=answer.outcome in ENDS)
            if answer.value.items:
                drafts = tuple(shown.draft(item) for item in answer.value.items)
                verdict = judge(drafts)
                if not verdict.reasons:
                    return Proposal(drafts)
                told = [*told, REFUSED.format(reasons=shown.reasons(verdict.reasons))]
            elif answer.value.looks and left:
                found = [shown.look(one, inspecting) for one in answer.value.looks]
                told = [*told, LOOKED.format(found="\n".join(map(_line, found)))]
            else:
                break
        if not verdict.made:
            self._remember(region)
        return Proposal(drafts, None if drafts else LEFT_ALONE)

    def _remember(self, region: Sequence[Rated]) -> None:
        if len(self._came_to_nothing) >= MOST_REMEMBERED:
            self._came_to_nothing.clear()
        self._came_to_nothing.add(_named(region))


def _named(region: Sequence[Rated]) -> frozenset[UUID]:
    return frozenset(one.version for one in region)


class _Shown:
    """The items that a model has seen, by the numbers that it knows them by."""

    def __init__(self, region: Sequence[Rated]) -> None:
        self._region = len(region)
        self._items = [one.item for one in region]
        self._members = {one.item: one for one in region}

    def region(self) -> str:
        rows = [{"number": self._number(one), **_told(one)} for one in self._members.values()]
        return REGION.format(items="\n".join(map(_line, rows)))

    def draft(self, item: Item) -> Draft:
        """A number that is none of the region's names no item, and the verdict says so."""
        return Draft(
            replaces=tuple(
                self._items[number - 1] if 1 <= number <= self._region else UUID(int=0)
                for number in item.replaces
            ),
            kind=item.kind,
            title=item.title,
            text=item.text,
            when=item.when,
            goal=item.goal,
            steps=tuple(item.steps),
        )

    def reasons(self, reasons: Sequence[str]) -> str:
        said = "\n".join(f"- {reason}" for reason in reasons)
        for number, item in enumerate(self._items, 1):
            said = said.replace(str(item), f"item {number}")
        return said

    def look(self, look: Look, inspecting: Inspecting) -> dict[str, Any]:
        """What a look shows, and what it was."""
        asked = {"tool": look.tool, "text": look.text, "number": look.number}
        if look.tool == "search":
            hits = inspecting.search(look.text)
            seen = [{"number": self._numbered(hit.item), "title": hit.title} for hit in hits]
            return {**asked, "found": seen}
        if not 1 <= look.number <= len(self._items):
            return {**asked, "found": None}
        one = inspecting.inspect(self._items[look.number - 1])
        if look.tool == "inspect":
            return {**asked, "found": None if one is None else _shortened(_told(one))}
        sources = () if one is None else one.entry.version.sources
        run = inspecting.trace(sources[0].trajectory_id) if sources else None
        if run is None:
            return {**asked, "found": None}
        steps = [shorten(step.action, LONGEST_SHOWN) for step in run.steps[:MOST_STEPS]]
        return {**asked, "found": {"goal": shorten(run.task.goal, LONGEST_SHOWN), "steps": steps}}

    def _number(self, one: Rated) -> int:
        return self._items.index(one.item) + 1

    def _numbered(self, item: UUID) -> int:
        if item not in self._items:
            self._items.append(item)
        return self._items.index(item) + 1


def _told(one: Rated) -> dict[str, Any]:
    version = one.entry.version
    said: dict[str, Any] = {"kind": one.entry.item.kind.value, "title": version.title}
    match version.body:
        case SkillBody(goal=goal, steps=steps, slots=slots):
            said |= {"goal": goal, "steps": [step.action for step in steps]}
            if slots:
                said["slots"] = {slot.name: slot.example for slot in slots}
        case RuleBody(text=text, when=when):
            said |= {"text": text, "when": when}
        case body:
            said |= asdict(body)
    return said


def _shortened(said: dict[str, Any]) -> dict[str, Any]:
    short: dict[str, Any] = {}
    for key, value in said.items():
        match value:
            case str():
                short[key] = shorten(value, LONGEST_SHOWN)
            case list() | tuple():
                short[key] = [shorten(str(one), LONGEST_SHOWN) for one in value[:MOST_STEPS]]
            case _:
                short[key] = value
    return short


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)
