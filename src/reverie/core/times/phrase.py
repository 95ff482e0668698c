"""What a time phrase says: the span of time that it names, how exactly, and whether it comes again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Direction(StrEnum):
    """Which side of now counts where a phrase leaves it open: "on Friday" was, or will be."""

    PAST = "past"
    FUTURE = "future"


class Kind(StrEnum):
    """What a phrase names."""

    DATE = "date"
    """A calendar day."""
    TIME = "time"
    """A time of day, of no day in particular; it is resolved to the nearest one in the direction asked for."""
    MOMENT = "moment"
    """A time of a day, or a distance from now that is shorter than a day."""
    RANGE = "range"
    """From one moment to another; one of the two may be open."""
    DURATION = "duration"
    """A length of time that lies nowhere."""
    RECURRENCE = "recurrence"
    """Again and again."""


class Grain(StrEnum):
    """How fine a phrase is."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    PART = "part of a day"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How something comes again: every so many units, on weekdays (Monday is 0), at a time of day.

    ``nth`` picks one such weekday of each month: 1 the first, -1 the last.
    """

    every: int
    unit: Grain
    weekdays: tuple[int, ...] = ()
    month_day: int = 0
    month: int = 0
    hour: int | None = None
    minute: int = 0
    nth: int = 0

    def cron(self) -> str | None:
        """Return the five fields of a cron line; ``None`` where cron cannot say it.

        That is every second week, every 90 minutes, or the first Monday of the month.

        Without a time of day the hour is 9: a day begins when its owner does.
        """
        if self.nth or (self.weekdays and self.every != 1):
            return None
        if self.every != 1:
            return self._stepped()
        hour = 9 if self.hour is None else self.hour
        clock = f"{self.minute} {hour}"
        if self.weekdays:
            return f"{clock} * * {','.join(str((day + 1) % 7) for day in self.weekdays)}"
        if self.unit == Grain.YEAR:
            return f"{clock} {self.month_day or 1} {self.month or 1} *"
        if self.unit in (Grain.MONTH, Grain.QUARTER):
            return f"{clock} {self.month_day or 1} {'*' if self.unit == Grain.MONTH else '*/3'} *"
        if self.unit == Grain.WEEK:
            return f"{clock} * * 1"
        if self.unit == Grain.DAY:
            return f"{clock} * * *"
        return {Grain.HOUR: f"{self.minute} * * * *", Grain.MINUTE: "* * * * *"}.get(self.unit)

    def _stepped(self) -> str | None:
        if self.unit == Grain.MINUTE and 60 % self.every == 0:
            return f"*/{self.every} * * * *"
        if self.unit == Grain.HOUR and 24 % self.every == 0:
            return f"{self.minute} */{self.every} * * *"
        if self.unit == Grain.MONTH and 12 % self.every == 0:
            return f"{self.minute} {9 if self.hour is None else self.hour} {self.month_day or 1} */{self.every} *"
        return None


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A phrase of a text and what it names.

    ``start`` and ``end`` are offsets into the text. ``since`` (included) and ``until`` (not included) are aware, in
    the zone that was given; ``None`` where that side is open, both for a duration. A moment lasts as long as its
    grain. Compare moments in UTC: where clocks go back, the later of two in one zone can show the smaller hour.
    ``exact`` is false for "around five" and the like. ``others`` are the beginnings of other readings, for instance
    five in the afternoon beside five in the morning. ``seconds`` is the length of a duration.
    """

    start: int
    end: int
    text: str
    kind: Kind
    grain: Grain
    since: datetime | None
    until: datetime | None
    exact: bool = True
    others: tuple[datetime, ...] = ()
    recurrence: Recurrence | None = None
    seconds: float = 0.0
