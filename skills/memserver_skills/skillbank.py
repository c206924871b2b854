"""Distils a skill bank: general skills, skills of one type of task, and common mistakes, each with
a title, a principle and when it applies.

After SkillRL (Xia et al. 2026, "SkillRL: Evolving Agents via Recursive Skill-Augmented
Reinforcement Learning"). The bank grows recursively: types of task at which agents still fail get
skills from their failures, into the bank that is read; types that go well get none."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memserver.domain.items import Body, Form, Kind, RuleBody, SkillBody, Source
from memserver_skills.experience import Alike, Experience
from memserver_skills.mistakes import told_mistakes
from memserver_skills.plans import Rated
from memserver_skills.proposals import Proposal, signature
from memserver_skills.same_saying import says_the_same
from memserver_skills.slots import Slotted
from memserver_skills.sources import doing, joined
from memserver_skills.task_kinds import Order, TaskKind, kinds_of_task, plain, share
from memserver_skills.words import shorten

METHOD = "distill/skillbank"
SECTION = "section"
SKILL_ID = "skill_id"

TITLE = 100
WHEN = 240
GENERAL_SHARE = 0.5
"""The share of the kinds of task that makes what they do a general skill."""
FEWEST_KINDS = 2
PER_KIND = 4
FEWEST_STEPS = 2


class Section(StrEnum):
    GENERAL = "general"
    TASK_SPECIFIC = "task_specific"
    MISTAKE = "common_mistake"


@dataclass(frozen=True, slots=True)
class Recursion:
    """Which types of task get skills from their failures: those whose success rate is `below`.
    So many of the newest failures are considered, and so many new skills made of them."""

    below: float = 0.4
    failures: int = 10
    new: int = 3


def distil_skillbank(
    experience: Experience, *, recursion: Recursion | None = None
) -> list[Proposal]:
    """The bank's skills by section and id."""
    kinds = kinds_of_task(experience.runs)
    general = _general(kinds)
    seen = [*_general_skills(general), *_specific_skills(kinds, frozenset(general))]
    mistakes = _common_mistakes(experience)
    grown = recursive_update(
        kinds, experience.bank, experience.alike, recursion=recursion or Recursion()
    )
    return sorted([*seen, *mistakes, *grown], key=lambda one: str(one.metadata[SKILL_ID]))


def recursive_update(
    kinds: Sequence[TaskKind],
    bank: Sequence[Rated],
    alike: Alike,
    *,
    recursion: Recursion,
) -> list[Proposal]:
    """What the failures of types that still go badly teach; nothing for a type at or above the
    threshold. A skill has the same id whenever it is made, and what the bank says already in
    other words is not said twice."""
    made = []
    for kind in kinds:
        if kind.success_rate < recursion.below:
            made += _of_failures(kind, recursion)
    return [one for one in made if not _said(one, bank, alike)]


def _of_failures(kind: TaskKind, recursion: Recursion) -> list[Proposal]:
    newest = sorted(kind.bad, key=lambda run: (run.run.created_at, run.run.id.int))
    considered = newest[-recursion.failures :]
    found = [*_told(kind, considered), *_done(kind, considered)]
    found.sort(key=lambda one: (-len(one.sources), one.signature))
    return found[: recursion.new]


def _told(kind: TaskKind, failures: Sequence[Slotted]) -> Iterable[Proposal]:
    for told in told_mistakes([run.run for run in failures], at_least=1):
        assert isinstance(told.body, RuleBody)
        yield _skill(
            Section.TASK_SPECIFIC,
            (kind.name, "told", told.signature),
            title=told.title,
            principle=told.body.text,
            when=told.body.when or kind.template,
            sources=told.sources,
            task_type=kind.task_type,
        )


def _done(kind: TaskKind, failures: Sequence[Slotted]) -> Iterable[Proposal]:
    """What several of these failures did and no success of the type."""
    considered = {run.run.id for run in failures}
    for line, runs in kind.often_wrong().items():
        doers = [run for run in runs if run.run.id in considered]
        if len(doers) > 1:
            yield _skill(
                Section.TASK_SPECIFIC,
                (kind.name, "done", line),
                title=f"Avoid: {plain(line)}",
                principle=f"Do not {plain(line)}: runs that failed did so, none that succeeded.",
                when=kind.template,
                sources=doing([line], doers),
                task_type=kind.task_type,
            )


def _said(made: Proposal, bank: Sequence[Rated], alike: Alike) -> bool:
    """Whether another skill of the bank says it."""
    text = _principle(made.body)
    return any(
        says_the_same(_principle(one.entry.version.body), text, alike)
        for one in bank
        if one.entry.version.metadata.get(SECTION) is not None
        and one.entry.version.metadata.get(SKILL_ID) != made.metadata[SKILL_ID]
    )


def _principle(body: Body) -> str:
    match body:
        case SkillBody(text=text) | RuleBody(text=text):
            return text
        case _:
            return ""


def _general(kinds: Sequence[TaskKind]) -> dict[Order, list[TaskKind]]:
    """What comes before what in so many kinds of task that it is no affair of one."""
    found: dict[Order, list[TaskKind]] = defaultdict(list)
    acted = [kind for kind in kinds if kind.usual]
    for kind in acted:
        for order in kind.orders:
            found[order].append(kind)
    needed = max(FEWEST_KINDS, GENERAL_SHARE * len(acted))
    return {order: held for order, held in found.items() if len(held) >= needed}


def _general_skills(general: dict[Order, list[TaskKind]]) -> Iterable[Proposal]:
    for order, kinds in general.items():
        yield _skill(
            Section.GENERAL,
            (order.first, order.then),
            title=f"{plain(order.first)} first, then {plain(order.then)}",
            principle=f"First {plain(order.first)}, then {plain(order.then)}.",
            when=f"any task that asks to {plain(order.then)}",
            sources=joined(*(_doers(order, kind) for kind in kinds)),
            task_type=None,
        )


def _specific_skills(kinds: Sequence[TaskKind], general: frozenset[Order]) -> Iterable[Proposal]:
    for kind in kinds:
        if len(set(kind.usual)) < FEWEST_STEPS:
            continue
        course = ", then ".join(plain(line) for line in kind.usual)
        yield _skill(
            Section.TASK_SPECIFIC,
            (kind.name, "course"),
            title=f"The usual course: {kind.template}",
            principle=f"{course[:1].upper()}{course[1:]}.",
            when=kind.template,
            sources=doing(kind.usual, kind.good),
            task_type=kind.task_type,
        )
        own = [order for order in kind.orders if order not in general]
        # What the type does that others do not says most about it.
        for order in sorted(own, key=lambda one: -share(one.then, kind.good))[:PER_KIND]:
            yield _skill(
                Section.TASK_SPECIFIC,
                (kind.name, order.first, order.then),
                title=f"{plain(order.first)} first, then {plain(order.then)}",
                principle=f"First {plain(order.first)}, then {plain(order.then)}.",
                when=kind.template,
                sources=_doers(order, kind),
                task_type=kind.task_type,
            )


def _doers(order: Order, kind: TaskKind) -> tuple[Source, ...]:
    both = [run for run in kind.good if {order.first, order.then} <= set(run.lines)]
    return doing([order.first, order.then], both)


def _common_mistakes(experience: Experience) -> Iterable[Proposal]:
    """Mistakes that more than one type of task knows; those of one are its own affair, and the
    recursive update's."""
    types = {run.id: run.task.type for run in experience.runs}
    for told in told_mistakes(experience.runs):
        if len({types[source.trajectory_id] for source in told.sources}) > 1:
            assert isinstance(told.body, RuleBody)
            yield _skill(
                Section.MISTAKE,
                ("told", told.signature),
                title=told.title,
                principle=told.body.text,
                when=told.body.when,
                sources=told.sources,
                task_type=None,
            )


def _skill(
    section: Section,
    named: tuple[str, ...],
    *,
    title: str,
    principle: str,
    when: str,
    sources: Iterable[Source],
    task_type: str | None,
) -> Proposal:
    name = signature(METHOD, section, *named)
    where = shorten(when, WHEN)
    mistake = section is Section.MISTAKE
    return Proposal(
        signature=name,
        kind=Kind.RULE if mistake else Kind.SKILL,
        title=shorten(title[:1].upper() + title[1:], TITLE),
        body=(
            RuleBody(text=principle, when=where)
            if mistake
            else SkillBody(when=where, text=principle, form=Form.DOCUMENT.value)
        ),
        method=METHOD,
        sources=tuple(sources),
        task_type=task_type,
        metadata={SECTION: section.value, SKILL_ID: f"{section.value}-{name[:12]}"},
    )
