"""What is refused about a policy. Apart from the server's errors, since trainers import this."""

from typing import ClassVar


class InvalidPolicy(ValueError):
    """A policy that cannot be served as it is; `reason` names what is wrong with it."""

    code: ClassVar[str] = "invalid_policy"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidScores(InvalidPolicy):
    """Scores that no ranking can be drawn from; `index` is the first candidate at fault."""

    def __init__(self, index: int, score: float) -> None:
        super().__init__(f"The policy gave candidate {index} the score {score}: it must be finite.")
        self.index = index


class InvalidChoice(ValueError):
    """A logged choice that no estimate can be made from."""

    def __init__(self, decision: str, slot: int, reason: str) -> None:
        super().__init__(f"Slot {slot} of decision {decision}: {reason}.")
        self.decision = decision
        self.slot = slot
