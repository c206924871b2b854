"""Everything that can be refused, as a tree. Errors take data and compose their own message;
`code` is the stable name that callers may rely on."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar
from uuid import UUID


class MemserverError(Exception):
    """Root of all errors that a caller can cause or must know about."""

    code: ClassVar[str] = "internal_error"


# --- who is asking -----------------------------------------------------------------------


class Unauthenticated(MemserverError):
    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("No valid API key: send 'Authorization: Bearer <key>'.")


class Forbidden(MemserverError):
    """The key is valid, but not for this."""

    code = "forbidden"


class NamespaceForbidden(Forbidden):
    code = "namespace_forbidden"

    def __init__(self, path: str, wanted: str) -> None:
        super().__init__(f"This key has no grant to {wanted} the namespace {path!r}.")


class RoleForbidden(Forbidden):
    code = "role_forbidden"

    def __init__(self, role: str, wanted: str) -> None:
        super().__init__(f"A key with the role '{role}' may not {wanted}.")


class UnsealForbidden(Forbidden):
    code = "unseal_forbidden"

    def __init__(self) -> None:
        super().__init__("This key may not see what privacy took out of texts.")


# --- what was asked ----------------------------------------------------------------------


class Invalid(MemserverError):
    """The request can be understood, and is refused for what it says."""

    code = "invalid_request"


class UnknownPreset(Invalid):
    code = "unknown_preset"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"The preset {name[:80]!r} is unknown; there are {', '.join(known)}.")


class InvalidNamespace(Invalid):
    code = "invalid_namespace"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path[:80]!r} is no namespace: use letters, digits, '.', '_' and '-', "
            "segments separated by '/', at most 200 characters."
        )


class InvalidCursor(Invalid):
    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("The cursor was not issued by this list; start again without one.")


class InvalidVector(Invalid):
    code = "invalid_vector"


class WrongDimension(InvalidVector):
    code = "wrong_dimension"

    def __init__(self, got: int, expected: int) -> None:
        super().__init__(f"The vector has {got} numbers; the encoder's have {expected}.")


class NotFinite(InvalidVector):
    code = "vector_not_finite"

    def __init__(self) -> None:
        super().__init__("The vector holds NaN or infinity, or is all zeros.")


class InvalidPoint(Invalid):
    """A point that the index engine must never see."""

    code = "invalid_point"


class InvalidBody(Invalid):
    """A body that has not the shape of its item's kind."""

    code = "invalid_body"


class InvalidPattern(Invalid):
    code = "invalid_pattern"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The pattern cannot be searched for: {reason}.")


class NotYetValid(Invalid):
    code = "not_yet_valid"

    def __init__(self, valid_from: datetime) -> None:
        super().__init__(f"valid_from lies in the future: {valid_from.isoformat()}.")


class InvalidImport(Invalid):
    code = "invalid_import"

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"Line {line} cannot be imported: {reason}. Nothing was stored.")
        self.line = line


class InvalidBackup(Invalid):
    code = "invalid_backup"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The archive cannot be restored: {reason}. Nothing was changed.")


class BackupMismatch(Invalid):
    """A whole archive, of a server that was set up or built otherwise."""

    code = "backup_mismatch"

    def __init__(self, what: str, *, archive: str, here: str, help: str) -> None:
        super().__init__(f"The archive's {what} is {archive}, this server's is {here}. {help}")


class InvalidExploration(Invalid):
    code = "invalid_exploration"

    def __init__(self, reason: str) -> None:
        super().__init__(f"So a namespace cannot explore: {reason}.")


class UnusablePolicy(Invalid):
    """A policy folder that cannot be read or served."""

    code = "unusable_policy"


class UnfitPolicy(UnusablePolicy):
    """A sound policy that was trained for another server."""

    code = "unfit_policy"

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__("The policy does not fit this server. " + "; ".join(differences) + ".")
        self.differences = tuple(differences)


class InvalidRule(Invalid):
    """A ledger rule that the language of rules does not know."""

    code = "invalid_rule"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"So no ledger rule is written: {where} {reason}.")


class UnknownEvidence(Invalid):
    code = "unknown_evidence"

    def __init__(self, name: str) -> None:
        super().__init__(f"The session has no evidence {name!r} that could be verified.")


class TooLarge(Invalid):
    code = "too_large"

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} is over the limit of {limit:,} bytes.")


# --- what is there -----------------------------------------------------------------------


class NotFound(MemserverError):
    """Not there, or outside the key's grants: the two are not told apart."""

    code = "not_found"

    def __init__(self, what: str, name: UUID | str) -> None:
        super().__init__(f"There is no {what} {name}.")


class NamespaceNotFound(NotFound):
    code = "namespace_not_found"

    def __init__(self, path: str) -> None:
        super().__init__("namespace", repr(path))


class KeyNotFound(NotFound):
    code = "key_not_found"

    def __init__(self, key_id: UUID) -> None:
        super().__init__("key", key_id)


class TrajectoryNotFound(NotFound):
    code = "trajectory_not_found"

    def __init__(self, trajectory_id: UUID) -> None:
        super().__init__("trajectory", trajectory_id)


class ItemNotFound(NotFound):
    code = "item_not_found"

    def __init__(self, item_id: UUID) -> None:
        super().__init__("item", item_id)


class VersionNotFound(NotFound):
    code = "version_not_found"

    def __init__(self, version_id: UUID) -> None:
        super().__init__("item version", version_id)


class RetrievalNotFound(NotFound):
    code = "retrieval_not_found"

    def __init__(self, retrieval_id: UUID) -> None:
        super().__init__("retrieval", retrieval_id)


class DecisionNotFound(NotFound):
    code = "decision_not_found"

    def __init__(self, decision_id: UUID) -> None:
        super().__init__("decision", decision_id)


class PolicyNotFound(NotFound):
    code = "policy_not_found"

    def __init__(self, policy_id: UUID) -> None:
        super().__init__("policy", policy_id)


class NoActivePolicy(NotFound):
    code = "no_active_policy"

    def __init__(self, path: str, role: str) -> None:
        super().__init__(f"active {role} policy in", repr(path))


class ChangeNotFound(NotFound):
    code = "change_not_found"

    def __init__(self, change_id: UUID) -> None:
        super().__init__("change", change_id)


class OperationNotFound(NotFound):
    code = "operation_not_found"

    def __init__(self, operation_id: UUID) -> None:
        super().__init__("operation", operation_id)


class SessionNotFound(NotFound):
    code = "session_not_found"

    def __init__(self, session_id: UUID) -> None:
        super().__init__("session", session_id)


# --- what stands in the way --------------------------------------------------------------


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


# --- what is not ready -------------------------------------------------------------------


class Unavailable(MemserverError):
    """Try again later; nothing was stored."""

    code = "unavailable"


class Busy(Unavailable):
    code = "busy"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is over capacity; try again shortly.")


class ChatFailed(Unavailable):
    """No answer of a chat model. `spent` says that it may have cost tokens all the same."""

    code = "chat_unavailable"

    def __init__(self, reason: str, *, spent: bool = False) -> None:
        super().__init__(f"The chat model gives no answer: {reason}.")
        self.spent = spent


class Restoring(Unavailable):
    code = "restoring"

    def __init__(self) -> None:
        super().__init__("A backup is being restored; try again in a while.")


class EncoderChanged(MemserverError):
    """The stored vectors come from another encoder than the configured one."""

    code = "encoder_changed"

    def __init__(self, stored: str, configured: str) -> None:
        super().__init__(
            f"The index was built by the encoder {stored}, the settings name {configured}. "
            "Run 'memserver reindex --offline' to rebuild it, or restore the setting."
        )


class DataInUse(MemserverError):
    code = "data_in_use"

    def __init__(self, path: str) -> None:
        super().__init__(f"Another process uses {path}; stop it first.")


class PortTaken(MemserverError):
    code = "port_taken"

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"Cannot listen on {host} port {port}: {reason}.")


class OperationCancelled(MemserverError):
    """Raised inside a job when its operation was asked to stop."""

    code = "operation_cancelled"

    def __init__(self, operation_id: UUID) -> None:
        super().__init__(f"The operation {operation_id} was cancelled.")


class OperationAbandoned(MemserverError):
    """The job engine gave an operation up, since the server never lived to see its end."""

    code = "operation_abandoned"

    def __init__(self, operation_id: UUID, starts: int) -> None:
        super().__init__(
            f"The operation {operation_id} was started {starts} times, and each time the server "
            "stopped before it ended. Retry it once the cause is found."
        )
