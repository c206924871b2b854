"""What is not there."""

from uuid import UUID

from memserver.domain.errors.root import MemserverError


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


class PracticeGoalNotFound(NotFound):
    code = "practice_goal_not_found"

    def __init__(self, goal_id: UUID) -> None:
        super().__init__("practice goal", goal_id)


class SessionNotFound(NotFound):
    code = "session_not_found"

    def __init__(self, session_id: UUID) -> None:
        super().__init__("session", session_id)
