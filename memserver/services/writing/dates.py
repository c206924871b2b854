"""Dates as people say them, against the time and the zone of the message and never the server's.

A table of rules rather than a parsing library: the libraries read "may", "second" or a lone number
as a date, and fall back on the process's clock and zone. What has two readings is not resolved."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memserver.services.writing.understood import Span

_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
} | {"a": 1, "an": 1, "a couple of": 2}
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
_LONGEST = 3000
"""Years, months … that "ago" may go back; more is no date that people mean."""

_N = rf"(?P<n>\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>minute|hour|day|week|fortnight|month|year)s?"
_DAY = rf"(?P<day>{'|'.join(_DAYS)})"
# "May" and "March" are also verbs; their capitals tell them apart.
_MONTH = (
    r"(?P<month>(?i:january|february|april|june|july|august|september|october|november|december|jan|feb|apr|jun|"
    r"jul|aug|sept?|oct|nov|dec)\b\.?|March|Mar\b\.?|MARCH|May|MAY)"
)
_NUMBER = r"(?P<number>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"


@dataclass(frozen=True, slots=True)
class Dated:
    """A phrase and the time that it means: [start, end), both in the zone asked for."""

    phrase: str
    start: datetime
    end: datetime
    span: Span


class NaiveTime(ValueError):
    """A time without an offset says nothing about which day it is somewhere."""

    def __init__(self, at: datetime) -> None:
        super().__init__(f"the message's time {at.isoformat()} has no offset")
        self.at = at


_Reading = tuple[datetime, datetime]
_Rule = Callable[[re.Match[str], datetime], "_Reading | None"]


def resolve(text: str, *, at: datetime, zone: tzinfo) -> tuple[Dated, ...]:
    """Every date in the text, in order and without overlaps, the longest phrase first. Weeks
    begin on Monday; "last Friday" is the latest one before today, "next Friday" the one of the
    coming week; a day and month without a year is the nearest such day."""
    if at.utcoffset() is None:
        raise NaiveTime(at)
    local = at.astimezone(zone)
    found: list[Dated] = []
    for pattern, rule in _RULES:
        for match in pattern.finditer(text):
            span = Span(*match.span("phrase"))
            if any(span.start < other.span.end and other.span.start < span.end for other in found):
                continue
            try:
                reading = rule(match, local)
            except (ValueError, OverflowError):  # 31 February; a year before the first
                continue
            if reading is not None:
                found.append(Dated(match["phrase"], *reading, span))
    return tuple(sorted(found, key=lambda dated: dated.span))


def is_date(phrase: str) -> bool:
    """Whether the whole phrase is one that `resolve` could read at some time."""
    return any(
        match.span("phrase") == (0, len(phrase))
        for pattern, _ in _RULES
        if (match := pattern.search(phrase)) is not None
    )


def _midnight(day: date, local: datetime) -> datetime:
    return datetime.combine(day, time(), local.tzinfo)


def _days(first: date, local: datetime, *, count: int = 1) -> _Reading:
    return _midnight(first, local), _midnight(first + timedelta(days=count), local)


def _month(year: int, month: int, local: datetime) -> _Reading:
    """The month; `month` may lie outside 1 to 12 and then counts from `year`."""
    first, after = year * 12 + month - 1, year * 12 + month
    start, end = date(first // 12, first % 12 + 1, 1), date(after // 12, after % 12 + 1, 1)
    return _midnight(start, local), _midnight(end, local)


def _year(year: int, local: datetime) -> _Reading:
    return _midnight(date(year, 1, 1), local), _midnight(date(year + 1, 1, 1), local)


def _monday(local: datetime) -> date:
    return local.date() - timedelta(days=local.weekday())


def _named_day(match: re.Match[str], local: datetime) -> _Reading:
    offsets = {
        "today": 0,
        "yesterday": -1,
        "tomorrow": 1,
        "the day before yesterday": -2,
        "the day after tomorrow": 2,
        "day before yesterday": -2,
        "day after tomorrow": 2,
    }
    name = " ".join(match["phrase"].casefold().split())
    return _days(local.date() + timedelta(days=offsets[name]), local)


def _part_of_day(match: re.Match[str], local: datetime) -> _Reading:
    which = match["which"].casefold() if match["which"] else "this"
    part = match["part"].casefold() if match["part"] else "night"
    back = {"yesterday": -1, "last": -1, "this": 0, "to": 0, "tomorrow": 1}[which]
    day = _midnight(local.date() + timedelta(days=back), local)
    first, last = _PARTS[part]
    end = day.replace(hour=last) if last < 24 else day + timedelta(days=1)
    if last > 24:
        end = end.replace(hour=last - 24)
    return day.replace(hour=first), end


def _count(said: str) -> int:
    return int(said) if said.isdigit() else _NUMBERS[" ".join(said.casefold().split())]


def _apart(match: re.Match[str], local: datetime) -> _Reading | None:
    """ "two weeks ago", "in three days", "a month from now": the day, month or year so far off."""
    count = _count(match["n"])
    if count > _LONGEST:
        return None
    count = -count if match["ago"] else count
    unit = match["unit"].casefold()
    if unit in ("minute", "hour"):
        length = timedelta(**{unit + "s": 1})
        start = local.replace(second=0, microsecond=0)
        start = start.replace(minute=0) if unit == "hour" else start
        start = (start.astimezone(UTC) + count * length).astimezone(local.tzinfo)
        return start, (start.astimezone(UTC) + length).astimezone(local.tzinfo)
    if unit == "month":
        return _month(local.year, local.month + count, local)
    if unit == "year":
        return _year(local.year + count, local)
    days = count * {"day": 1, "week": 7, "fortnight": 14}[unit]
    return _days(local.date() + timedelta(days=days), local)


_STEP = {"last": -1, "this": 0, "next": 1, "previous": -1, "coming": 1, "past": -1}


def _near_period(match: re.Match[str], local: datetime) -> _Reading:
    return _period(match["unit"].casefold(), _STEP[match["which"].casefold()], local)


def _far_period(match: re.Match[str], local: datetime) -> _Reading:
    """ "the week before last", "the year after next"."""
    step = -2 if match["which"].casefold() == "before last" else 2
    return _period(match["unit"].casefold(), step, local)


def _period(unit: str, step: int, local: datetime) -> _Reading:
    monday = _monday(local) + timedelta(weeks=step)
    if unit == "week":
        return _days(monday, local, count=7)
    if unit == "weekend":
        return _days(monday + timedelta(days=5), local, count=2)
    if unit == "month":
        return _month(local.year, local.month + step, local)
    return _year(local.year + step, local)


def _near_weekday(match: re.Match[str], local: datetime) -> _Reading:
    wanted = _DAYS.index(match["day"].casefold())
    which = match["which"].casefold()
    today = local.date()
    if which in ("last", "since"):
        back = (local.weekday() - wanted) % 7
        return _days(today - timedelta(days=back or (7 if which == "last" else 0)), local)
    weeks = 1 if which == "next" else 0
    return _days(_monday(local) + timedelta(weeks=weeks, days=wanted), local)


def _month_number(said: str) -> int:
    return next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(said.casefold()[:3]))


def _calendar_day(match: re.Match[str], local: datetime) -> _Reading:
    month, number = _month_number(match["month"]), int(match["number"])
    if match["year"]:
        return _days(date(int(match["year"]), month, number), local)
    near = []
    for year in (local.year - 1, local.year, local.year + 1):
        try:
            near.append(date(year, month, number))
        except ValueError:  # 29 February of another year
            continue
    return _days(min(near, key=lambda day: abs((day - local.date()).days)), local)


def _iso_day(match: re.Match[str], local: datetime) -> _Reading:
    return _days(date.fromisoformat(match["phrase"]), local)


def _calendar_month(match: re.Match[str], local: datetime) -> _Reading:
    return _month(int(match["year"]), _month_number(match["month"]), local)


def _near_month(match: re.Match[str], local: datetime) -> _Reading:
    """ "last May" is the latest that has ended, "next May" the first yet to begin, "this May" the
    one of this year."""
    month, which = _month_number(match["month"]), match["which"].casefold()
    year = local.year
    if which == "last" and month >= local.month:
        year -= 1
    if which == "next" and month <= local.month:
        year += 1
    return _month(year, month, local)


def _calendar_year(match: re.Match[str], local: datetime) -> _Reading:
    return _year(int(match["year"]), local)


def _pattern(phrase: str, *, cased: bool = False) -> re.Pattern[str]:
    flags = 0 if cased else re.IGNORECASE
    return re.compile(rf"(?<![\w-])(?P<phrase>{phrase})(?![\w]|-\d)", flags)


_S = r"\s+"
# Longest first: a phrase inside one that was read already is not read again.
_RULES: tuple[tuple[re.Pattern[str], _Rule], ...] = (
    (_pattern(rf"(?:the{_S})?day{_S}(?:before{_S}yesterday|after{_S}tomorrow)"), _named_day),
    (
        _pattern(
            rf"(?:the{_S})(?P<unit>weekend|week|month|year){_S}(?P<which>before{_S}last|after{_S}next)"
        ),
        _far_period,
    ),
    (
        _pattern(
            rf"(?P<which>last|yesterday|tomorrow|this){_S}(?P<part>night|morning|afternoon|evening)"
        ),
        _part_of_day,
    ),
    (_pattern(r"(?P<which>to)(?P<part>night)"), _part_of_day),
    (_pattern(rf"{_N}{_S}{_UNIT}{_S}(?P<ago>ago)"), _apart),
    (_pattern(rf"{_N}{_S}{_UNIT}{_S}from{_S}now(?P<ago>)"), _apart),
    (_pattern(rf"in{_S}{_N}{_S}{_UNIT}(?:['’]s?{_S}time)?(?P<ago>)"), _apart),
    (_pattern(rf"(?P<which>last|this|next|since){_S}{_DAY}"), _near_weekday),
    (_pattern(rf"{_NUMBER}{_S}(?:of{_S})?{_MONTH}(?:,?{_S}{_YEAR})?", cased=True), _calendar_day),
    (
        _pattern(
            rf"{_MONTH}{_S}{_NUMBER}(?:,?{_S}{_YEAR})?(?!{_S}?(?:[%€$£:]|[ap]\.?m\b))", cased=True
        ),
        _calendar_day,
    ),
    (_pattern(r"\d{4}-\d{2}-\d{2}"), _iso_day),
    (_pattern(rf"{_MONTH},?{_S}(?:of{_S})?{_YEAR}", cased=True), _calendar_month),
    (_pattern(rf"(?P<which>[Ll]ast|[Nn]ext|[Tt]his){_S}{_MONTH}", cased=True), _near_month),
    (_pattern(rf"(?P<which>last|this|next){_S}(?P<unit>weekend|week|month|year)"), _near_period),
    (
        _pattern(
            rf"(?:the{_S})(?P<which>previous|coming|past){_S}(?P<unit>weekend|week|month|year)"
        ),
        _near_period,
    ),
    (_pattern(r"today|yesterday|tomorrow"), _named_day),
    (
        _pattern(
            rf"(?:in|since|during|as{_S}of|by|before|after|until){_S}{_YEAR}(?!\s*[%€$£]|[.,]\d)"
        ),
        _calendar_year,
    ),
)
