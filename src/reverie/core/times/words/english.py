"""English."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS, clock_of
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.phrase import Grain
from reverie.core.times.values import Clock, Span, Spelled, begin
from reverie.core.times.words.tables import MIDNIGHT, NOON, Words, easter, from_easter, nth, on, parts, table

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]
_ONES += ["seventeen", "eighteen", "nineteen"]
_TENS = {20: "twenty", 30: "thirty", 40: "fou?rty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}
_FIRST = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
]
_FIRST += ["fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"]


def _numbers() -> tuple[dict[object, str], dict[object, str]]:
    cardinal: dict[object, str] = {Spelled(number): word for number, word in enumerate(_ONES)}
    ordinal: dict[object, str] = dict(enumerate(_FIRST, 1))
    for ten, word in _TENS.items():
        cardinal[Spelled(ten)] = word
        ordinal[ten] = word.replace("y", "ieth") if ten != 40 else "fou?rtieth"
        for one in range(1, 10):
            cardinal[Spelled(ten + one)] = f"{word}[ -]{_ONES[one]}"
            ordinal[ten + one] = f"{word}[ -]{_FIRST[one - 1]}"
    del ordinal[2]  # "second" is a unit, too, and comes in by a pattern
    return cardinal, ordinal


_CARDINAL, _ORDINAL = _numbers()
_SMALL = "|".join(sorted((str(word) for word in _CARDINAL.values()), key=len, reverse=True))


def _meridiem(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``8am``, ``8.30 pm``, ``9a`` and ``7p``."""
    clock = clock_of(match[1], match[2], match[3])
    if clock is None:
        return ()
    if clock.hour > 12 or (match[4].startswith("a") and "p" in match[4]):
        return [("C", clock)]
    hour = clock.hour % 12 + (12 if match[4].startswith("p") else 0)
    return [("C", Clock(hour, clock.minute, clock.second))]


def _pointed(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``at 6.45``."""
    clock = clock_of(match[1], match[2])
    return [("C", clock)] if clock else ()


def _spoken_year(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read "nineteen eighty six", "seventeen hundred thirty three" and "two thousand and five"."""
    if match["thousand"]:
        return [("Y", 2000 + _value(match["rest"]))]
    if match["century"]:
        return [("Y", _value(match["century"]) * 100 + _value(match["years"]))]
    return [("Y", _value(match["hundred"]) * 100 + _value(match["over"]))]


def _value(words: str | None) -> int:
    if not words:
        return 0
    return next((int(str(number)) for number, word in _CARDINAL.items() if re.fullmatch(str(word), words)), 0)


def _ordinal_digits(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("O", int(match[1]))]


def _decade(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    year = int(match[1])
    year += 1900 if year < 100 else 0
    return [("r", Span(begin(year), begin(year + 10), Grain.DECADE))]


def _every_other(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("E", None), ("N", 2)]


def _second(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("O", 2)]


_CENTURY = "sixteen|seventeen|eighteen|nineteen|twenty"
_MONTHS: dict[object, str] = {
    1: r"january|jan\.?",
    2: r"february|feb\.?",
    (3, True): r"march|mar\.?",
    4: r"april|apr\.?",
    (5, True): "may",
    6: r"june|jun\.?",
    7: r"july|jul\.?",
    8: r"august|aug\.?",
    9: r"september|sept\.?|sep\.?",
    10: r"october|oct\.?",
    11: r"november|nov\.?",
    12: r"december|dec\.?",
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WORDS: Words = {
    **table("N", _CARDINAL),
    **table("O", _ORDINAL),
    **table("M", _MONTHS),
    **table(
        "W",
        {
            0: r"monday|mon\.?",
            1: r"tuesday|tues?\.?",
            2: r"wednesday|weds?\.?",
            3: r"thursday|thurs?\.?|thu\.?",
            4: r"friday|fri\.?",
            5: "saturday",
            (5, True): r"sat\.?",
            6: "sunday",
            (6, True): r"sun\.?",
        },
    ),
    **{f"{day}s": (("E", None), ("W", number)) for number, day in enumerate(_WEEKDAYS)},
    **table(
        "U",
        {
            "second": "seconds?|secs?",
            "minute": "minutes?|mins?",
            "hour": "hours?|hrs?",
            "day": "days?",
            "week": "weeks?|wks?",
            "month": "months?",
            "quarter": "quarters?",
            "year": "years?|yrs?",
            "decade": "decades?",
        },
    ),
    **table(
        "R",
        {
            0: "today",
            -1: "yesterday",
            1: "tomorrow|tmrw?|tmr",
            -2: "(?:the )?day before yesterday",
            2: "(?:the )?day after tomorrow",
        },
    ),
    **parts(
        {
            "morning": "(?:early |late )?mornings?",
            "noon": "lunchtime|lunch time|midday",
            "afternoon": "(?:early |late )?afternoons?",
            "evening": "(?:early |late )?evenings?",
            "night": "(?:late )?nights?",
        }
    ),
    "tonight": (("R", 0), ("P", parts({"night": ""})[""][0][1])),
    "noon|12 noon": (("C", NOON),),
    "midnight": (("C", MIDNIGHT),),
    "the day before": (("R", -1),),
    "the day after|the next day": (("R", 1),),
    "fortnight": (("U", "week"), ("L", None)),
    "a fortnight|in a fortnight(?:'s time)?": (("I", None), ("N", 2), ("U", "week")),
    "a fortnight ago": (("N", 2), ("U", "week"), ("A", None)),
    "last fortnight": (("L", None), ("N", 2), ("U", "week")),
    "half an hour|a half hour": (("2", None), ("U", "hour")),
    "(?:and )?a half": (("2", None),),
    "a couple(?: of)?|couple of": (("N", 2),),
    "a few|several|few": (("N", 3),),
    "an?": (("1", 1),),
    "now|right now|at (?:this|the) (?:time|moment)|at present": (("w", None),),
    "last|previous": (("L", None),),
    "past": (("l", None),),
    "this|current|the current": (("T", None),),
    "this past": (("l", None),),
    "before last": (("L", None), ("L", None)),
    "next|following": (("X", None),),
    "coming|upcoming|this coming|this upcoming": (("x", None),),
    "ago|back|earlier": (("A", None),),
    "from now|later|hence": (("F", None),),
    "within": (("I", None),),
    "since|from|starting": (("S", None),),
    "before|prior to|by": (("B", None),),
    "after": (("G", None),),
    "between": (("J", None),),
    "and": (("&", None),),
    "to|through|thru": (("-", "to"),),
    "until|till|til|up to": (("-", "until"),),
    r"beginning|start|early": (("s", None),),
    "end|late": (("e", None),),
    "middle|mid": (("m", None),),
    "of|'s": (("o", None),),
    "the": (("t", None),),
    "on|in|during": (("n", None),),
    "at": (("@", None),),
    "around|about|approximately|circa|sometime|some time": (("~", None),),
    "every|each": (("E", None),),
    "daily": (("E", None), ("U", "day")),
    "weekly": (("E", None), ("U", "week")),
    "monthly": (("E", None), ("U", "month")),
    "yearly|annually": (("E", None), ("U", "year")),
    "hourly": (("E", None), ("U", "hour")),
    "every other": (("E", None), ("N", 2)),
    "weekdays?|workdays?": (("V", "workday"),),
    "weekends?": (("V", "weekend"),),
    r"am|a ?\. ?m ?\.|a m|in the am": (("K", "am"),),
    r"pm|p ?\. ?m ?\.|p m|in the pm": (("K", "pm"),),
    "o'?clock": (("H", None),),
    "half past": (("h", 30),),
    "(?:a )?quarter past": (("h", 15),),
    "(?:a )?quarter to": (("h", -15),),
    **table("Q", {"spring": "spring", "summer": "summer", "autumn": "autumn|fall", "winter": "winter"}),
    **table("Q", {"q1": "q1", "q2": "q2", "q3": "q3", "q4": "q4"}),
    **table(
        "Z",
        {
            on(12, 25): "christmas(?: day)?|xmas",
            on(12, 24): "christmas eve",
            on(12, 31): "new years? eve|new year's eve",
            on(1, 1): "new years?(?: day)?|new year's(?: day)?",
            on(10, 31): "halloween",
            on(2, 14): "valentine'?s day",
            on(7, 4): "independence day",
            on(5, 1): "(?:international )?workers'? day|labour day|may day",
            easter: "easter(?: sunday)?",
            from_easter(-2): "good friday",
            from_easter(1): "easter monday",
            nth(11, 3, 4): "thanksgiving(?: day)?",
            nth(11, 3, 4, 1): "black friday",
            nth(5, 6, 2): "mother'?s day",
            nth(6, 6, 3): "father'?s day",
            nth(9, 0, 1): "labor day",
        },
    ),
}

ENGLISH = Lexicon(
    "en",
    spaced=True,
    order="mdy",
    words=_WORDS,
    patterns=(
        PATTERNS[0],
        (r"(?<![\w.:])(\d{1,2})(?:[:.](\d{2}))?(?::(\d{2}))? ?(a\.m\.?|p\.m\.?|am|pm)(?!\w)", _meridiem),
        (r"(?<![\w.:])(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(a|p)(?!\w)", _meridiem),
        (r"(?<![\w.:])(\d{1,2})(\d{2})() ?(a\.m\.?|p\.m\.?|am|pm)(?!\w)", _meridiem),
        (r"(?<=at )(\d{1,2})\.(\d{2})(?![\d.])", _pointed),
        (r"(?<!\w)((?:1\d|20)?\d0)'?s(?!\w)", _decade),
        (r"(?<!\w)(\d{1,2}) ?(?:st|nd|rd|th)(?!\w)", _ordinal_digits),
        *PATTERNS[1:],
    ),
    spoken=(
        (
            r"second(?= of (?:the )?(?:next|this|last|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
            r"| (?:mon|tues|wednes|thurs|fri|satur|sun)day)",
            _second,
        ),
        (r"every second(?= (?:day|week|month|year)(?!\w))", _every_other),
        (
            rf"(?<!\w)(?:(?P<thousand>two thousand)(?: and)?(?: (?P<rest>{_SMALL}))?"
            rf"|(?P<hundred>{_CENTURY}) hundred(?: and)?(?: (?P<over>{_SMALL}))?"
            rf"|(?P<century>{_CENTURY})[ -](?P<years>(?:twenty|thirty|fou?rty|fifty|sixty|seventy|eighty|ninety)"
            rf"(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|oh?[ -]\w+|nineteen|eighteen|seventeen|sixteen"
            rf"|fifteen|fourteen|thirteen|twelve|eleven|ten))(?!\w)",
            _spoken_year,
        ),
    ),
)
