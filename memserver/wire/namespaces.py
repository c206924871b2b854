"""How a namespace keeps its memory, as it is shown and set."""

from typing import Annotated, Literal

from pydantic import Field

from memserver.wire.base import Model, Receipt, ShortText, TimeZone

TEN_YEARS_OF_HOURS, TEN_YEARS_OF_DAYS = 87_600, 36_500

Days = Annotated[float, Field(gt=0, le=TEN_YEARS_OF_DAYS, allow_inf_nan=False)]
Hours = Annotated[float, Field(gt=0, le=TEN_YEARS_OF_HOURS, allow_inf_nan=False)]
Minutes = Annotated[float, Field(gt=0, le=TEN_YEARS_OF_HOURS * 60, allow_inf_nan=False)]
Admission = Literal["none", "first_uses", "held_out"]
Count = Annotated[int, Field(ge=1, le=100_000_000)]
Tools = Annotated[list[ShortText], Field(max_length=1_000)]


class NewNamespaceSettings(Model):
    """What is left out stays as it is; null takes a bound or an occasion away."""

    half_life_days: Days | None = None
    most_items: Count | None = None
    secrets: bool = True
    personal_data: bool = False
    consolidate_every_writes: Count | None = None
    consolidate_every_hours: Hours | None = None
    consolidate_when_idle_minutes: Minutes | None = None
    time_zone: TimeZone = "UTC"
    admission: Admission = "none"
    allowed_tools: Tools | None = None
    frozen: bool = False


class NamespaceSettings(Model):
    """`half_life_days`: what is not used loses half of its standing in that time. `most_items`: no
    more active items than that. `secrets`, `personal_data`: what is taken out of texts.
    `allowed_tools`: what skills may declare, null where nobody has said. The rest says when the
    namespace is consolidated by itself, the time zone of messages that name none, and how what is
    distilled is admitted. `frozen`: whether the library of skills stays as it is."""

    namespace: str
    half_life_days: float | None
    most_items: int | None
    secrets: bool
    personal_data: bool
    consolidate_every_writes: int | None
    consolidate_every_hours: float | None
    consolidate_when_idle_minutes: float | None
    time_zone: str
    admission: Admission
    allowed_tools: list[str] | None = None
    frozen: bool = False


class NamespaceSettingsStored(Receipt):
    settings: NamespaceSettings
