"""OPE: a contextual bandit whose truth is known, to hold off-policy estimates against.

Each round offers six candidates with features; one is taken, with probabilities that the log
keeps, and succeeds or not. What another policy would have earned is known from the true chances.
The chance is no linear function of the features, so the reward model of the estimate is wrong, as
it is in life.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memserver.domain.policy.off_policy import Evaluation, LoggedChoice, evaluate
from memserver.domain.policy.sampling import probabilities
from memserver_trainers.worlds.measured import Measured

CANDIDATES, FEATURES = 6, 4
ROUNDS, REPLICATES, TRUTH_ROUNDS = 600, 40, 50_000
TEMPERATURE = 1.0
GATE = 0.85
"""Of 40 intervals at .95, 34 hold the truth with a probability above .99."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BanditWorld:
    """The log's policy prefers what the first feature says; the target is greedy on another
    direction, which is closer to the truth."""

    seed: int

    def rounds(self, count: int, *, replicate: int) -> Floats:
        """Features [count, CANDIDATES, FEATURES]."""
        rng = np.random.default_rng((self.seed, replicate, 0))
        return rng.normal(size=(count, CANDIDATES, FEATURES))

    def chances(self, features: Floats) -> Floats:
        """The true chance of success of every candidate."""
        bent = 1.2 * features[..., 1] + 0.8 * np.sin(2 * features[..., 2]) - 0.3 * features[..., 0]
        chances: Floats = 0.1 + 0.8 / (1 + np.exp(-bent))
        return chances

    def logged(self, features: Floats) -> Floats:
        """The scores of the policy that made the log."""
        scores: Floats = 0.5 * features[..., 0] + 0.2 * features[..., 3]
        return scores

    def asked_about(self, features: Floats) -> Floats:
        """The scores of the policy to evaluate."""
        scores: Floats = features[..., 1] + 0.4 * features[..., 2]
        return scores

    def truth(self) -> float:
        """What the greedy target earns a round, over many rounds that are in no log."""
        features = self.rounds(TRUTH_ROUNDS, replicate=REPLICATES)
        best = np.argmax(self.asked_about(features), axis=1)
        return float(self.chances(features)[np.arange(TRUTH_ROUNDS), best].mean())

    def log(self, replicate: int, *, temperature: float = TEMPERATURE) -> Iterator[LoggedChoice]:
        rng = np.random.default_rng((self.seed, replicate, 1))
        rounds = self.rounds(ROUNDS, replicate=replicate)
        for number, (features, chances) in enumerate(
            zip(rounds, self.chances(rounds), strict=True)
        ):
            scores = self.logged(features)
            behaviour = probabilities(scores, temperature=temperature, taken=())
            taken = int(rng.choice(CANDIDATES, p=behaviour))
            yield LoggedChoice(
                decision=str(number),
                cluster=str(number),
                slot=0,
                features=features,
                taken=taken,
                propensity=float(behaviour[taken]),
                behaviour=behaviour,
                target=probabilities(self.asked_about(features), temperature=0.0, taken=()),
                reference=probabilities(scores, temperature=0.0, taken=()),
                reward=float(rng.random() < chances[taken]),
            )


def covers(evaluation: Evaluation, truth: float) -> bool:
    target = evaluation.target
    return target is not None and target.low <= truth <= target.high


def measure_bandit(seed: int) -> Measured:
    """`score` is the share of logs whose doubly robust interval holds the truth; `baseline` that
    of the intervals around the log's own mean reward, which is what goes without reweighing."""
    world = BanditWorld(seed)
    truth = world.truth()
    held, plain, errors, sizes, widths = [], [], [], [], []
    for replicate in range(REPLICATES):
        log = list(world.log(replicate))
        rewards = np.array([choice.reward for choice in log])
        reach = 1.96 * float(rewards.std()) / len(rewards) ** 0.5
        plain.append(abs(float(rewards.mean()) - truth) <= reach)
        found = evaluate(log, seed=replicate)
        held.append(covers(found, truth))
        sizes.append(found.ess)
        if found.target is not None:
            errors.append(found.target.doubly_robust - truth)
            widths.append(found.target.high - found.target.low)
    score = float(np.mean(held))
    return Measured(
        world="ope",
        seed=seed,
        score=score,
        baseline=float(np.mean(plain)),
        gate=GATE,
        gate_met=score >= GATE,
        details={
            "truth": truth,
            "bias": float(np.mean(errors)),
            "width": float(np.mean(widths)),
            "effective_sample_size": float(np.mean(sizes)),
            "logs": REPLICATES,
            "rounds": ROUNDS,
        },
    )
