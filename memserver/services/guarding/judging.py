"""From the guards that match to a verdict. Local overrides broad (LiSA, conflict-aware rules)."""

from collections.abc import Sequence
from dataclasses import dataclass

from memserver.services.guarding.situations import Guard, Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """`cited` decided, `overridden` would have said otherwise or the same with less right, and
    `unproven` are too little known to be used."""

    verdict: Verdict
    cited: tuple[Guard, ...] = ()
    overridden: tuple[Guard, ...] = ()
    unproven: tuple[Guard, ...] = ()


def judge(guards: Sequence[Guard], *, bound: float) -> Judgement:
    """Only guards whose lower bound reaches `bound` are used. The most special of them decide;
    where those disagree, harm is to be feared. What no guard speaks against is allowed."""
    used = [guard for guard in guards if guard.bound >= bound]
    unproven = tuple(guard for guard in guards if guard.bound < bound)
    if not used:
        return Judgement(Verdict.ALLOW, unproven=unproven)
    highest = max(guard.specificity for guard in used)
    deciding = [guard for guard in used if guard.specificity == highest]
    blocked = any(guard.verdict is Verdict.BLOCK for guard in deciding)
    verdict = Verdict.BLOCK if blocked else Verdict.ALLOW
    cited = sorted(
        (guard for guard in deciding if guard.verdict is verdict),
        key=lambda guard: (-guard.bound, -guard.similarity, str(guard.item)),
    )
    return Judgement(
        verdict,
        cited=tuple(cited),
        overridden=tuple(guard for guard in used if guard not in cited),
        unproven=unproven,
    )
