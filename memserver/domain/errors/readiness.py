"""What is not ready, does not fit, or had to be given up."""

from uuid import UUID

from memserver.domain.errors.root import MemserverError


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
