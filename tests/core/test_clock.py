"""Days, zones and moments."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from reverie.core import clock
from reverie.core.clock import CountingIds, FixedClock, RandomIds, SystemClock
from reverie.core.errors import ConfigError


@pytest.mark.parametrize(
    ("moment", "zone", "day"),
    [
        (datetime(2026, 2, 10, 17, 40, tzinfo=UTC), "Asia/Tokyo", date(2026, 2, 11)),
        (datetime(2026, 2, 11, 1, 5, tzinfo=UTC), "America/Chicago", date(2026, 2, 10)),
        (datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "Europe/Berlin", date(2026, 3, 29)),
        (datetime(2026, 10, 25, 22, 59, tzinfo=UTC), "Europe/Berlin", date(2026, 10, 25)),
        (datetime(2026, 10, 25, 23, 0, tzinfo=UTC), "Europe/Berlin", date(2026, 10, 26)),
    ],
)
def test_time_01_today_is_the_calendar_day_of_the_user(moment: datetime, zone: str, day: date) -> None:
    assert clock.today(FixedClock(moment, zone)) == day


@pytest.mark.parametrize(
    "text",
    ["2026-02-11T19:04:07+00:00", "2026-02-11 19:04:07", "2026-02-11T19:04:07Z", "1770836647000"],
)
def test_time_05_every_spelling_of_a_moment_is_the_same_moment(text: str) -> None:
    assert clock.parse_moment(text) == datetime(2026, 2, 11, 19, 4, 7, tzinfo=UTC)


@pytest.mark.parametrize("text", ["soon", "", "2026-13-40", "99999999999999999"])
def test_time_06_what_is_no_moment_is_none(text: str) -> None:
    assert clock.parse_moment(text) is None


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("memory/2026-01-02.md", date(2026, 1, 2)),
        ("memory/daily/2025-01-01-1430.md", date(2025, 1, 1)),
        ("memory/2026-02-30.md", None),
        ("memory/12026-01-02.md", None),
        ("MEMORY.md", None),
    ],
)
def test_a_file_name_carries_its_day(name: str, day: date | None) -> None:
    assert clock.day_in(name) == day


def test_an_unknown_zone_is_refused_with_advice() -> None:
    with pytest.raises(ConfigError, match="Mars/Olympus") as caught:
        SystemClock("Mars/Olympus")
    assert "IANA" in caught.value.hint


def test_the_fixed_clock_moves_only_when_told() -> None:
    fixed = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    assert fixed.now() == fixed.now()
    fixed.advance(timedelta(days=2))
    assert clock.age_in_days(datetime(2026, 1, 1, tzinfo=UTC), fixed.now()) == 2
    fixed.set(datetime(2025, 1, 1, tzinfo=UTC))
    assert clock.age_in_days(datetime(2026, 1, 1, tzinfo=UTC), fixed.now()) == 0


def test_the_system_clock_is_aware_and_in_a_known_zone() -> None:
    system = SystemClock("Asia/Shanghai")
    assert system.now().utcoffset() == timedelta(0)
    assert system.zone == "Asia/Shanghai"
    assert SystemClock().zone


def test_identifiers_do_not_repeat() -> None:
    counting, random = CountingIds("t"), RandomIds()
    assert [counting.new(), counting.new()] == ["t-1", "t-2"]
    assert len({random.new() for _ in range(50)}) == 50


def test_the_start_of_a_day_follows_the_zone() -> None:
    assert clock.start_of_day(date(2026, 7, 1), "Europe/Berlin") == datetime(2026, 6, 30, 22, tzinfo=UTC)
