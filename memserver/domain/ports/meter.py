"""Where services say how long things took and how often they happened, in counts and seconds:
never a text, an id of a row or a namespace."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

Stage = Literal["authenticate", "encode", "search", "load", "rank", "pack"]
"""What a request waits for. `authenticate` is of every request under /v1 and measured before its
service is called; the others are parts of a retrieve, in this order. Logging the decision is no
stage: no reply waits for it."""

ModelOutcome = Literal["answered", "repaired", "unfit", "unavailable", "budget spent"]
"""How a question to a chat model ended, in words that replies may give as a reason too."""


class Meter(Protocol):
    """Safe for use by many threads, raises nothing, and costs microseconds.

    A retrieve says `with meter.stage("encode"): …` for each of its stages, `decided` once for
    the policy that chose, and `policy_failed` where a policy could not score and another one
    chose instead. Whoever asks a chat model says `asked` once a question, and
    remember `wrote` once for each candidate of a write.
    """

    def stage(self, name: Stage) -> AbstractContextManager[object]:
        """Measures the block, also where it raises."""

    def decided(self, policy: str) -> None: ...

    def policy_failed(self, policy: str) -> None: ...

    def asked(self, outcome: ModelOutcome) -> None: ...

    def wrote(self, operation: str, by: str) -> None:
        """What became of a candidate (`ADD`, `UPDATE`, `DELETE`, `NOOP`), and who decided that
        (`rules`, `policy`, `model`)."""

    def answered(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """A request has been answered, whole. `route` is its template and `method` a known
        one: what callers choose freely must not become a name of a series."""


class Unmetered:
    """A meter that forgets all that it is told."""

    def stage(self, name: Stage) -> AbstractContextManager[object]:
        return nullcontext()

    def decided(self, policy: str) -> None:
        pass

    def policy_failed(self, policy: str) -> None:
        pass

    def asked(self, outcome: ModelOutcome) -> None:
        pass

    def wrote(self, operation: str, by: str) -> None:
        pass

    def answered(self, *, route: str, method: str, status: int, seconds: float) -> None:
        pass


UNMETERED = Unmetered()
