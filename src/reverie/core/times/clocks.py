"""Rules for times of day, lengths of time, and what comes again and again."""

from __future__ import annotations

from dataclasses import replace

from reverie.core.times import grammar
from reverie.core.times.grammar import Pass, Rule
from reverie.core.times.phrase import Grain, Recurrence
from reverie.core.times.values import GRAINS, Clock, Day, Part

#: What CJK counts with, as units.
COUNTED = {"y": "year", "j": "month", "i": "day", "f": "minute", "c": "second"}


def _written(part: grammar.Part) -> Clock | None:
    clock = part.value("c")
    return _halved(clock, part.value("k")) if isinstance(clock, Clock) else None


def _spoken(part: grammar.Part) -> Clock | None:
    """Read "nine", "nine thirty", "十点三十分", "7 Uhr 30"; the half of the day follows if it is said."""
    hour, minute = part.number("h"), part.number("m", 0)
    if part.has("half"):
        minute = 30
    if part.has("quarter"):
        minute = part.number("quarter", 0) * 15
    if hour != int(hour) or not 0 <= hour <= 24 or not 0 <= minute < 60:
        return None
    clock = Clock(int(hour) % 24, int(minute), half_open=1 <= hour <= 12, exact=not part.has("about"))
    return _halved(clock, part.value("k"))


def _added(part: grammar.Part) -> Clock | None:
    """Read minutes past or to an hour."""
    minutes = part.number("add", 0) if part.has("add") else part.number("min", 0)
    hour = part.number("h")
    if hour != int(hour) or not 0 <= hour <= 24 or not -60 < minutes < 60:
        return None
    total = (int(hour) % 24 * 60 + int(minutes)) % (24 * 60)
    return _halved(Clock(total // 60, total % 60, half_open=1 <= hour <= 12), part.value("k"))


def _halved(clock: Clock, half: object) -> Clock | None:
    if not isinstance(half, str):
        return clock
    if clock.hour > 12:
        return replace(clock, half_open=False)
    return replace(clock, hour=clock.hour % 12 + (12 if half == "pm" else 0), half_open=False)


def _in_part(part: grammar.Part) -> Clock | None:
    """Put an hour into the part of the day that is named beside it."""
    clock, during = part.value("k"), part.value("p")
    return during.holds(clock) if isinstance(clock, Clock) and isinstance(during, Part) else None


def _hour_of_part(part: grammar.Part) -> Clock | None:
    """Read "one in the morning"."""
    hour, during = part.number("h"), part.value("p")
    if hour != int(hour) or not 0 <= hour <= 24 or not isinstance(during, Part):
        return None
    return during.holds(Clock(int(hour) % 24, half_open=1 <= hour <= 12))


def _about(part: grammar.Part) -> Clock | None:
    clock = part.value("k")
    return replace(clock, exact=False) if isinstance(clock, Clock) else None


def _length(part: grammar.Part) -> tuple[tuple[float, str], ...] | None:
    number = part.number("n")
    if part.has("half"):
        # "One and a half" counts the one; in "half an hour" and "eine halbe Stunde" it is a mere article.
        article = part.letter("n") in ("", "1") and part.letter("half") == "2" and not part.has("behind")
        number = 0.5 if article else number + 0.5
    unit = part.value("u")
    name = COUNTED.get(part.letter("u"), unit if isinstance(unit, str) else "")
    return ((number, name),) if name else None


def _lengths(part: grammar.Part) -> tuple[tuple[float, str], ...] | None:
    first, second = part.value("a"), part.value("b")
    return first + second if isinstance(first, tuple) and isinstance(second, tuple) else None


def _again(part: grammar.Part) -> Recurrence | None:
    """Read "every 2 weeks", "every day", "every other month"."""
    number, unit = part.number("n"), part.value("u")
    if part.has("two"):
        number = 2
    name = COUNTED.get(part.letter("u"), unit if isinstance(unit, str) else "")
    if not name or number != int(number) or number < (2 if part.letter("n") == "O" else 1):
        return None
    return Recurrence(int(number), GRAINS[name])


def _on_weekdays(part: grammar.Part) -> Recurrence:
    said = [day[0] if isinstance(day, tuple) else day for name in ("w", "more") for day in part.values(name)]
    days = [day for day in said if isinstance(day, int)]
    return Recurrence(1, Grain.WEEK, tuple(sorted(dict.fromkeys(days))))


def _on_some_weekdays(part: grammar.Part) -> Recurrence | None:
    """Read "every other Friday", and "every first Monday", which is one of the month's."""
    days, number = _on_weekdays(part).weekdays, part.number("n", -1)
    if part.has("m") and part.value("m") != "month":
        return None
    if number != int(number) or number == 0:
        return None
    if part.letter("n") == "N" or (number == 2 and not part.has("m")):
        return Recurrence(int(number), Grain.WEEK, days)
    return Recurrence(1, Grain.MONTH, days, nth=int(number)) if number <= 5 else None


def _on_set(part: grammar.Part) -> Recurrence:
    days = (5, 6) if part.value("v") == "weekend" else (0, 1, 2, 3, 4)
    return Recurrence(1, Grain.WEEK, days)


def _each_part(part: grammar.Part) -> Recurrence | None:
    during = part.value("p")
    return Recurrence(1, Grain.DAY, hour=during.since % 24) if isinstance(during, Part) else None


def _on_day_of_month(part: grammar.Part) -> Recurrence | None:
    day = int(part.number("o", 0))
    return Recurrence(1, Grain.MONTH, month_day=day) if 1 <= day <= 31 else None


def _at_time(part: grammar.Part) -> Recurrence | None:
    again, clock = part.value("v"), part.value("k")
    if not isinstance(again, Recurrence) or not isinstance(clock, Clock):
        return None
    if again.hour is not None and clock.half_open and again.hour >= 12:
        clock = replace(clock, hour=clock.hour % 12 + 12)
    return replace(again, hour=clock.hour, minute=clock.minute)


def _on_workdays(part: grammar.Part) -> Recurrence | None:
    """Read "weekdays at 7": with a time of day they are all of them, without one those of a week."""
    clock = part.value("k")
    if part.value("v") != "workday" or not isinstance(clock, Clock):
        return None
    return replace(_on_set(part), hour=clock.hour, minute=clock.minute)


def _in_day_part(part: grammar.Part) -> Recurrence | None:
    again, during = part.value("v"), part.value("p")
    if not isinstance(again, Recurrence) or not isinstance(during, Part):
        return None
    return replace(again, hour=during.since % 24)


def _on_date(part: grammar.Part) -> Recurrence | None:
    again, day = part.value("v"), part.value("d")
    if not isinstance(again, Recurrence) or not isinstance(day, Day) or day.fixed is not None:
        return None
    if again.unit == Grain.YEAR and day.month and day.day:
        return replace(again, month=day.month, month_day=day.day)
    if again.unit == Grain.MONTH and day.day and not day.month:
        return replace(again, month_day=day.day)
    if again.unit == Grain.WEEK and day.weekday is not None:
        return replace(again, weekdays=(day.weekday,))
    return None


CLOCKS = Pass(
    Rule("k", r"@?(?P<c>C)H?(?P<k>K)?", _written),
    Rule("k", r"@?(?P<about>~)?(?P<h>N)H(?:(?P<m>N)f?)?(?P<half>2)?(?P<k>K)?", _spoken),
    Rule("k", r"@?(?P<h>N)H(?P<quarter>N)q", _spoken),
    Rule("k", r"@?(?P<h>N)(?P<m>N)?(?P<k>K)", _spoken),
    Rule("k", r"@(?P<about>~)?(?P<h>N)(?P<m>N)?(?P<half>2)?(?![UMHKyji%N]|[,o-]M)", _spoken),
    Rule("k", r"@?(?P<add>h)(?P<h>N)H?(?P<k>K)?", _added),
    Rule("k", r"@?(?P<h>N)(?P<add>h)(?P<k>K)?", _added),
    Rule("k", r"(?P<h>N)(?P<half>2)(?!U)(?P<k>K)?", _spoken),
    Rule("k", r"@(?P<h>N)&(?P<m>N)(?P<k>K)?(?!U)", _spoken),
    Rule("k", r"@(?P<h>N)(?P<u>U)(?P<m>N)?(?!U)", lambda part: _spoken(part) if part.value("u") == "hour" else None),
    Rule("k", r"@?(?P<min>N)U?l(?P<h>N)H?(?P<k>K)?(?!U)", _added),
    Rule("k", r"(?P<h>N)n?t?(?P<p>P)", _hour_of_part),
    Rule("v", r"E(?P<n>[NO])?(?P<two>X)?(?P<u>U)", _again),
    Rule("v", r"(?P<n>N)(?P<u>[Uyifc])z", _again),
    Rule("v", r"Et?(?P<w>W)(?P<more>(?:[,&]+E?W)*)", _on_weekdays),
    Rule("v", r"(?P<w>W)z", _on_weekdays),
    Rule("v", r"E(?P<n>[NO])t?(?P<w>W)(?:[ont]*(?P<m>U))?", _on_some_weekdays),
    Rule("v", r"t?(?P<n>[OL])(?P<w>W)[ont]*E(?P<m>U)", _on_some_weekdays),
    Rule("v", r"Et?(?P<v>V)", _on_set),
    Rule("v", r"E(?P<p>P)", _each_part),
    Rule("v", r"E(?P<o>O)(?!t?W)", _on_day_of_month),
)

LENGTHS = Pass(
    Rule("u", r"(?P<n>[N1])(?P<u>U)(?P<half>(?P<behind>&?1?2))?", _length),
    Rule("u", r"(?P<n>[N1])?(?P<half>2)(?P<u>U)", _length),
    Rule("u", r"(?P<n>N)(?P<u>[yifc])(?=[AFbg])", _length),
)

IN_PARTS = Pass(
    Rule("k", r"(?P<p>P)[,ont@~]*(?P<k>k)", _in_part),
    Rule("k", r"(?P<k>k)[,ont]*(?P<p>P)", _in_part),
    Rule("k", r"~(?P<k>k)", _about),
    Rule("u", r"(?P<a>u)[&,]?(?P<b>u)", _lengths),
)

AGAIN = Pass(
    Rule("v", r"(?P<v>v)[,n@to]*(?P<k>k)", _at_time),
    Rule("v", r"(?P<k>k)[,no]*(?P<v>v)", _at_time),
    Rule("v", r"n?t?(?P<v>V)[,n@to]*(?P<k>k)", _on_workdays),
    Rule("v", r"(?P<k>k)[,no]*t?(?P<v>V)", _on_workdays),
    Rule("v", r"(?P<v>v)[,nto]*(?P<p>P)", _in_day_part),
    Rule("v", r"(?P<v>v)[,nto]*(?P<d>d)", _on_date),
)
