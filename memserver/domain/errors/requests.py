"""What was asked, and is refused for what it says."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memserver.domain.errors.root import MemserverError


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


class UnknownMethod(Invalid):
    code = "unknown_method"

    def __init__(self, method: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no distiller {method[:80]!r}; there are: {', '.join(known)}.")


class NoChatModel(Invalid):
    code = "no_chat_model"

    def __init__(self) -> None:
        super().__init__("No chat model is configured that could word what is distilled.")


class NoSuchPlan(Invalid):
    code = "no_such_plan"

    def __init__(self, operation_id: UUID) -> None:
        super().__init__(f"The operation {operation_id} is no finished plan of this namespace.")


class NoGuide(Invalid):
    """A skill that has no milestones for the goal."""

    code = "skill_gives_no_guide"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The skill cannot guide this run: {reason}.")


class NoAgents(Invalid):
    code = "no_agents"

    def __init__(self, namespace: str) -> None:
        super().__init__(
            f"No agent is named, and no run whose outcome speaks for a skill of {namespace} names "
            "one."
        )
