"""The Python client of memserver: the base install, with httpx and pydantic as its only needs."""

from memserver_client._episode import Episode
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
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedReply,
)
from memserver_client._memory import Memory
from memserver_client._requests import TrajectoriesAdded
from memserver_client._transport import Clock

__all__ = [
    "ApiError",
    "Clock",
    "Conflict",
    "ConnectionFailed",
    "Episode",
    "EpisodeClosed",
    "Forbidden",
    "InvalidRequest",
    "Memory",
    "MemserverError",
    "NotConfigured",
    "NotFound",
    "OperationCancelled",
    "OperationFailed",
    "OperationTimeout",
    "RequestTimeout",
    "ServerError",
    "TooLarge",
    "TrajectoriesAdded",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedReply",
]
