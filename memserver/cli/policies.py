"""`memserver policy`: register a trained policy, try it, promote it, take it back; and how a
namespace explores."""

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memserver.cli.output import print_json, print_rows, remark, say, table
from memserver.cli.session import ApiKey, Json, Namespace, Url, session
from memserver_client import (
    Memory,
    PolicyEvaluation,
    PolicyMoved,
    PolicyStanding,
    PolicyStatus,
)

PolicyId = Annotated[str, typer.Argument(metavar="ID", help="The policy's id.")]
Reason = Annotated[str, typer.Option("--reason", help="Kept in the change log.")]
Override = Annotated[
    str,
    typer.Option(
        "--override", help="Your reason to do it although nothing shows it to be better; logged."
    ),
]
Since = Annotated[
    datetime | None,
    typer.Option(
        "--since",
        formats=["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d"],
        help="Leave out older decisions; a date is taken in UTC.",
    ),
]


class Mode(StrEnum):
    FIXED = "fixed"
    LEARNING = "learning"


def register(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="As memserver-train writes it.")
    ],
    namespace: Namespace,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Register a policy folder. It goes into the shadow: scored and logged, never served."""
    with session(context).memory(url, api_key) as memory:
        moved = memory.register_policy(folder, namespace=namespace)
    _show_moved(moved, as_json=json)
    if not json:
        remark(f"To see what your log says of it: memserver policy evaluate {moved.policy.id}")


def list_policies(
    context: typer.Context,
    namespace: Namespace,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """List a namespace's policies, newest first, in whatever state."""
    with session(context).memory(url, api_key) as memory:
        print_rows(
            memory.policies(namespace=namespace),
            {
                "id": lambda row: row.id,
                "kind": lambda row: row.kind,
                "state": lambda row: row.state,
                "share": lambda row: f"{row.share:g}" if row.share else "",
                "since": lambda row: f"{row.since:%Y-%m-%d %H:%M:%S}",
                "reason": lambda row: row.reason,
            },
            as_json=json,
        )


def status(
    context: typer.Context,
    namespace: Namespace,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """What serves, what is tried beside it, how it does, and how the namespace explores."""
    with session(context).memory(url, api_key) as memory:
        found = memory.policy_status(namespace=namespace)
    if json:
        print_json(found)
    else:
        _show_status(found)


def evaluate(
    context: typer.Context,
    policy_id: PolicyId,
    since: Since = None,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Estimate a policy, and what is active now, from the server's own log."""
    if since is not None and since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    with session(context).memory(url, api_key) as memory:
        found = memory.evaluate_policy(policy_id, since=since)
    if json:
        print_json(found)
    else:
        _show_evaluation(found)


def shadow(
    context: typer.Context,
    policy_id: PolicyId,
    reason: Reason = "",
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Put a policy (back) into the shadow."""
    _move(
        context, lambda memory: memory.shadow_policy(policy_id, reason=reason), url, api_key, json
    )


def canary(
    context: typer.Context,
    policy_id: PolicyId,
    share: Annotated[
        float, typer.Option("--share", help="Part of the runs, between 0 and 1, assigned by hash.")
    ] = 0.1,
    override: Override = "",
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Serve a share of the runs with a policy that the log shows to be better."""
    _move(
        context,
        lambda memory: memory.canary_policy(policy_id, share=share, override=override),
        url,
        api_key,
        json,
    )


def promote(
    context: typer.Context,
    policy_id: PolicyId,
    override: Override = "",
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Make a policy the active one, once its canary has shown it to be better."""
    _move(
        context,
        lambda memory: memory.promote_policy(policy_id, override=override),
        url,
        api_key,
        json,
    )


def retire(
    context: typer.Context,
    policy_id: PolicyId,
    reason: Reason = "",
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Take a shadow or a canary out of use."""
    _move(
        context, lambda memory: memory.retire_policy(policy_id, reason=reason), url, api_key, json
    )


def rollback(
    context: typer.Context,
    namespace: Namespace,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the change log.")],
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Retire the active policy; what was active before it serves again at once."""
    _move(
        context,
        lambda memory: memory.roll_back_policy(namespace=namespace, reason=reason),
        url,
        api_key,
        json,
    )


def explore(
    context: typer.Context,
    namespace: Namespace,
    mode: Annotated[Mode, typer.Option("--mode", help="fixed leaves nothing to chance.")],
    temperature: Annotated[
        float, typer.Option("--temperature", min=0, help="Of the softmax over scores.")
    ] = 0.0,
    share: Annotated[
        float, typer.Option("--share", min=0, max=1, help="Part of the runs that sample.")
    ] = 0.0,
    exposure_slots: Annotated[
        int, typer.Option("--exposure-slots", min=0, help="Places of a reply filled uniformly.")
    ] = 0,
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Set how a namespace explores, which is what makes its log fit to learn from."""
    with session(context).memory(url, api_key) as memory:
        done = memory.explore(
            namespace=namespace,
            mode=mode,
            temperature=temperature,
            share=share,
            exposure_slots=exposure_slots,
        )
    if json:
        print_json(done)
    else:
        say(f"{namespace} is {done.exploration.mode} from now on.")


def decision(
    context: typer.Context,
    retrieval_id: Annotated[str, typer.Argument(metavar="RETRIEVAL_ID")],
    url: Url = None,
    api_key: ApiKey = None,
    json: Json = False,
) -> None:
    """Show a logged retrieve: what was on offer, how it was ranked, how likely that was."""
    with session(context).memory(url, api_key) as memory:
        found = memory.decision(retrieval_id)
    if json:
        print_json(found)
        return
    drawn = f"explored at temperature {found.temperature:g}" if found.explored else "not explored"
    say(f"{found.verb} {found.id} by {found.policy}, {drawn}; replays: {found.replays}")
    ranked = sorted(found.candidates, key=lambda c: (c.rank is None, c.rank or 0, -c.score))
    table(
        ["rank", "id", "score", "propensity", "slot", "handed out", "left out by"],
        (
            [
                c.rank,
                c.id,
                f"{c.score:.4f}",
                f"{c.propensity:.4f}" if c.rank else "",
                c.slot,
                "yes" if c.packed else "",
                c.gated,
            ]
            for c in ranked
        ),
    )


def _move(
    context: typer.Context,
    move: Callable[[Memory], PolicyMoved],
    url: str | None,
    api_key: str | None,
    as_json: bool,
) -> None:
    with session(context).memory(url, api_key) as memory:
        moved = move(memory)
    _show_moved(moved, as_json=as_json)


def _show_moved(moved: PolicyMoved, *, as_json: bool) -> None:
    if as_json:
        print_json(moved)
        return
    policy = moved.policy
    share = f" with {policy.share:g} of the runs" if policy.share else ""
    say(f"{policy.id} is {policy.state} in {policy.namespace}{share}: {policy.reason}")
    remark(f"To take it back: memserver undo {moved.change_id}")


def _show_status(found: PolicyStatus) -> None:
    explores = found.exploration
    say(f"{found.namespace}: {found.serves} serves")
    if explores.mode == "learning":
        say(
            f"learning: {explores.share:g} of the runs sample at temperature "
            f"{explores.temperature:g}, {explores.exposure_slots} exposure slots"
        )
    else:
        say("fixed: nothing is left to chance")
    if found.policies:
        table(
            ["id", "state", "share", "how it does"],
            (
                [
                    standing.policy.id,
                    standing.policy.state,
                    f"{standing.policy.share:g}" if standing.policy.share else "",
                    _told(standing),
                ]
                for standing in found.policies
            ),
        )
    counted = ", ".join(f"{count} by {name}" for name, count in found.latest.items())
    say(f"latest decisions: {counted or 'none'}; {found.explored} of them explored")


def _told(standing: PolicyStanding) -> str:
    if standing.trial is not None:
        return standing.trial.told
    seen = standing.agreement
    if seen is None or not seen.decisions:
        return "has seen no decision yet"
    overlap = "" if seen.overlap is None else f", {seen.overlap:.0%} of what was served"
    failed = f", failed {seen.failed} times" if seen.failed else ""
    return f"saw {seen.decisions} decisions{overlap}{failed}"


def _show_evaluation(found: PolicyEvaluation) -> None:
    say(f"{found.policy} against {found.reference}, from {found.decisions} decisions")
    if found.target is not None and found.reference_estimate is not None:
        table(
            ["", "doubly robust", "interval", "SNIPS", "effective decisions", "support"],
            (
                [
                    name,
                    f"{one.doubly_robust:.3f}",
                    f"[{one.low:.3f}, {one.high:.3f}]",
                    f"{one.snips:.3f}",
                    f"{one.ess:.0f}",
                    f"{one.support:.2f}",
                ]
                for name, one in (
                    ("this policy", found.target),
                    (found.reference, found.reference_estimate),
                )
            ),
        )
    if found.difference is not None:
        say(
            f"difference {found.difference.estimate:+.3f} "
            f"[{found.difference.low:+.3f}, {found.difference.high:+.3f}]"
        )
    say(f"assumes: {found.reward_model}")
    say(found.refusal or "good enough for a canary")
