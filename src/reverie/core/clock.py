"""Now, zones and identifiers: the only module that reads the clock of the machine.

Everything else is handed a :class:`~reverie.core.types.Clock` and :class:`~reverie.core.types.Ids`, so that the same
inputs give the same results (invariant I11).
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from reverie.core.errors import ConfigError
from reverie.core.types import Clock

_DAY = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")


class SystemClock:
    """The clock of this machine, in the user's zone."""

    def __init__(self, zone: str | None = None) -> None:
        self._zone = checked_zone(zone) if zone else host_zone()

    @property
    def zone(self) -> str:
        """Return the user's IANA zone."""
        return self._zone

    def now(self) -> datetime:
        """Return the present moment in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is moved; for tests and replays."""

    def __init__(self, at: datetime, zone: str = "UTC") -> None:
        self._at = as_utc(at)
        self._zone = checked_zone(zone)

    @property
    def zone(self) -> str:
        """Return the zone given."""
        return self._zone

    def now(self) -> datetime:
        """Return the moment at which the clock stands."""
        return self._at

    def advance(self, by: timedelta) -> None:
        """Move the clock forward (or back, with a negative delta)."""
        self._at += by

    def set(self, at: datetime) -> None:
        """Put the clock to another moment."""
        self._at = as_utc(at)


class RandomIds:
    """Identifiers that do not repeat: UUID 4 in hex."""

    def new(self) -> str:
        """Return 32 hexadecimal digits."""
        return uuid.uuid4().hex


class CountingIds:
    """Identifiers ``a-1``, ``a-2``, ...; for tests and replays."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        """Return the next identifier."""
        self._count += 1
        return f"{self._prefix}-{self._count}"


def checked_zone(name: str) -> str:
    """Return ``name`` if it is an IANA zone, else raise :class:`ConfigError`."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        hint = "use an IANA name such as Europe/Berlin"
        raise ConfigError("This time zone is not known", zone=name, hint=hint) from error
    return name


def host_zone() -> str:
    """Return the IANA zone of the machine: ``TZ``, ``/etc/timezone`` or ``/etc/localtime``; else ``UTC``."""
    candidates = [os.environ.get("TZ", "").lstrip(":")]
    with contextlib.suppress(OSError):  # most systems have only one of the two files
        candidates.append(Path("/etc/timezone").read_text(encoding="utf-8").strip())
    target = os.path.realpath("/etc/localtime")
    if "/zoneinfo/" in target:
        candidates.append(target.split("/zoneinfo/", 1)[1])
    for name in candidates:
        if name:
            try:
                return checked_zone(name)
            except ConfigError:
                continue
    return "UTC"


def as_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a zone is taken as UTC (list A, TIME-05)."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def today(clock: Clock) -> date:
    """Return the calendar day of the user. The one helper that decides what "today" is (TIME-01)."""
    return clock.now().astimezone(ZoneInfo(clock.zone)).date()


def local(moment: datetime, clock: Clock) -> datetime:
    """Return the moment in the user's zone, still aware."""
    return as_utc(moment).astimezone(ZoneInfo(clock.zone))


def start_of_day(day: date, zone: str) -> datetime:
    """Return the first instant of a calendar day of ``zone``, in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def parse_moment(text: str) -> datetime | None:
    """Read an ISO-8601 moment or epoch milliseconds; ``None`` if it is neither. The result is aware UTC."""
    text = text.strip()
    if re.fullmatch(r"\d{12,14}", text):
        return datetime.fromtimestamp(int(text) / 1000, tz=UTC)
    try:
        return as_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def day_in(name: str) -> date | None:
    """Return the calendar day that a file name or path carries (``YYYY-MM-DD``), the last one if several."""
    found = None
    for match in _DAY.finditer(name):
        try:
            found = date(int(match[1]), int(match[2]), int(match[3]))
        except ValueError:
            continue
    return found


def age_in_days(moment: datetime, now: datetime) -> float:
    """Return how many days lie between the two, never negative."""
    return max(0.0, (as_utc(now) - as_utc(moment)).total_seconds() / 86400)
