"""Rules for calendar days."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from reverie.core.times.digits import century
from reverie.core.times.grammar import Part, Pass, Rule
from reverie.core.times.phrase import Direction
from reverie.core.times.values import Day, Spelled, floor, shifted

#: Steps of "last", "this" and "next".
STEPS = {"L": -1, "l": -1, "T": 0, "X": 1, "x": 1}
_WEEK = timedelta(days=7)


def _counted(part: Part) -> Day | None:
    offset = part.value("r")
    if not isinstance(offset, int):
        return None
    return Day(fixed=part.now.today + timedelta(days=offset))


def _literal(part: Part) -> object:
    return part.value("d")


def _weekday(part: Part) -> Day | None:
    weekday, weak = _strength(part.value("w"))
    number = int(part.number("n", 0))
    if weekday is None or not 0 <= number <= 31:
        return None
    return Day(weekday=weekday, day=number, weak=weak and not number and not part.has("p"))


def _strength(value: object) -> tuple[int | None, bool]:
    """Return a weekday, and whether its word means other things, too ("sat", "sun")."""
    if isinstance(value, tuple):
        return value[0], True
    return (value, False) if isinstance(value, int) else (None, False)


def _near_weekday(part: Part) -> Day | None:
    """Read "last Friday" as that of last week, "past" and "coming" as the nearest one."""
    weekday, how = _strength(part.value("w"))[0], part.letter("s")
    if weekday is None:
        return None
    today = part.now.today
    if how in "LTX":
        return Day(fixed=today - timedelta(days=today.weekday() - weekday) + STEPS[how] * _WEEK)
    step = 1 if how == "x" else -1
    ahead = (step * (weekday - today.weekday()) - 1) % 7 + 1
    return Day(fixed=today + timedelta(days=step * ahead))


def _weekday_of_week(part: Part) -> Day | None:
    weekday, unit = _strength(part.value("w"))[0], part.value("u")
    if unit != "week" or weekday is None:
        return None
    monday = part.now.today - timedelta(days=part.now.today.weekday())
    return Day(fixed=monday + timedelta(days=weekday) + _steps(part) * _WEEK)


def _steps(part: Part) -> int:
    """Return how many units a row of "last" or "next" goes: the week before last is two back."""
    return sum(STEPS[letter] for letter in part.letter("s"))


def _of_month(part: Part) -> Day | None:
    """Read a day of a month by name or number, with its year if that is said."""
    if part.value("dash") is not None:  # "May to 5" is no day
        return None
    month, weak = part.value("m") or part.value("n"), False
    if isinstance(month, tuple):
        month, weak = month
    if weak and isinstance(part.value("d"), Spelled) and not part.has("y"):
        return None
    day = part.number("d", part.number("o", 0))
    if not isinstance(month, int) or day != int(day) or not 1 <= int(day) <= 31 or not 1 <= month <= 12:
        return None
    found = Day(month=month, day=int(day))
    if part.has("s"):
        return replace(found, year=part.now.today.year + _steps(part)) if part.value("u") == "year" else None
    return _in_year(found, part)


def _in_year(day: Day, part: Part) -> Day | None:
    if not part.has("y"):
        return day
    number = int(part.number("y"))
    if number > 2200 or 100 <= number < 1000:
        return None
    year = century(number)
    return replace(day, year=year) if isinstance(year, int) else replace(day, short_year=year[0])


def _day_number(part: Part) -> Day | None:
    day = part.number("d", 0)
    return Day(day=int(day)) if 1 <= day <= 31 and day == int(day) else None


def _day_of_unit(part: Part) -> Day | None:
    """Read "the 15th of next month"."""
    day = int(part.number("d", 0))
    if part.value("u") != "month" or not 1 <= day <= 31:
        return None
    month = shifted(floor(part.now.moment, "month"), _steps(part), "month")
    return Day(year=month.year, month=month.month, day=day) if month is not None else None


def _near_date(part: Part) -> Day | None:
    """Read "next 6th of April"."""
    found = _of_month(part)
    direction = Direction.PAST if part.letter("x") == "L" else Direction.FUTURE
    days = found.resolve(part.now.today, direction) if found is not None else ()
    return Day(fixed=days[0]) if days else None


def _holiday(part: Part) -> Day | None:
    """Read a holiday, in a year that is said, or next to now."""
    of = part.value("z")
    if not callable(of):
        return None
    rule: Callable[[int], date] = of
    today = part.now.today
    if part.has("y"):
        return Day(fixed=rule(int(part.number("y"))))
    if part.value("u") == "year":
        return Day(fixed=rule(today.year + _steps(part)))
    ahead = [day for year in (today.year, today.year + 1) if (day := rule(year)) >= today]
    back = [day for year in (today.year, today.year - 1) if (day := rule(year)) < today]
    step = part.letter("s") or ("X" if part.now.direction == Direction.FUTURE else "L")
    if step == "T":
        return Day(fixed=rule(today.year))
    return Day(fixed=back[0] if step in "Ll" else ahead[0])


def _this(part: Part) -> Day:
    """Read "this" and "last" before a part of the day."""
    return Day(fixed=part.now.today + timedelta(days=-1 if part.letter("s") == "L" else 0))


def _joined(part: Part) -> Day | None:
    """Put together what two neighbours say of one day; the one that knows more wins."""
    first, second = part.value("a"), part.value("b")
    if not isinstance(first, Day) or not isinstance(second, Day):
        return None
    for weekday, other in ((first, second), (second, first)):
        if weekday.weekday is None or weekday.day or weekday.fixed:
            continue
        if other.fixed is not None:  # Tuesday, two months from now
            ahead = (weekday.weekday - other.fixed.weekday()) % 7
            return Day(fixed=other.fixed + timedelta(days=ahead)) if ahead or part.has("o") else other
        if other.weekday is None:
            return replace(other, weekday=weekday.weekday)
        return None
    written = [one for one in (first, second) if one.month]
    if not written:
        return None
    near = first.fixed or second.fixed
    known = written[-1].year or written[-1].short_year is not None
    return written[-1] if known or near is None else replace(written[-1], year=near.year)


DAYS = Pass(
    Rule("d", r"(?P<r>R)", _counted),
    Rule("d", r"(?P<d>D)", _literal),
    Rule("d", r"(?P<p>n)?t?(?P<w>W)", _weekday),
    Rule("d", r"(?P<p>n)?t?(?P<w>W)(?:,?n?t?)(?P<n>[NO])(?![UKHMyjf]|,M|oM|NK)", _weekday),
    Rule("d", r"n?t?(?P<s>[LTXxl])t?(?P<w>W)", _near_weekday),
    Rule("d", r"n?t?(?P<w>W)(?P<s>[LXxl])(?!U)", _near_weekday),
    Rule("d", r"n?t?(?P<s>[LTX]+)(?P<u>U)[,on-]*t?(?P<w>W)", _weekday_of_week),
    Rule("d", r"n?t?(?P<w>W)[,ont]*(?P<s>[LTX]+)(?P<u>U)", _weekday_of_week),
    Rule("d", r"n?t?(?P<w>W)[,ont]*(?P<u>U)(?P<s>[LX])", _weekday_of_week),
    Rule("d", r"[nt]*(?P<m>M),?(?P<dash>-)?t?(?P<d>[NO])(?![HK%f])(?:[,o-]*(?P<y>Y))?", _of_month),
    Rule("d", r"[nt]*(?P<m>M),?t?(?:(?P<d>[NO])[,o]|(?P<o>O))(?P<y>N)(?![HKUf%N])", _of_month),
    Rule("d", r"[nt]*(?P<m>M)-(?P<d>[NO])-(?P<y>[YN])", _of_month),
    Rule("d", r"[nt]*(?P<d>[NO])U?(?:[,-]|o*)t?(?P<m>M)(?:[,o-]*(?P<y>Y))?", _of_month),
    Rule("d", r"[nt]*(?P<d>[NO])(?:-(?P<m>M)-|[,o]*(?P<n>M)[,o]+)(?P<y>N)(?![HKUf%])", _of_month),
    Rule("d", r"[nt]*(?P<y>Y)[,-](?P<m>M)[,-](?P<d>[NO])", _of_month),
    Rule("d", r"[nt]*(?P<x>[XxL])(?P<d>[NO])o?(?P<m>M)", _near_date),
    Rule("d", r"(?:(?P<y>[YN])yo?)?(?P<m>N)jo?(?P<d>[N])i?(?![HKy])", _of_month),
    Rule("d", r"(?P<s>[LTX]+)(?P<u>U)o?(?P<m>N)j(?P<d>N)i?(?!H)", _of_month),
    Rule("d", r"(?P<d>N)i(?![AFbg])", _day_number),
    Rule("d", r"n*t+(?P<d>O)(?!U)|n+(?P<e>O)(?![UM])", lambda part: _day_number(part) or _ordinal(part)),
    Rule("d", r"nt(?P<d>N)(?=[,@kdP]|$)", _day_number),
    Rule("d", r"nt?(?P<n>[NO])(?P<w>W)", _weekday),
    Rule("d", r"[nt]+(?P<u>U)(?P<d>N)(?![UHK])", lambda part: _day_number(part) if part.value("u") == "day" else None),
    Rule("d", r"[nt]*(?P<d>[NO])U?[ont]+(?P<s>[LTX]+)(?P<u>U)", _day_of_unit),
    Rule("d", r"(?P<s>[LTX]+)(?P<u>U)o?(?P<d>N)i(?![AFbg])", _day_of_unit),
    Rule("d", r"n?t?(?P<s>[LTXxl])?(?P<z>Z)(?:[o,n]*(?P<y>Y)y?)?", _holiday),
    Rule("d", r"(?P<y>Y)y?o?(?P<z>Z)", _holiday),
    Rule("d", r"n?t?(?P<z>Z)o?(?P<s>[LTX])(?P<u>U)", _holiday),
    Rule("d", r"(?P<s>[LTX])(?P<u>U)o?(?P<z>Z)", _holiday),
    Rule("d", r"(?P<s>[LT])(?=P)", _this),
)


def _ordinal(part: Part) -> Day | None:
    day = int(part.number("e", 0))
    return Day(day=day) if 1 <= day <= 31 else None


JOINED_DAYS = Pass(
    Rule("d", r"(?P<a>d)[,]*(?P<b>d)", _joined),
    Rule("d", r"(?P<a>d)(?P<o>n)(?P<b>d)", _joined),
)
