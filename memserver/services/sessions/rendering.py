"""The working memory as an agent reads it: what matters most first, within a token budget."""

import json
from collections.abc import Iterable
from typing import Any

from memserver.domain.sessions.events import Link, Message, ToolCall, Verdict
from memserver.domain.sessions.state import Candidate, Curated, State, Turn
from memserver.services.sessions.fitting import Count, Fitted, Part, fit


def render(state: State, *, budget: int, count: Count) -> Fitted:
    """The state's text, which never counts for more than the budget. Evidence that somebody
    refuted is left to the structured state."""
    return fit([*standing(state), *passing(state)], budget=budget, count=count)


def standing(state: State) -> list[Part]:
    """What stands until it is changed: ledger, rules, report, verified evidence."""
    verified = [one for one in state.evidence if one.verdict is Verdict.SUPPORTED]
    return [
        Part(
            "ledger",
            "State of the task:",
            tuple(f"{key} = {as_json(value)}" for key, value in state.ledger.items()),
            last_first=True,
        ),
        Part(
            "rules",
            "Rules that calls are held to:",
            tuple(f"{rule.name}: {rule.because}" for rule in state.rules),
        ),
        Part(
            "report",
            "Report so far:",
            tuple(f"{section}: {text}" for section, text in state.report.items()),
            cuts=True,
        ),
        Part("evidence", "Verified evidence:", tuple(map(_claim, verified))),
    ]


def passing(state: State) -> list[Part]:
    """What passes: recent turns, the candidate pool, claims that nobody has verified."""
    unclear = [one for one in state.evidence if one.verdict is Verdict.UNCLEAR]
    said = [turn_text(turn) for turn in state.turns]
    if state.summary is not None:
        said = [f"Before: {state.summary.text}", *said]
    pool = sorted(state.candidates, key=lambda one: (-_score(one), one.name))
    return [
        Part("turns", "Recent turns:", tuple(said), last_first=True, cuts=True),
        Part("candidates", "Candidates, not yet judged:", tuple(map(candidate_text, pool))),
        Part("unverified", "Claims that nobody has verified:", tuple(map(_claim, unclear))),
    ]


def turn_text(turn: Turn) -> str:
    match turn.said:
        case Message(speaker=speaker, text=text):
            return f"[{turn.seq}] {speaker}: {text}"
        case ToolCall(name=name, arguments=arguments):
            return f"[{turn.seq}] calls {name} {as_json(arguments)}"
        case answered:
            failed = " failed" if answered.is_error else ""
            return f"[{turn.seq}] {answered.name}{failed}: {answered.text}"


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=list)


def _claim(one: Curated) -> str:
    judges = [
        f"{judged.verdict} by {judged.by}" + (f" ({judged.note})" if judged.note else "")
        for judged in one.verifications
    ]
    return f"{one.name}: {one.claim}{_aside([*_links(one.links), *judges])}"


def candidate_text(one: Candidate) -> str:
    score = [] if one.score is None else [f"score {one.score:g}"]
    return f"{one.name}: {one.text}{_aside([*score, *_links(one.links)])}"


def _score(one: Candidate) -> float:
    return float("-inf") if one.score is None else one.score


def _links(links: Iterable[Link]) -> list[str]:
    return [f"{link.kind} {link.target}" for link in links]


def _aside(remarks: list[str]) -> str:
    return f" [{'; '.join(remarks)}]" if remarks else ""
