"""Practice before tasks: goals to try, and runs of them to be let in or not."""

from collections.abc import Mapping
from typing import Any

from memserver.wire.base import Page
from memserver.wire.practice import (
    PracticeDecided,
    PracticeGoal,
    PracticeProposed,
    PracticeRequest,
    ValidatePractice,
)
from memserver.wire.trajectories import Run
from memserver_client._call import Call, Listing, write
from memserver_client._requests import Id, checked, parsed, with_id


def propose_practice(*, namespace: str, k: int = 5, seed: int = 0) -> Call[PracticeProposed]:
    """Goals that nobody has set yet and that are worth trying, the best first, in `.proposals`:
    each with its `.goal`, its `.id` and `.why`. Try them and hand the runs to
    `validate_practice`."""
    asked_for = checked(PracticeRequest, namespace=namespace, k=k, seed=seed)
    return write("POST", "/v1/practice/propose", PracticeProposed, asked_for)


def validate_practice(
    proposal: Id, run: Run | Mapping[str, Any], *, namespace: str
) -> Call[PracticeDecided]:
    """Has a run of a proposed goal judged. `.accepted` says whether it entered memory; if not,
    `.proposal.refusal` and `.proposal.reason` say why, and nobody is ever offered anything of
    it. Each goal is decided once."""
    whole = with_id(run if isinstance(run, Run) else parsed(Run, run, where="run"))
    asked_for = checked(ValidatePractice, namespace=namespace, proposal=proposal, run=whole)
    return write("POST", "/v1/practice/validate", PracticeDecided, asked_for)


def practice(*, namespace: str, state: str | None = None) -> Listing[PracticeGoal]:
    """All that was ever proposed, oldest first: `proposed`, `accepted`, `rejected`, or all."""
    params = {"namespace": namespace, "state": state}
    return Listing(path="/v1/practice", page=Page[PracticeGoal], params=params)
