"""The Python client of memserver: the base install, with httpx and pydantic as its only needs."""

from memserver.wire.access import Key, KeyCreated, Namespace
from memserver.wire.base import Receipt
from memserver.wire.grep import GrepHit, Grepped
from memserver.wire.items import History, Item, ItemStored, NewVersion
from memserver.wire.operations import Change, ChangeDetail, Operation, Undone
from memserver.wire.policies import (
    Decision,
    Exploration,
    ExplorationSet,
    Policy,
    PolicyEvaluation,
    PolicyMoved,
    PolicyStanding,
    PolicyStatus,
)
from memserver.wire.practice import PracticeDecided, PracticeGoal, PracticeProposed
from memserver.wire.retrieval import Retrieved, RetrievedItem
from memserver.wire.sessions import (
    Checked,
    EventsStored,
    SessionDeleted,
    SessionDetails,
    SessionEnded,
    SessionEvent,
    SessionState,
)
from memserver.wire.skills import Finding, SkillCard, SkillMoved, SkillsImported
from memserver.wire.tools import ToolResult
from memserver.wire.trajectories import (
    FeedbackStored,
    NewTrajectory,
    Run,
    TrajectoriesStored,
    Trajectory,
    TrajectoryStored,
)
from memserver_client._async_memory import AsyncMemory
from memserver_client._episode import AsyncEpisode, Episode
from memserver_client._errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    EpisodeClosed,
    Forbidden,
    InvalidRequest,
    MemserverError,
    NotConfigured,
    NotFound,
    OperationCancelled,
    OperationFailed,
    OperationTimeout,
    RequestTimeout,
    ServerError,
    StreamBroken,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedReply,
)
from memserver_client._memory import Memory
from memserver_client._requests import TrajectoriesAdded
from memserver_client._session import AsyncSession, Session
from memserver_client._transport import AsyncClock, Clock

__all__ = [
    "ApiError",
    "AsyncClock",
    "AsyncEpisode",
    "AsyncMemory",
    "AsyncSession",
    "Change",
    "ChangeDetail",
    "Checked",
    "Clock",
    "Conflict",
    "ConnectionFailed",
    "Decision",
    "Episode",
    "EpisodeClosed",
    "EventsStored",
    "Exploration",
    "ExplorationSet",
    "FeedbackStored",
    "Finding",
    "Forbidden",
    "GrepHit",
    "Grepped",
    "History",
    "InvalidRequest",
    "Item",
    "ItemStored",
    "Key",
    "KeyCreated",
    "Memory",
    "MemserverError",
    "Namespace",
    "NewTrajectory",
    "NewVersion",
    "NotConfigured",
    "NotFound",
    "Operation",
    "OperationCancelled",
    "OperationFailed",
    "OperationTimeout",
    "Policy",
    "PolicyEvaluation",
    "PolicyMoved",
    "PolicyStanding",
    "PolicyStatus",
    "PracticeDecided",
    "PracticeGoal",
    "PracticeProposed",
    "Receipt",
    "RequestTimeout",
    "Retrieved",
    "RetrievedItem",
    "Run",
    "ServerError",
    "Session",
    "SessionDeleted",
    "SessionDetails",
    "SessionEnded",
    "SessionEvent",
    "SessionState",
    "SkillCard",
    "SkillMoved",
    "SkillsImported",
    "StreamBroken",
    "TooLarge",
    "ToolResult",
    "TrajectoriesAdded",
    "TrajectoriesStored",
    "Trajectory",
    "TrajectoryStored",
    "Unauthenticated",
    "Unavailable",
    "Undone",
    "UnexpectedReply",
]
