"""Distils rules from mistakes: those that runs were told to have made, and actions that recur
in failures and in no success of the same kind of task."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memserver.domain.items import Kind, RuleBody, Source
from memserver.domain.trajectories import Trajectory
from memserver_skills.proposals import Proposal, signature
from memserver_skills.run_groups import shared_type
from memserver_skills.slots import Slotted, slotted
from memserver_skills.words import one_line, shorten, stems

METHOD = "distill/mistakes"

TITLE = 90
# Two tellings are one mistake when this share of their content words is common to both.
SAME = 0.4
# A mistake is common when this many runs made it; below this many runs, once is enough.
COMMON = 2
FEW_RUNS = 10
RECURS = 3

_BREAK = re.compile(r"[,;:(]|\s(?:and|or|but)?\s*(?:instead|without)\b")
_DANGLING = re.compile(r"\s(?:and|or|but|by)$")
_PARTS = re.compile(r"^When: (?P<when>.*?)\nAvoid: (?P<avoid>.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Telling:
    """One mistake as one run tells it. A text of the form "When: …", line break, "Avoid: …"
    has its two parts kept apart."""

    run: Trajectory
    text: str
    when: str
    words: frozenset[str]


@dataclass(slots=True)
class _Cluster:
    tellings: list[_Telling] = field(default_factory=list)

    @property
    def first(self) -> _Telling:
        return self.tellings[0]

    @property
    def runs(self) -> dict[UUID, Trajectory]:
        return {telling.run.id: telling.run for telling in self.tellings}


def distil_mistakes(runs: Sequence[Trajectory]) -> list[Proposal]:
    """Rules, those that most runs speak for first."""
    rules = [*told_mistakes(runs), *_recurring(slotted(runs))]
    return sorted(rules, key=lambda rule: (-rule.metadata["runs"], rule.signature))


def told_mistakes(runs: Sequence[Trajectory], *, at_least: int | None = None) -> Iterable[Proposal]:
    """The mistakes that `at_least` so many runs were told to have made; where it is not said, as
    many as make a mistake common among that many runs."""
    ordered = sorted(runs, key=lambda run: (run.created_at, run.id.int))
    tellings = [_telling(run, text) for run in ordered for text in run.mistakes if text.strip()]
    few = sum(bool(run.mistakes) for run in ordered) < FEW_RUNS
    needed = at_least or (1 if few else COMMON)
    for cluster in _clusters(tellings):
        if len(cluster.runs) >= needed:
            yield _propose_told(cluster)


def _telling(run: Trajectory, text: str) -> _Telling:
    parts = _PARTS.match(text.strip())
    when, avoid = (parts["when"], parts["avoid"]) if parts else ("", text)
    return _Telling(run, one_line(avoid), one_line(when), stems(avoid))


def _clusters(tellings: Sequence[_Telling]) -> list[_Cluster]:
    """Each telling joins the earlier first telling that it overlaps most with, or starts a
    cluster of its own. Earlier clusters stay what they are when later runs are added."""
    clusters: list[_Cluster] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    for telling in tellings:
        shared = Counter(place for word in telling.words for place in by_word[word])
        size = len(telling.words)
        ranked = [
            (common / (size + len(clusters[place].first.words) - common), -place)
            for place, common in shared.items()
        ]
        overlap, place = max(ranked, default=(0.0, 0))
        if overlap >= SAME:
            clusters[-place].tellings.append(telling)
            continue
        for word in telling.words:
            by_word[word].append(len(clusters))
        clusters.append(_Cluster([telling]))
    return clusters


def _propose_told(cluster: _Cluster) -> Proposal:
    core = _most_typical(cluster.tellings)
    return Proposal(
        signature=signature(METHOD, "told", " ".join(sorted(cluster.first.words))),
        kind=Kind.RULE,
        title=shorten(f"Avoid: {_clause(core.text)}", TITLE),
        body=RuleBody(text=f"Avoid: {core.text}", when=core.when),
        method=METHOD,
        sources=tuple(Source(run_id) for run_id in cluster.runs),
        task_type=shared_type(run.task.type for run in cluster.runs.values()),
        metadata={"runs": len(cluster.runs)},
    )


def _most_typical(tellings: Sequence[_Telling]) -> _Telling:
    """The telling whose words most others use too, per word."""
    used = Counter(word for telling in tellings for word in telling.words)
    return min(
        tellings,
        key=lambda telling: (
            -sum(used[word] for word in telling.words) / (len(telling.words) + 5),
            telling.text,
        ),
    )


def _clause(text: str) -> str:
    """The text up to its first break, where that says enough."""
    head = _BREAK.split(text, maxsplit=1)[0].strip()
    head = _DANGLING.sub("", head)
    head = head if len(head.split()) >= 4 else text
    return head[:1].lower() + head[1:]


def _recurring(runs: Sequence[Slotted]) -> Iterable[Proposal]:
    """Actions that at least three failures of one kind of task share and no success of it has;
    only where there is a success to compare with."""
    good: dict[str, set[str]] = defaultdict(set)
    bad: dict[str, dict[str, list[Slotted]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.run.outcome is None:
            continue
        if run.run.succeeded:
            good[run.key].update(run.lines)
        else:
            for line in sorted(set(run.lines)):
                bad[run.key][line].append(run)
    for key, lines in sorted(bad.items()):
        for line, failed in sorted(lines.items()):
            if key in good and line not in good[key] and len(failed) >= RECURS:
                yield _propose_recurring(key, line, failed)


def _propose_recurring(key: str, line: str, failed: Sequence[Slotted]) -> Proposal:
    template = min(run.template for run in failed)
    return Proposal(
        signature=signature(METHOD, "step", key, line),
        kind=Kind.RULE,
        title=shorten(f"Avoid: {line}", TITLE),
        body=RuleBody(
            text=f"Avoid: {line}. {len(failed)} failed runs did it and no successful one.",
            when=template,
        ),
        method=METHOD,
        sources=tuple(
            Source(
                run.run.id,
                tuple(
                    position
                    for done, position in zip(run.lines, run.positions, strict=True)
                    if done == line
                ),
            )
            for run in failed
        ),
        task_type=shared_type(run.run.task.type for run in failed),
        metadata={"runs": len(failed)},
    )
