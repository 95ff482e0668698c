"""Rules for spans of time: units near now, months and years, distances, and what lies between two times."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from reverie.core.times.clocks import COUNTED
from reverie.core.times.days import STEPS
from reverie.core.times.grammar import Part, Pass, Rule
from reverie.core.times.phrase import Direction, Grain
from reverie.core.times.values import (
    GRAINS,
    HOURLY,
    SECONDS,
    Span,
    begin,
    floor,
    shifted,
)

_DAY = timedelta(days=1)
#: The months of each season of the northern half; the last ends in the next year.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
#: Which third of a span its beginning, middle and end are.
THIRDS = {"s": 0, "m": 1, "e": 2}


# --- spans by name --------------------------------------------------------------------------------------------------


def _unit(part: Part) -> Span | None:
    """Read "last week", "the week before last", "next 3 months"."""
    unit = COUNTED.get(part.letter("u"), part.value("u"))
    if not isinstance(unit, str):
        return None
    now, steps = part.now.moment, sum(STEPS[letter] for letter in part.letter("s"))
    number = part.number("n", 0)
    if number:
        ahead = _ahead(part, steps * number, unit)
        if ahead is None or not steps:
            return None
        if unit not in HOURLY:
            now, ahead = floor(now, "day"), floor(ahead, "day")
        return _from_now(now, ahead, steps, unit)
    if unit in HOURLY or unit == "day":
        ahead = _ahead(part, steps, unit)
        return None if ahead is None or not steps else _from_now(now, ahead, steps, unit)
    return whole(shifted(floor(now, unit), steps, unit), unit)


def _ahead(part: Part, number: float, unit: str) -> datetime | None:
    now = part.now
    return now.elapsed(now.moment, number * SECONDS[unit]) if unit in HOURLY else shifted(now.moment, number, unit)


def _from_now(now: datetime, other: datetime, steps: int, unit: str) -> Span:
    # By the sign and not by comparing: in the hour that comes twice the later time can be the smaller one.
    since, until = (now, other) if steps > 0 else (other, now)
    return Span(since, until, GRAINS[unit])


def whole(start: datetime | None, unit: str) -> Span | None:
    """Return the unit that begins at a moment."""
    end = shifted(start, 1, unit) if start is not None else None
    return Span(start, end, GRAINS[unit]) if end is not None else None


def _month(part: Part, *, named: bool = False) -> Span | None:
    """Read a month by name or number, of a year that is said or the nearest one.

    ``named``: what stands before it says that it is a month ("since march").
    """
    value = part.value("m")
    month, weak = value if isinstance(value, tuple) else (value, False)
    if not isinstance(month, int) or not 1 <= month <= 12:
        return None
    if weak and not named and not (part.has("p") or part.letter("s") not in ("", "T") or part.has("y")):
        return None
    today = part.now.moment
    if part.has("y"):
        year = int(part.number("y"))
        year += 2000 if year < 100 else 0
    elif part.value("u") == "year":
        year = today.year + sum(STEPS[letter] for letter in part.letter("s"))
    else:
        how = part.letter("s")
        back = part.now.direction == Direction.PAST if not how or how == "T" else how in "Ll"
        strict = how in ("L", "l", "X", "x")
        year = today.year
        if how != "T":
            year -= back and (month > today.month or (strict and month == today.month))
            year += not back and (month < today.month or (strict and month == today.month))
    span = whole(begin(year, month), "month") if 1 <= year <= 9998 else None
    open_year = not part.has("y") and not part.has("s")
    return replace(span, floating=open_year) if span is not None else None


def _year(part: Part) -> Span | None:
    year = int(part.number("y"))
    if part.letter("y") == "N" and (year < 10 or (year < 100 and not part.has("c"))):
        return None
    year += (2000 if year < 70 else 1900) if year < 100 else 0
    return whole(begin(year), "year") if 1000 <= year <= 2200 else None


def _weekend(part: Part) -> Span | None:
    steps = sum(STEPS[letter] for letter in part.letter("s"))
    monday = floor(part.now.moment, "week") + timedelta(days=7 * steps)
    if part.value("v") == "workday":
        return Span(monday, monday + 5 * _DAY, Grain.DAY) if part.has("s") else None
    saturday = monday + 5 * _DAY
    if not part.has("s"):
        over = part.now.moment >= saturday + 2 * _DAY
        if part.now.direction == Direction.PAST and not over:
            saturday -= 7 * _DAY
    return Span(saturday, saturday + 2 * _DAY, Grain.DAY)


def _season(part: Part) -> Span | None:
    name = part.value("q")
    if not isinstance(name, str):
        return None
    now = part.now.moment
    if name.startswith("q"):
        month, length = int(name[1]) * 3 - 2, 3
    else:
        month, length = SEASONS[name], 3
    if part.has("y"):
        years = [int(part.number("y"))]
    elif part.value("u") == "year" or part.letter("s") == "T":
        years = [now.year + sum(STEPS[letter] for letter in part.letter("s"))]
    else:
        years = [now.year - 1, now.year, now.year + 1]
    starts = [begin(year, month) for year in years if 1 <= year <= 9997]
    back = part.letter("s") in ("L", "l") or (not part.has("s") and part.now.direction == Direction.PAST)
    if len(starts) > 1:
        starts = [start for start in starts if (start <= now) == back]
    if not starts:
        return None
    start = starts[-1] if back else starts[0]
    return Span(start, shifted(start, length, "month"), Grain.QUARTER)


def _third_of_unit(part: Part) -> Span | None:
    span = _unit(part)
    if span is None or span.since is None or span.until is None:
        return None
    third = (span.until - span.since) / 3
    at = THIRDS[part.letter("t")]
    return Span(span.since + at * third, span.since + (at + 1) * third, span.grain, exact=False)


def _bare_year(part: Part) -> Span | None:
    year = int(part.number("z", 0))
    return whole(begin(year), "year") if 1000 <= year <= 2200 else None


NAMED = Pass(
    Rule("r", r"[nt]*(?P<s>[LTXx]+)(?P<u>U)(?![N]?i|W)", _unit),
    Rule("r", r"[nt]*(?P<u>U)(?P<s>[LX]+)", _unit),
    Rule("r", r"[nt]*(?P<s>[LXlx])o?(?P<n>N)[o]?(?P<u>U)", _unit),
    Rule("r", r"[nt]*(?P<n>N)(?P<s>[LXlx])(?P<u>U)", _unit),
    Rule("r", r"[nt]*(?P<n>N)(?P<u>U)(?P<s>[L])", _unit),
    Rule("r", r"(?P<p>n)?t?(?P<s>[LTXxl])?(?P<m>M)(?:[o,n]*(?P<y>Y))?", _month),
    Rule("r", r"(?<=[SJBGo-])t?(?P<m>M)(?:[o,n]*(?P<y>Y))?", lambda part: _month(part, named=True)),
    Rule("r", r"(?P<p>n)?t?(?P<m>M)o?(?P<s>[LTX])(?P<u>U)", _month),
    Rule("r", r"(?P<p>n)?t?(?P<m>M)(?P<s>[Lx])(?!U)", _month),
    Rule("r", r"(?:(?P<y>[YN])yo?)?(?P<m>N)j(?![AFNi])", _month),
    Rule("r", r"(?P<s>[LTX]+)(?P<u>U)o?(?P<m>N)j(?!N)", _month),
    Rule("r", r"(?P<y>Y)(?P<c>y)", _year),
    Rule("r", r"(?P<y>N)(?P<c>y)(?![AFbg])", _year),
    Rule("r", r"(?P<s>[LX])(?P<n>N)(?P<u>[yi])", _unit),
    Rule(
        "r",
        r"[nt]*U(?P<y>Y)|(?:n|(?<=[SJBG]))t?(?P<z>Y)",
        lambda part: _year(part) if part.has("y") else _bare_year(part),
    ),
    Rule("r", r"n?t?(?P<s>[LTXxl]*)t?(?P<v>V)", _weekend),
    Rule("r", r"n?t?(?P<v>V)(?P<s>[LX]+)", _weekend),
    Rule("r", r"n?t?(?P<s>[LTXxl])?t?(?P<q>Q)(?:[o,n]*(?P<y>Y))?", _season),
    Rule("r", r"(?P<s>[LTX])(?P<u>U)o?(?P<q>Q)", _season),
    Rule("r", r"(?P<y>Y)y?o?(?P<q>Q)", _season),
    Rule("r", r"n?t?(?P<q>Q)(?P<s>[L])", _season),
    Rule("r", r"(?P<s>[LTX])(?P<u>U)o?(?P<t>[sem])", _third_of_unit),
)
