"""What can be wrong with a skill that comes from outside: each rule with a code of its own, so that
whoever sent it learns all that is to be mended."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that was broken: its stable `code`, and what breaks it in words. `where` is the file
    or the place in an archive, empty where the skill as a whole is meant."""

    code: str
    message: str
    where: str = ""


class BadSkill(ValueError):
    """A skill that breaks rules; all of them that were found."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = tuple(faults)


def bad(code: str, message: str, where: str = "") -> BadSkill:
    """A skill of which one rule says enough."""
    return BadSkill([Fault(code, message, where)])
