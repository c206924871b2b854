"""Which guards a situation meets: the text is near, the action and the intent are the same."""

import re
from collections.abc import Sequence

from memserver.domain.evidence import Belief, total
from memserver.domain.items import Entry, Kind, Version, normal_name
from memserver.domain.ports import Store
from memserver.domain.scope import Namespace, Scope
from memserver.services.guarding.situations import Condition, Guard, Situation, Verdict
from memserver.services.nearby import Near, Nearby

METHOD = "guardrail"
NEAR_TEXT = 0.5
SAME_INTENT = 0.6
SAME_BELIEF = 0.75
SAME_ACTION = 0.8
"""Cosines from which texts are near, and intents, beliefs and actions the same."""
NO = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|cannot|neither|nor|nicht|kein\w*|nie|ohne|pas|"
    r"jamais|sans|sin|nunca|non|senza|sem|não)\b|n['’]t\b|[不没無未]",
    re.IGNORECASE,
)


class Matching:
    def __init__(self, store: Store, nearby: Nearby) -> None:
        self._store = store
        self._nearby = nearby

    def guards(
        self, scope: Scope, namespaces: Sequence[Namespace], situation: Situation
    ) -> list[tuple[Guard, Entry]]:
        """Nearest first. Not to be called inside a transaction."""
        near = [
            one
            for one in self._nearby.find(scope, namespaces, situation.text, kind=Kind.RULE)
            if one.similarity >= NEAR_TEXT
            and one.entry.version.method == METHOD
            and self._meets(one.entry.version, situation)
        ]
        with self._store.reading() as reader:
            beliefs = reader.beliefs(scope, [one.entry.version.id for one in near])
        return [
            (_guard(one, total(version, beliefs.get(version, ()))), one.entry)
            for one in near
            for version in [one.entry.version.id]
        ]

    def _meets(self, version: Version, situation: Situation) -> bool:
        """What a rule does not ask for, every situation has; an intent that is not stated may be
        the one that did harm. A condition must be stated."""
        told = version.metadata
        if not self._same(str(told.get("action", "")), situation.action, SAME_ACTION):
            return False
        intent = str(told.get("intent", ""))
        if intent and situation.intent and not self._same(intent, situation.intent, SAME_INTENT):
            return False
        condition = condition_told(version)
        if condition is None or condition.met_by(situation):
            return True
        # A place has one name; what is believed is said in many ways.
        return (
            not condition.named
            and bool(situation.belief)
            and self._same(condition.words, situation.belief, SAME_BELIEF)
        )

    def _same(self, one: str, other: str, least: float) -> bool:
        if normal_name(one) == normal_name(other):
            return True
        # To an encoder, a sentence and its denial are all but the same.
        if denials(one) % 2 != denials(other) % 2:
            return False
        return self._nearby.similarity(one, other) >= least


def denials(text: str) -> int:
    return len(NO.findall(text))


def condition_told(version: Version) -> Condition | None:
    told = version.metadata
    if not told.get("condition"):
        return None
    return Condition(bool(told.get("named")), str(told["condition"]))


def _guard(near: Near, belief: Belief) -> Guard:
    version = near.entry.version
    return Guard(
        item=near.entry.item.id,
        version=version.id,
        verdict=Verdict(version.metadata.get("verdict", Verdict.BLOCK)),
        condition=condition_told(version),
        similarity=near.similarity,
        successes=belief.successes,
        failures=belief.failures,
    )
