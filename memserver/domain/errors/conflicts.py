"""What stands in the way of what was asked."""

from collections.abc import Sequence
from uuid import UUID

from memserver.domain.errors.root import MemserverError


class Conflict(MemserverError):
    code = "conflict"


class IdConflict(Conflict):
    code = "id_conflict"

    def __init__(self, what: str, row_id: UUID) -> None:
        super().__init__(f"The {what} {row_id} exists with other content, or in another namespace.")


class IdempotencyConflict(Conflict):
    code = "idempotency_conflict"

    def __init__(self, key: str) -> None:
        super().__init__(f"The idempotency key {key!r} was used with another body.")


class AlreadyUndone(Conflict):
    code = "already_undone"

    def __init__(self, change_id: UUID, by: UUID) -> None:
        super().__init__(f"The change {change_id} was undone by the change {by}.")


class UndoConflict(Conflict):
    """Later changes touched the rows; they must be undone first."""

    code = "undo_conflict"

    def __init__(self, change_id: UUID, later: Sequence[UUID]) -> None:
        names = ", ".join(str(change) for change in later)
        super().__init__(f"Rows of the change {change_id} were touched since by: {names}.")
        self.later = tuple(later)


class ChangeErased(Conflict):
    code = "change_erased"

    def __init__(self, change_id: UUID) -> None:
        super().__init__(
            f"The change {change_id} touched what was erased since; it cannot be undone."
        )


class PlanOutdated(Conflict):
    code = "plan_outdated"

    def __init__(self, operation_id: UUID) -> None:
        super().__init__(
            f"The plan {operation_id} no longer fits what is stored; ask for a new plan."
        )


class PolicyExists(Conflict):
    code = "policy_exists"

    def __init__(self, policy_id: UUID) -> None:
        super().__init__(f"The namespace has these weights already, as the policy {policy_id}.")


class TooManyShadows(Conflict):
    code = "too_many_shadows"

    def __init__(self, namespace: str, most: int) -> None:
        super().__init__(
            f"The namespace {namespace!r} has {most} policies in the shadow; retire some first."
        )


class PolicyNotProven(Conflict):
    """Nothing shows the policy to be better; a person may override that with a reason."""

    code = "policy_not_proven"

    def __init__(self, policy_id: UUID, wanted: str, doubt: str) -> None:
        super().__init__(
            f"The policy {policy_id} is not ready for {wanted}: {doubt}. "
            "To do it all the same, give an override with your reason."
        )


class WrongState(Conflict):
    code = "wrong_state"

    def __init__(self, what: str, row_id: UUID, state: str, wanted: str) -> None:
        super().__init__(f"The {what} {row_id} is {state} and cannot be {wanted}.")


class LedgerRuleBlocks(Conflict):
    """A call breaks rules of its session's ledger; a reason to do it all the same overrides."""

    code = "ledger_rule_blocks"

    def __init__(self, call: str, rules: Sequence[tuple[str, str]]) -> None:
        reasons = "; ".join(f"{name} ({because})" for name, because in rules)
        super().__init__(
            f"The call {call!r} is blocked by {reasons}. To record it all the same, give an "
            "override_reason."
        )
        self.rules = tuple(rules)


class SessionFull(Conflict):
    code = "session_full"

    def __init__(self, session_id: UUID, what: str, most: int) -> None:
        super().__init__(f"The session {session_id} has the {most:,} {what} that one may have.")


class SessionMoved(Conflict):
    code = "session_moved"

    def __init__(self, session_id: UUID) -> None:
        super().__init__(
            f"Events came to the session {session_id} while it was being ended; end it again."
        )


class HoldsContent(Conflict):
    code = "holds_content"

    def __init__(self, tables: Sequence[str]) -> None:
        super().__init__(
            f"This server holds content ({', '.join(tables)}), which a restore takes away. Ask "
            "for that with replace=true (--replace), after a backup of what is here."
        )


class OperationsUnfinished(Conflict):
    code = "operations_unfinished"

    def __init__(self, count: int) -> None:
        super().__init__(
            f"{count} operations have not ended; wait for them or cancel them, and restore then."
        )
