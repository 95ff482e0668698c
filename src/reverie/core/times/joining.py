"""Rules that put things together: distances from now or a day, times of days, and spans from one to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time, timedelta

from reverie.core.times.days import STEPS
from reverie.core.times.grammar import Now, Part, Pass, Rule
from reverie.core.times.phrase import Direction, Grain
from reverie.core.times.spans import THIRDS, whole
from reverie.core.times.values import GRAINS, HOURLY, SECONDS, Clock, Day, Instant, Span, begin, floor, shifted
from reverie.core.times.values import Part as DayPart

_DAY = timedelta(days=1)


def _lasting(part: Part) -> Span | None:
    """Read "the last 3 weeks", where number and unit stand as a duration already."""
    steps, length = STEPS.get(part.letter("s")), part.value("d")
    if not steps or not isinstance(length, tuple):
        return None
    ahead = moved(part.now, part.now.moment, length, steps)
    if ahead is None:
        return None
    now = part.now.moment
    if all(unit not in HOURLY for _, unit in length):
        now, ahead = floor(now, "day"), floor(ahead, "day")
    since, until = (now, ahead) if steps > 0 else (ahead, now)
    return Span(since, until, GRAINS[length[0][1]])


def _third(part: Part) -> Span | None:
    """Read the beginning, middle or end of a span."""
    span = part.value("r")
    if not isinstance(span, Span) or span.since is None or span.until is None:
        return None
    third = (span.until - span.since) / 3
    at = THIRDS[part.letter("t")]
    return Span(span.since + at * third, span.since + (at + 1) * third, span.grain, exact=False)


def _week_of(part: Part) -> Span | None:
    day = one_day(part.value("d"), part.now)
    if part.value("u") not in ("week", "month", "year") or day is None or day.since is None:
        return None
    unit = str(part.value("u"))
    return whole(floor(day.since, unit), unit)


# --- distances ------------------------------------------------------------------------------------------------------


def moved(now: Now, moment: datetime, length: tuple[tuple[float, str], ...], sign: int) -> datetime | None:
    """Return the moment so much later, or earlier: days by the calendar, then hours as they pass."""
    at: datetime | None = moment
    passed = 0.0
    for number, unit in length:
        if unit in HOURLY:
            passed += sign * number * SECONDS[unit]
        elif at is not None:
            at = shifted(at, sign * number, unit)
    return now.elapsed(at, passed) if at is not None and passed else at


def _away(part: Part) -> object:
    """Read "3 days ago", "in 2 weeks": a day, or a moment where the distance is shorter than a day."""
    length = part.value("d")
    if not isinstance(length, tuple):
        return None
    sign = -1 if part.has("back") else 1
    at = moved(part.now, part.now.moment, length, sign)
    return _landed(at, length)


def _landed(at: datetime | None, length: tuple[tuple[float, str], ...]) -> object:
    if at is None:
        return None
    if all(SECONDS[unit] >= SECONDS["day"] for _, unit in length):
        # A month ago and a year ago are said of about that time.
        return Day(fixed=at.date(), exact=all(unit in ("day", "week") for _, unit in length))
    grain = min((GRAINS[unit] for _, unit in length), key=lambda grain: SECONDS[grain.value])
    return Instant(at, Grain.MINUTE if grain == Grain.HOUR else grain)


def _away_from(part: Part) -> object:
    """Read "3 days after Christmas" and "2 weeks before 13 May"."""
    length, anchor = part.value("u"), part.value("d")
    if not isinstance(length, tuple):
        return None
    start = anchor.at if isinstance(anchor, Instant) else None
    if isinstance(anchor, Day):
        days = anchor.resolve(part.now.today, part.now.direction)
        start = datetime.combine(days[0], time()) if days else None
    if isinstance(anchor, Span):
        start = anchor.since
    if start is None:
        return None
    return _landed(moved(part.now, start, length, -1 if part.has("back") else 1), length)


def _now(part: Part) -> Instant:
    return Instant(part.now.moment, Grain.SECOND)


# --- times of days --------------------------------------------------------------------------------------------------


def _moment(part: Part) -> Instant | None:
    """Put a time of day on a day."""
    day, clock, during = part.value("d"), part.value("k"), part.value("p")
    if clock is None and part.has("h"):
        hour, minute = part.number("h"), part.number("m", 0)
        if hour != int(hour) or not 0 <= hour <= 24 or not 0 <= minute < 60:
            return None
        clock = Clock(int(hour) % 24, int(minute), half_open=1 <= hour <= 12, exact="~" not in part.letter("at"))
    if not isinstance(day, Day) or not isinstance(clock, Clock):
        return None
    if isinstance(during, DayPart):
        clock = during.holds(clock)
    days = day.resolve(part.now.today, part.now.direction)
    if not days:
        return None
    readings = [clock.on(days[0])]
    if clock.half_open:
        # Somebody who says neither means the waking hours: seven to noon, and one to six in the afternoon.
        other = replace(clock, hour=(clock.hour + 12) % 24)
        readings.append(other.on(days[0]))
        if clock.hour < 7:
            readings.reverse()
    return Instant(readings[0], clock.grain, clock.exact, tuple(readings[1:]))


def _part_of_day(part: Part) -> Span | None:
    day, during = part.value("d"), part.value("p")
    if not isinstance(day, Day) or not isinstance(during, DayPart):
        return None
    days = day.resolve(part.now.today, part.now.direction)
    if not days:
        return None
    start = datetime.combine(days[0], time())
    return Span(start + timedelta(hours=during.since), start + timedelta(hours=during.until), Grain.PART)


# --- from and to ----------------------------------------------------------------------------------------------------


def one_day(value: object, now: Now) -> Span | None:
    """Return a day as a span."""
    if not isinstance(value, Day):
        return None
    days = value.resolve(now.today, now.direction)
    start = datetime.combine(days[0], time()) if days else None
    return Span(start, start + _DAY, Grain.DAY, value.exact) if start is not None else None


def span_of(value: object, now: Now) -> Span | None:
    """Return the span of a day, moment, time of day or span."""
    if isinstance(value, Span):
        return value
    if isinstance(value, Day):
        return one_day(value, now)
    if isinstance(value, Instant):
        return Span(value.at, value.at, value.grain, value.exact)
    if isinstance(value, Clock):
        at = value.on(now.today)
        return Span(at, at, value.grain, value.exact)
    return None


def _between(part: Part) -> Span | None:
    """Read from one time to another; what the second leaves open the first decides."""
    first, second = part.value("a"), part.value("b")
    if isinstance(first, Day) and isinstance(second, Day):
        return _days_between(first, second, part.now)
    if isinstance(first, Clock) and isinstance(second, Clock):
        first, second = _same_half(first, second), second
    left = span_of(first, part.now)
    right = span_of(second, part.now)
    if isinstance(first, Instant) and isinstance(second, Clock):
        day = first.at.date()
        at = second.on(day)
        if second.half_open and at <= first.at:
            at += timedelta(hours=12)
        right = Span(at, at, second.grain)
    if left is None or right is None or left.since is None or right.until is None:
        return None
    until = right.until
    if until < left.since and isinstance(second, Clock):
        until += _DAY
    since = left.since
    if right.floating:  # the next one after the first
        until = _in_order(until, lambda moment: moment > since, first_first=False)
    elif left.floating:
        since = _in_order(since, lambda moment: moment < until, first_first=True)
    if until <= since:
        return None
    return Span(since, until, min(left.grain, right.grain, key=_fineness))


def _in_order(moment: datetime, fits: Callable[[datetime], bool], *, first_first: bool) -> datetime:
    """Return the moment in the year that puts it on the right side, as near as can be."""
    years = range(9, -10, -1) if first_first else range(-9, 10)
    for year in years:
        other = shifted(moment, year, "year")
        if other is not None and fits(other):
            return other
    return moment


def _fineness(grain: Grain) -> int:
    return list(Grain).index(grain)


def _same_half(first: Clock, second: Clock) -> Clock:
    """Return the first of two times of day in the half of the second: "from 5 to 7 pm" is in the evening."""
    if first.half_open and not second.half_open and second.hour >= 12 and first.hour % 12 + 12 <= second.hour:
        return replace(first, hour=first.hour % 12 + 12, half_open=False)
    return first


def _days_between(first: Day, second: Day, now: Now) -> Span | None:
    if first.fixed is None and not first.month and second.month:
        first = replace(first, month=second.month, year=first.year or second.year)
    if second.fixed is None and not second.month and second.day and first.month:
        second = replace(second, month=first.month, year=second.year or first.year)
    if first.fixed is None and not first.year and second.year:
        first = replace(first, year=second.year)
    left, right = one_day(first, now), None
    if left is None or left.since is None:
        return None
    if second.fixed is not None or second.year or second.short_year is not None:
        right = one_day(second, now)
    else:  # the next one after the first
        right = one_day(second, replace(now, moment=left.since, direction=Direction.FUTURE, fold=0))
    if right is None or right.until is None or right.until <= left.since:
        return None
    return Span(left.since, right.until, Grain.DAY)


def _between_numbers(part: Part) -> object:
    """Read "from 5 to 7 pm" and "3 to 5 May", whose first number needs the second."""
    second = part.value("b")
    number = part.number("n", -1)
    if number != int(number):
        return None
    if isinstance(second, Clock) and 0 <= number <= 24:
        first = _same_half(Clock(int(number) % 24, half_open=1 <= number <= 12), second)
        left, right = span_of(first, part.now), span_of(second, part.now)
        if left is None or right is None or left.since is None or right.until is None or right.until < left.since:
            return None
        return Span(left.since, right.until, Grain.MINUTE)
    if isinstance(second, Day) and second.day and 1 <= number <= 31:
        return _days_between(Day(day=int(number)), second, part.now)
    return None


def _to_number(part: Part) -> Span | None:
    """Read "3 May to 5"."""
    first, number = part.value("a"), part.number("n", -1)
    if not isinstance(first, Day) or not first.day or not 1 <= number <= 31 or number != int(number):
        return None
    return _days_between(first, Day(day=int(number)), part.now)


def _years_between(part: Part) -> Span | None:
    first, second = int(part.number("a")), int(part.number("b"))
    if not 1000 <= first < second <= 2200:
        return None
    return Span(begin(first), begin(second + 1), Grain.YEAR)


def _open(part: Part) -> Span | None:
    """Read "since", "before" and "after"."""
    span = span_of(part.value("x"), part.now)
    if span is None:
        return None
    if part.has("since"):
        return Span(span.since, None, span.grain, span.exact)
    if part.has("after"):
        return Span(span.until, None, span.grain, span.exact)
    return Span(None, span.since, span.grain, span.exact)


def _until(part: Part) -> Span | None:
    span = span_of(part.value("x"), part.now)
    if span is None or part.value("w") != "until":
        return None
    return Span(None, span.until, span.grain, span.exact)


DISTANT = Pass(
    Rule("r", r"[nt]*(?P<s>[LXlx])t?(?P<d>u)", _lasting),
    Rule("r", r"[nt]*(?P<d>u)(?P<s>[L])", _lasting),
    Rule("d", r"(?P<d>u)(?P<back>A)(?![ont]*[dr])", _away),
    Rule("d", r"(?P<back>a)~?(?P<d>u)", _away),
    Rule("d", r"[In]~?(?P<d>u)F?", _away),
    Rule("d", r"(?P<d>u)(?:F|g(?!d))(?![ont]*d)", _away),
    Rule("d", r"[In]?(?P<u>u)(?:[GgFS]|SF)[ont]*(?P<d>[dqr])", _away_from),
    Rule("d", r"(?P<u>u)(?P<back>[BbA])[ont]*(?P<d>[dqr])", _away_from),
    Rule("q", r"@?(?P<w>w)", _now),
    Rule("r", r"[nt]*(?P<t>[sem])[ont]*(?P<r>r)", _third),
    Rule("r", r"(?P<r>r)o?(?P<t>[sem])", _third),
)

MOMENTS = Pass(
    Rule("q", r"(?P<d>d)(?:[,ont@~-]*(?P<p>P))?[,ont@~-]*(?P<k>k)", _moment),
    Rule("q", r"(?P<k>k)[,ont]*(?P<d>d)(?:[,ont]*(?P<p>P))?", _moment),
    Rule("q", r"(?P<d>d)(?:[,ont@~]*(?P<p>P))?(?P<at>[@~]+)(?P<h>N)(?P<m>N)?(?![UMy])", _moment),
    Rule("q", r"(?P<h>N),(?P<d>d)(?P<p>P)", _moment),
    Rule("q", r"(?P<d>d)(?P<h>N)(?P<m>N)(?![UMy])", _moment),
    Rule("r", r"(?P<d>d)[,ont]*(?P<p>P)", _part_of_day),
    Rule("r", r"t?(?P<u>U)o[t]?(?P<d>d)", _week_of),
)

BETWEEN = Pass(
    Rule("r", r"[JS]?[tn@]*(?P<a>[dkqr])[tn@,]*-[tn@]*(?P<b>[dkqr])", _between),
    Rule("r", r"J[tn@]*(?P<a>[dkqr])[tn@,]*[&-][tn@]*(?P<b>[dkqr])", _between),
    Rule("r", r"(?P<a>[dkqr])[&-](?P<b>[dkqr])J", _between),
    Rule("r", r"[JS]?[tn@]*(?P<n>[NO])[-&][tn@]*(?P<b>[kd])", _between_numbers),
    Rule("r", r"(?P<a>d)-(?P<n>[NO])i?(?![UH%])", _to_number),
    Rule("r", r"[JS]?[tn]*(?P<a>Y)[-&][tn]*(?P<b>Y)", _years_between),
    Rule("r", r"(?P<since>S)[,tn@]*(?P<x>[dkqr])", _open),
    Rule("r", r"(?P<x>[dqr])(?P<since>S)", _open),
    Rule("r", r"(?P<before>B)[tn@]*(?P<x>[dqr])", _open),
    Rule("r", r"(?P<x>[dqr])o?(?P<before>[bA])", _open),
    Rule("r", r"(?P<after>G)[tn@]*(?P<x>[dqr])", _open),
    Rule("r", r"(?P<x>[dqr])o?(?P<after>[gF])", _open),
    Rule("r", r"(?P<w>-)[tn@]*(?P<x>[dqr])", _until),
)
