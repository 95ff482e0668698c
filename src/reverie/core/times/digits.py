"""Dates and times in digits, alike in all languages but for the order of day and month."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.values import Clock, Day

#: A number that is part of a longer one, an address or a name is none.
_ALONE = r"(?<![0-9a-z_.:])"
_END = r"(?![0-9a-z_])"


def iso(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``2024-05-03`` and ``2024/5/3``, with or without a time."""
    day = full(int(match[1]), int(match[2]), int(match[3]))
    if day is None:
        return ()
    found: list[Meaning] = [("D", day)]
    if match[4] and (clock := clock_of(match[4], match[5], match[6])):
        found.append(("C", clock))
    return found


def triple(match: re.Match[str], lexicon: Lexicon) -> Sequence[Meaning]:
    """Read ``3/5/24``, ``03.05.2024`` and ``12-11-10``."""
    first, second, third = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "-" and len(match[4]) <= 2 and lexicon.order == "ymd":
        day = full(century(first), second, third)
        return [("D", day)] if day else ()
    year: int | tuple[int] = third if len(match[4]) == 4 else century(third)
    month, number = (first, second) if lexicon.order == "mdy" and match[2] != "." else (second, first)
    if month > 12:
        month, number = number, month
    day = full(year, month, number)
    return [("D", day)] if day else ()


def pair(match: re.Match[str], lexicon: Lexicon) -> Sequence[Meaning]:
    """Read ``5/12`` as a day of a month."""
    first, second = int(match[1]), int(match[2])
    month, number = (first, second) if lexicon.order in ("mdy", "ymd") else (second, first)
    if month > 12:
        month, number = number, month
    return [("D", Day(month=month, day=number))] if 1 <= month <= 12 and 1 <= number <= 31 else ()


def clock(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``17:30`` and ``17:30:05``."""
    found = clock_of(match[1], match[2], match[3])
    return [("C", found)] if found else ()


def year(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read a number of four digits that may be a year."""
    return [("Y", int(match[1]))]


def number(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read any other number."""
    text = match[1].replace(",", ".")
    return [("N", float(text) if "." in text else int(text))]


def clock_of(hour: str, minute: str | None, second: str | None = None) -> Clock | None:
    """Return the time of day, ``None`` if there is no such one. An hour of one digit may be of either half."""
    parts = int(hour), int(minute or 0), int(second or 0)
    if parts[0] > 24 or parts[1] > 59 or parts[2] > 59:
        return None
    return Clock(parts[0] % 24, parts[1], parts[2], half_open=1 <= parts[0] <= 12 and not hour.startswith("0"))


def full(year: int | tuple[int], month: int, day: int) -> Day | None:
    """Return a day of a year, ``None`` if there is no such one; a year in a tuple has two digits."""
    known = year if isinstance(year, int) else 2000 + year[0]
    try:
        date(known, month, day)
    except ValueError:
        return None
    if isinstance(year, tuple):
        return Day(short_year=year[0], month=month, day=day)
    return Day(year=year, month=month, day=day)


def century(number: int) -> int | tuple[int]:
    """Return a year, or in a tuple one of two digits whose century the present decides."""
    return number if number > 99 else (number,)


#: Tried in this order.
PATTERNS = (
    (_ALONE + r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:t(\d\d):(\d\d)(?::(\d\d))?z?)?(?![\d])", iso),
    (_ALONE + r"(\d{4}) (\d{2}) (\d{2})(?:t(\d\d):(\d\d)(?::(\d\d))?)?" + _END, iso),
    (_ALONE + r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d])", triple),
    (_ALONE + r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?!\d)", clock),
    (_ALONE + r"(\d{1,2})/(\d{1,2})(?![\d/])", pair),
    (r"(?<![\d.:])((?:1\d|20|21)\d\d)(?!\d)(?!\.\d)", year),
    (r"(?<!\d)(?<!\d[.,])(\d{1,4}(?:[.,]\d{1,2})?)(?!\d)", number),
)
