"""Self-play turn by turn: the caller plays, this says which turn to play next, which one again and
what failed there, and keeps the strategies that it teaches.

After PRINCIPLES (Kim et al. 2025, "PRINCIPLES: Synthetic Strategy Memory for Proactive Dialogue
Agents"): a turn succeeds when its reward rises above that of the turn before; where it does not,
the strategy is revised and the dialogue simulated again from that turn. Ours: three tries a turn,
after which the play goes on from the best of them and the turn teaches nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

TRIES = 3
TURNS = 10


@dataclass(frozen=True, slots=True)
class Strategy:
    """ "When … should … rather than … because …". `rather_than` are the strategies that failed in
    the same place, in the order tried."""

    when: str
    should: str
    rather_than: tuple[str, ...]
    because: str

    @property
    def text(self) -> str:
        other = f" rather than {' or '.join(self.rather_than)}" if self.rather_than else ""
        return f"When {self.when}, you should {self.should}{other}, because {self.because}."


@dataclass(frozen=True, slots=True)
class Trial:
    """One try of a turn: the situation, what was done in it, and the reward that followed."""

    when: str
    strategy: str
    reward: float


@dataclass(frozen=True, slots=True)
class Play:
    """What to play next: `turn` from 0, after the turns of `line`. On a second `attempt` the
    strategies that `failed` there are to be revised."""

    turn: int
    attempt: int
    line: tuple[Trial, ...]
    failed: tuple[Trial, ...]

    @property
    def hint(self) -> str:
        """The failed strategies in words, for whoever revises; empty on the first try."""
        if not self.failed:
            return ""
        tried = "; ".join(f"{one.strategy} (reward {one.reward:g})" for one in self.failed)
        return f"From turn {self.turn}, do something else than: {tried}."


@dataclass(slots=True)
class SelfPlay:
    """One play. Ask `next`, play it, `tell` what came of it; None from `next` says that it is
    over: the reward has reached `solved`, or `turns` are played."""

    start: float = 0.0
    solved: float = 1.0
    turns: int = TURNS
    tries: int = TRIES
    strategies: list[Strategy] = field(default_factory=list)
    branches: list[tuple[int, int]] = field(default_factory=list)
    _line: list[Trial] = field(default_factory=list)
    _failed: list[Trial] = field(default_factory=list)

    @property
    def reward(self) -> float:
        """That of the last turn that stands."""
        return self._line[-1].reward if self._line else self.start

    def next(self) -> Play | None:
        if len(self._line) >= self.turns or (self._line and self.reward >= self.solved):
            return None
        return Play(len(self._line), len(self._failed), tuple(self._line), tuple(self._failed))

    def tell(self, trial: Trial) -> Strategy | None:
        """What came of the play that `next` asked for, and what it teaches. Raises `ValueError`
        where the play is over."""
        play = self.next()
        if play is None:
            raise ValueError("The play is over.")
        self.branches.append((play.turn, play.attempt))
        if trial.reward > self.reward:
            learned = self._learned(trial)
            self.strategies.append(learned)
            self._go_on(trial)
            return learned
        self._failed.append(trial)
        if len(self._failed) >= self.tries:
            self._go_on(max(self._failed, key=lambda one: one.reward))
        return None

    def _learned(self, trial: Trial) -> Strategy:
        before = self.reward
        why = f"the reward rose from {before:g} to {trial.reward:g}"
        if self._failed:
            best = max(one.reward for one in self._failed)
            why += f", and was {best:g} at best otherwise"
        failed = dict.fromkeys(one.strategy for one in self._failed)
        others = tuple(name for name in failed if name != trial.strategy)
        return Strategy(trial.when, trial.strategy, others, why)

    def _go_on(self, trial: Trial) -> None:
        self._line.append(trial)
        self._failed.clear()


@dataclass(frozen=True, slots=True)
class Played:
    """`branches` are the (turn, attempt) pairs in the order played."""

    branches: tuple[tuple[int, int], ...]
    strategies: tuple[Strategy, ...]


def played(script: Sequence[Sequence[Trial]], *, solved: float = 1.0, tries: int = TRIES) -> Played:
    """The play whose trials are known beforehand: `script[turn][attempt]`. It ends where the
    script does."""
    play = SelfPlay(turns=len(script), solved=solved, tries=tries)
    while (asked := play.next()) is not None and asked.attempt < len(script[asked.turn]):
        play.tell(script[asked.turn][asked.attempt])
    return Played(tuple(play.branches), tuple(play.strategies))
