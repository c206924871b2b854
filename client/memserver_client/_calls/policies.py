"""Policies: registered, tried, promoted, taken back; how a namespace explores; what was decided."""

import io
import zipfile
from datetime import datetime
from pathlib import Path

from memserver.wire.base import Page
from memserver.wire.policies import (
    Canary,
    Decision,
    Exploration,
    ExplorationSet,
    MovePolicy,
    NewExploration,
    Policy,
    PolicyEvaluation,
    PolicyMoved,
    PolicyStatus,
    Promote,
    RollBack,
)
from memserver_client._call import Call, Listing, read, write
from memserver_client._errors import invalid
from memserver_client._requests import Id, checked, id_of

FOLDER = ("manifest.json", "policy.safetensors")


def register_policy(folder: Path | str, *, namespace: str) -> Call[PolicyMoved]:
    """A policy folder, as trainers write it, into a namespace's shadow: scored and logged with
    every retrieve, never served."""
    return write(
        "POST",
        "/v1/policies",
        PolicyMoved,
        _zipped(Path(folder)),
        params={"namespace": namespace},
        content_type="application/zip",
    )


def policies(*, namespace: str) -> Listing[Policy]:
    """The learned policies of a namespace, newest first, in whatever state."""
    return Listing(path="/v1/policies", params={"namespace": namespace}, page=Page[Policy])


def policy(id: Id) -> Call[Policy]:
    return read(f"/v1/policies/{id_of(id)}", Policy)


def policy_status(*, namespace: str) -> Call[PolicyStatus]:
    """What serves in a namespace, what is tried beside it and how it does, and how it
    explores."""
    return read("/v1/policies/status", PolicyStatus, {"namespace": namespace})


def evaluate_policy(id: Id, *, since: datetime | None = None) -> Call[PolicyEvaluation]:
    """What the server's own log says of a policy against what is active; `refusal` says why that
    opens no canary."""
    return read(
        f"/v1/policies/{id_of(id)}/evaluation",
        PolicyEvaluation,
        {"since": None if since is None else since.isoformat()},
    )


def shadow_policy(id: Id, *, reason: str = "") -> Call[PolicyMoved]:
    """Back into the shadow."""
    return _moved(id, "shadow", checked(MovePolicy, reason=reason))


def canary_policy(id: Id, *, share: float = 0.1, override: str = "") -> Call[PolicyMoved]:
    """Gives a policy a share of the runs. Refused unless the server's log shows it to be better,
    or `override` is a reason to do it all the same."""
    return _moved(id, "canary", checked(Canary, share=share, override=override))


def promote_policy(id: Id, *, override: str = "") -> Call[PolicyMoved]:
    """Makes a policy the active one. Refused unless its canary showed it to be better, or
    `override` is a reason to do it all the same."""
    return _moved(id, "promote", checked(Promote, override=override))


def retire_policy(id: Id, *, reason: str = "") -> Call[PolicyMoved]:
    """Takes a shadow or a canary out of use."""
    return _moved(id, "retire", checked(MovePolicy, reason=reason))


def roll_back_policy(*, namespace: str, reason: str) -> Call[PolicyMoved]:
    """Retires the active policy; what was active before it serves again."""
    told = checked(RollBack, namespace=namespace, reason=reason)
    return write("POST", "/v1/policies/rollback", PolicyMoved, told)


def exploration(*, namespace: str) -> Call[Exploration]:
    return read("/v1/namespaces/exploration", Exploration, {"namespace": namespace})


def explore(
    *,
    namespace: str,
    mode: str = "learning",
    temperature: float = 0.0,
    share: float = 0.0,
    exposure_slots: int = 0,
) -> Call[ExplorationSet]:
    """Sets how a namespace explores: `fixed`, or `learning`, where a `share` of the runs sample at
    a `temperature`, with some places of a reply filled uniformly."""
    wanted = checked(
        NewExploration,
        namespace=namespace,
        mode=mode,
        temperature=temperature,
        share=share,
        exposure_slots=exposure_slots,
    )
    return write("PUT", "/v1/namespaces/exploration", ExplorationSet, wanted)


def decision(retrieval_id: Id) -> Call[Decision]:
    """A logged retrieve: every candidate with its features, its score, its place and how likely
    that was."""
    return read(f"/v1/decisions/{id_of(retrieval_id)}", Decision)


def _moved(id: Id, move: str, told: MovePolicy | Canary | Promote) -> Call[PolicyMoved]:
    return write("POST", f"/v1/policies/{id_of(id)}/{move}", PolicyMoved, told)


def _zipped(folder: Path) -> bytes:
    """The two files of a policy folder as one zip, stored as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in FOLDER:
            try:
                archive.writestr(name, (folder / name).read_bytes())
            except OSError as error:
                raise invalid(
                    f"{folder} is no policy folder: {name} cannot be read "
                    f"({error.strerror or error})."
                ) from error
    return buffer.getvalue()
