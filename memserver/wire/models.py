"""What a tenant may still ask of the chat model today."""

from datetime import datetime

from memserver.wire.base import Model


class ModelUsage(Model):
    """`configured` is false where the server has no chat model; all else is then as nothing was
    used. `tokens` counts calls that have not ended by what they may take at most. Past
    `tokens_a_day` no call is made, and rules answer until `renewed_at`."""

    configured: bool
    model: str | None
    day: str
    calls: int
    tokens: int
    tokens_a_day: int
    left: int
    renewed_at: datetime
