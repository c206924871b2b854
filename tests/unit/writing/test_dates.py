"""Dates as people say them, against the message's time and zone."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memserver.services.writing.dates import NaiveTime, is_date, resolve

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)


def days(text: str, at: datetime = MONDAY, zone: str = "UTC") -> list[tuple[str, date, date]]:
    found = resolve(text, at=at, zone=ZoneInfo(zone))
    return [(dated.phrase, dated.start.date(), dated.end.date()) for dated in found]


@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("today", "2026-11-30", "2026-12-01"),
        ("yesterday", "2026-11-29", "2026-11-30"),
        ("the day before yesterday", "2026-11-28", "2026-11-29"),
        ("last Friday", "2026-11-27", "2026-11-28"),
        ("last Monday", "2026-11-23", "2026-11-24"),
        ("this Friday", "2026-12-04", "2026-12-05"),
        ("next Friday", "2026-12-11", "2026-12-12"),
        ("since Monday", "2026-11-30", "2026-12-01"),
        ("two weeks ago", "2026-11-16", "2026-11-17"),
        ("in 3 days", "2026-12-03", "2026-12-04"),
        ("3 months ago", "2026-08-01", "2026-09-01"),
        ("last week", "2026-11-23", "2026-11-30"),
        ("last weekend", "2026-11-28", "2026-11-30"),
        ("next month", "2026-12-01", "2027-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("the year before last", "2024-01-01", "2025-01-01"),
        ("last May", "2026-05-01", "2026-06-01"),
        ("next March", "2027-03-01", "2027-04-01"),
        ("May 2022", "2022-05-01", "2022-06-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("3 May 2022", "2022-05-03", "2022-05-04"),
        ("May 3rd, 2022", "2022-05-03", "2022-05-04"),
        ("2027-01-15", "2027-01-15", "2027-01-16"),
        ("24 December", "2026-12-24", "2026-12-25"),
        ("2 January", "2027-01-02", "2027-01-03"),
    ],
)
def test_a_phrase_is_an_interval(phrase: str, start: str, end: str) -> None:
    wanted = (phrase, date.fromisoformat(start), date.fromisoformat(end))
    assert days(phrase) == [wanted]
    assert days(f"We met {phrase}, as you know.") == [wanted]
    assert is_date(phrase)


@pytest.mark.parametrize(
    "text",
    [
        "I may go second.",
        "may 3 people come in?",
        "You march 5 miles.",
        "30 February",
        "It costs 2022 euros.",
        "A week is long; a day is not.",
        "Just a second ago? No: on the second floor.",
        "Sun and rain, 10 mg, version 3.5.",
        "99999 years ago",
    ],
)
def test_words_that_only_look_like_dates_are_none(text: str) -> None:
    assert days(text) == []


def test_the_day_is_that_of_the_speakers_zone() -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    assert days("yesterday", late)[0][1] == date(2026, 11, 29)
    assert days("yesterday", late, "Asia/Tokyo")[0][1] == date(2026, 11, 30)
    (tokyo,) = resolve("today", at=late, zone=ZoneInfo("Asia/Tokyo"))
    assert tokyo.start.astimezone(UTC) == datetime(2026, 11, 30, 15, tzinfo=UTC)


def test_the_offset_of_the_messages_time_does_not_matter() -> None:
    elsewhere = MONDAY.astimezone(ZoneInfo("America/Lima"))
    assert resolve("last night", at=MONDAY, zone=UTC) == resolve(
        "last night", at=elsewhere, zone=UTC
    )


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(NaiveTime):
        resolve("today", at=datetime(2026, 11, 30), zone=UTC)  # noqa: DTZ001


def test_several_dates_come_in_order_and_none_inside_another() -> None:
    found = days("From the day before yesterday to last Friday and in May 2022.")
    assert [phrase for phrase, _, _ in found] == [
        "the day before yesterday",
        "last Friday",
        "May 2022",
    ]


@settings(max_examples=80, deadline=None)
@given(
    st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2090, 1, 1)),  # noqa: DTZ001
    st.sampled_from(["UTC", "Asia/Kathmandu", "America/New_York", "Pacific/Apia"]),
    st.sampled_from(
        ["yesterday", "last Friday", "two weeks ago", "next month", "29 February", "last weekend"]
    ),
)
def test_an_interval_begins_before_it_ends_and_at_a_midnight(
    moment: datetime, zone: str, phrase: str
) -> None:
    for dated in resolve(phrase, at=moment.replace(tzinfo=UTC), zone=ZoneInfo(zone)):
        assert dated.start < dated.end
        assert (dated.start.hour, dated.start.minute) == (0, 0)
        assert dated.end - dated.start < timedelta(days=32)


_SCRIPT = """
from datetime import UTC, datetime
from zoneinfo import ZoneInfo
from memserver.services.writing.dates import resolve
text = "yesterday, last Friday, this morning, two hours ago, in 2022, on 3 May and next month"
for zone in ("UTC", "Europe/Riga", "America/Lima"):
    print(resolve(text, at=datetime(2026, 11, 30, 23, 30, tzinfo=UTC), zone=ZoneInfo(zone)))
"""


def test_the_zone_of_the_process_does_not_matter() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "TZ": zone},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for zone in ("Pacific/Kiritimati", "America/Anchorage")
    }
    assert len(printed) == 1
    assert "yesterday" in printed.pop()
