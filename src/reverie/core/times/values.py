"""What symbols stand for: days, times of day and spans that are known only in part until now is known."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from reverie.core.times.phrase import Direction, Grain

#: A year of two digits is one of the next so many, or else of the past.
YEARS_AHEAD = 19
#: How far a day is looked for that fulfils all that is said of it: 29 February comes every eighth year at worst.
SEARCHED_DAYS = 366 * 8 + 2


class Spelled(int):
    """A number that was written as a word, which may mean other things ("one may")."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. ``half_open``: it may be this one or the one twelve hours later."""

    hour: int
    minute: int = 0
    second: int = 0
    half_open: bool = False
    exact: bool = True

    def on(self, day: date) -> datetime:
        """Return it on a day."""
        return datetime.combine(day, time(self.hour, self.minute, self.second))

    @property
    def grain(self) -> Grain:
        """Return how fine it is."""
        return Grain.SECOND if self.second else Grain.MINUTE


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day: from one hour to another; 24 and more are hours of the next day."""

    since: int
    until: int

    def holds(self, clock: Clock) -> Clock:
        """Return the time of day that is meant by an hour in this part."""
        hour = clock.hour
        if clock.half_open:
            late = hour % 12 + 12
            if self.until > 24 and hour % 12 < 5:
                hour %= 12  # two at night
            elif self.since >= 12 or (self.since <= late < self.until and not self.since <= hour < self.until):
                hour = late
            else:
                hour %= 12
        return Clock(hour, clock.minute, clock.second, False, clock.exact)


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day as far as it is known; ``fixed`` is one that is known whole.

    A ``weak`` one may be no day at all, and counts only beside something else that speaks of time.
    """

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int | None = None
    short_year: int | None = None
    fixed: date | None = None
    exact: bool = True
    weak: bool = False

    def resolve(self, today: date, direction: Direction) -> tuple[date, ...]:
        """Return the day that is meant, other readings after it; nothing if there is no such day."""
        if self.fixed is not None:
            return (self.fixed,)
        year = self.year or self._whole_year(today)
        if year:
            try:
                return (date(year, self.month, self.day),)
            except ValueError:
                return ()
        ahead, back = self._nearest(today, 1), self._nearest(today, -1)
        both = (ahead, back) if direction == Direction.FUTURE else (back, ahead)
        return tuple(day for day in both if day is not None)

    def _whole_year(self, today: date) -> int:
        if self.short_year is None:
            return 0
        year = today.year // 100 * 100 + self.short_year
        while year > today.year + YEARS_AHEAD:
            year -= 100
        return year

    def _nearest(self, today: date, step: int) -> date | None:
        """Return the nearest day that fits; today fits a date, and not a mere weekday."""
        weekday = None if self.month and self.day else self.weekday
        day = today if self.day and step > 0 else today + timedelta(days=step)
        for _ in range(SEARCHED_DAYS):
            fits = (not self.month or day.month == self.month) and (not self.day or day.day == self.day)
            if fits and (weekday is None or day.weekday() == weekday):
                return day
            try:
                day += timedelta(days=step)
            except OverflowError:
                return None
        return None


@dataclass(frozen=True, slots=True)
class Span:
    """From one moment to another, in local time; either may be open. A ``floating`` one may be of any year."""

    since: datetime | None
    until: datetime | None
    grain: Grain
    exact: bool = True
    floating: bool = False


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment in local time, with the beginnings of other readings."""

    at: datetime
    grain: Grain
    exact: bool = True
    others: tuple[datetime, ...] = ()


#: How long each unit is, in seconds, where it lies nowhere; months and years are means.
SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 7 * 86_400,
    "month": 30 * 86_400,
    "quarter": 91 * 86_400,
    "year": 365 * 86_400,
    "decade": 3650 * 86_400,
}
#: Units that pass alike whatever the clocks show; a day is one of the calendar.
HOURLY = frozenset({"second", "minute", "hour"})
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def shifted(moment: datetime, number: float, unit: str) -> datetime | None:
    """Return the moment so many units later, or earlier where the number is negative; ``None`` beyond the calendar.

    Whole months keep the day of the month, or take the last one there is. A part of a month or year is its mean length.
    """
    months = _MONTHS.get(unit)
    try:
        if months is None or number != int(number):
            return moment + timedelta(seconds=number * SECONDS[unit])
        index = moment.year * 12 + moment.month - 1 + int(number) * months
        year, month = divmod(index, 12)
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        return moment.replace(year=year, month=month + 1, day=day)
    except (OverflowError, ValueError, calendar.IllegalMonthError):
        return None


def begin(year: int, month: int = 1, day: int = 1) -> datetime:
    """Return the first moment of a day, in local time."""
    return datetime.combine(date(year, month, day), time())


def floor(moment: datetime, unit: str) -> datetime:
    """Return the beginning of the unit that a moment lies in; weeks begin on Monday."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "second":
            return moment.replace(microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return day.replace(month=1, day=1)
        case "decade":
            return day.replace(year=day.year // 10 * 10, month=1, day=1)
    return day


GRAINS = {
    "second": Grain.SECOND,
    "minute": Grain.MINUTE,
    "hour": Grain.HOUR,
    "day": Grain.DAY,
    "week": Grain.WEEK,
    "month": Grain.MONTH,
    "quarter": Grain.QUARTER,
    "year": Grain.YEAR,
    "decade": Grain.DECADE,
}
