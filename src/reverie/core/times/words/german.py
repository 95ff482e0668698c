"""German."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS, clock_of
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.values import Spelled
from reverie.core.times.words.tables import MIDNIGHT, NOON, PARTS, Words, easter, from_easter, nth, on, parts, table

_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "funf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwolf",
    "dreizehn",
    "vierzehn",
    "funfzehn",
    "sechzehn",
]
_ONES += ["siebzehn", "achtzehn", "neunzehn"]
_TENS = {20: "zwanzig", 30: "dreißig", 40: "vierzig", 50: "funfzig", 60: "sechzig", 70: "siebzig", 80: "achtzig"}
_FIRST = [
    "erste",
    "zweite",
    "dritte",
    "vierte",
    "funfte",
    "sechste",
    "siebte",
    "achte",
    "neunte",
    "zehnte",
    "elfte",
    "zwolfte",
    "dreizehnte",
]
_END = "[nrms]?"


def _numbers() -> tuple[dict[object, str], dict[object, str]]:
    cardinal: dict[object, str] = {Spelled(number): word for number, word in enumerate(_ONES) if number != 1}
    ordinal: dict[object, str] = {number: word + _END for number, word in enumerate(_FIRST, 1)}
    for number in range(14, 20):
        ordinal[number] = f"{_ONES[number]}te{_END}"
    for ten, word in (_TENS | {90: "neunzig"}).items():
        cardinal[Spelled(ten)] = word
        ordinal[ten] = f"{word}ste{_END}"
        for one in range(1, 10):
            whole = ("ein" if one == 1 else _ONES[one]) + "und" + word
            cardinal[Spelled(ten + one)] = whole
            ordinal[ten + one] = f"{whole}ste{_END}"
    return cardinal, ordinal


_CARDINAL, _ORDINAL = _numbers()
_WEEKDAYS = {
    0: "montag",
    1: "dienstag",
    2: "mittwoch",
    3: "donnerstag",
    4: "freitag",
    5: "samstag|sonnabend",
    6: "sonntag",
}
_SHORT = {0: "mo", 1: "di", 2: "mi", 3: "do", 4: "fr", 5: "sa", 6: "so"}
_PARTS = {
    "morning": "fruh|morgens?|vormittags?|morgen",
    "afternoon": "nachmittags?",
    "evening": "abends?",
    "night": "nachts?",
    "noon": "mittags?",
}


def _ordinal(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("O", int(match[1]))] if 1 <= int(match[1]) <= 31 else ()


def _hour(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``7:30 Uhr``, ``7.30 Uhr`` and ``7 Uhr 30``."""
    clock = clock_of(match[1], match[2])
    return [("C", clock)] if clock else ()


def _dotted(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``03.05.`` as a day of a month."""
    day, month = int(match[1]), int(match[2])
    return [("O", day), ("M", month)] if 1 <= day <= 31 and 1 <= month <= 12 else ()


def _day_parts() -> Words:
    """Return "montagabend" and the like."""
    return {
        f"(?:{weekday})(?:{words})": (("W", number), ("P", PARTS[name]))
        for number, weekday in _WEEKDAYS.items()
        for name, words in _PARTS.items()
    }


_WORDS: Words = {
    **table("N", _CARDINAL),
    **table("O", _ORDINAL),
    **table(
        "M",
        {
            1: r"januar|janner|jan\.?",
            2: r"februar|feber|feb\.?",
            3: r"marz|mrz\.?",
            4: r"april|apr\.?",
            5: "mai",
            6: r"juni|jun\.?",
            7: r"juli|jul\.?",
            8: r"august|aug\.?",
            9: r"september|sept\.?|sep\.?",
            10: r"oktober|okt\.?",
            11: r"november|nov\.?",
            12: r"dezember|dez\.?",
        },
    ),
    **table("W", {number: f"(?:{word})" for number, word in _WEEKDAYS.items()}),
    **{f"(?:{word})s": (("E", None), ("W", number)) for number, word in _WEEKDAYS.items()},
    **table("W", {(number, True): rf"{word}\.?" for number, word in _SHORT.items()}),
    **_day_parts(),
    **table(
        "U",
        {
            "second": "sekunden?",
            "minute": "minuten?|min",
            "hour": "stunden?|std",
            "day": "tag(?:e[ns]?|s)?",
            "week": "wochen?",
            "month": "monat(?:e[ns]?|s)?",
            "quarter": "quartals?|quartale",
            "year": "jahr(?:e[ns]?|s)?",
            "decade": "jahrzehnt(?:en?)?",
        },
    ),
    **table("R", {0: "heute", -1: "gestern", 1: "morgen", -2: "vorgestern", 2: "ubermorgen", -3: "vorvorgestern"}),
    **parts(
        {
            "morning": "fruh|vormittags?|am morgen|am vormittag|in der fruh|fruhmorgens|morgens",
            "noon": "mittags|am mittag",
            "afternoon": "nachmittags?|am nachmittag|spatnachmittag",
            "evening": "abends?|am abend",
            "night": "nachts?|in der nacht",
        }
    ),
    "heute fruh|heute morgen": (("R", 0), ("P", PARTS["morning"])),
    "morgen fruh|morgen vormittag": (("R", 1), ("P", PARTS["morning"])),
    "gestern fruh|gestern morgen": (("R", -1), ("P", PARTS["morning"])),
    "(?:zu )?mittag|mittags um zwolf": (("C", NOON),),
    "mitternacht": (("C", MIDNIGHT),),
    "ein(?:e[mnrs]?)?": (("1", 1),),
    "anderthalb": (("N", 1.5),),
    "eineinhalb": (("N", 1.5),),
    "zweieinhalb": (("N", 2.5),),
    "halbe[nrs]?": (("2", None),),
    "halb": (("h", -30),),
    "viertel nach": (("h", 15),),
    "viertel vor": (("h", -15),),
    "dreiviertel": (("h", -15),),
    "viertel": (("h", -45),),
    "ein paar|einigen?": (("N", 3),),
    "jetzt|gerade eben|im moment": (("w", None),),
    "letzte[nmrs]?|vorige[nmrs]?|vergangene[nmrs]?": (("L", None),),
    "vorletzte[nmrs]?": (("L", None), ("L", None)),
    "diese[nmrs]?|diesjahrige[nmrs]?": (("T", None),),
    "nachste[nmrs]?|folgende[nmrs]?": (("X", None),),
    "ubernachste[nmrs]?": (("X", None), ("X", None)),
    "kommende[nmrs]?": (("X", None),),
    "her": (("A", None),),
    "vor": (("a", None),),
    "spater": (("F", None),),
    "binnen|innerhalb(?: von)?": (("I", None),),
    "seit|ab|von": (("S", None),),
    "bevor": (("B", None),),
    "nach": (("G", None),),
    "zwischen": (("J", None),),
    "und": (("&", None),),
    "bis zum|bis": (("-", "until"),),
    "anfang|beginn": (("s", None),),
    "ende": (("e", None),),
    "mitte": (("m", None),),
    "des|der|die|das|den|dem": (("t", None),),
    "vom": (("S", None), ("t", None)),
    "am|im|in|an|wahrend": (("n", None),),
    "um|gegen": (("@", None),),
    "ungefahr|etwa|circa|ca\\.?": (("~", None),),
    "jede[nmrs]?|alle": (("E", None),),
    "taglich": (("E", None), ("U", "day")),
    "wochentlich": (("E", None), ("U", "week")),
    "monatlich": (("E", None), ("U", "month")),
    "jahrlich": (("E", None), ("U", "year")),
    "stundlich": (("E", None), ("U", "hour")),
    "werktags?|wochentags?|unter der woche": (("V", "workday"),),
    "wochenenden?|wochenends": (("V", "weekend"),),
    "uhr": (("H", None),),
    **table("Q", {"spring": "fruhling|fruhjahr", "summer": "sommer", "autumn": "herbst", "winter": "winter"}),
    **table(
        "Z",
        {
            on(12, 25): "weihnachten|weihnachtstag",
            on(12, 24): "heiligabend|heilig abend",
            on(12, 31): "silvester",
            on(1, 1): "neujahr(?:stag)?",
            on(1, 6): "heilige drei konige|dreikonigstag",
            on(5, 1): "tag der arbeit|maifeiertag",
            on(10, 3): "tag der deutschen einheit",
            on(10, 31): "halloween|reformationstag",
            on(2, 14): "valentinstag",
            easter: "ostersonntag|ostern",
            from_easter(-2): "karfreitag",
            from_easter(1): "ostermontag",
            from_easter(39): "christi himmelfahrt|vatertag",
            from_easter(49): "pfingsten|pfingstsonntag",
            from_easter(50): "pfingstmontag",
            nth(5, 6, 2): "muttertag",
        },
    ),
}
#: Weekly by name: "montags".
for _number, _weekday in _WEEKDAYS.items():
    _WORDS |= {f"{word}s": (("E", None), ("W", _number)) for word in _weekday.split("|")}

GERMAN = Lexicon(
    "de",
    spaced=True,
    order="dmy",
    words=_WORDS,
    patterns=(
        *PATTERNS[:3],
        (r"(?<![\w.:])(\d{1,2})(?:[:.](\d{2}))? ?uhr(?: (\d{2}))?(?!\w)", _hour),
        (r"(?<![\w.:])(\d{1,2})\.(\d{1,2})\.(?!\d)", _dotted),
        (r"(?<![\w.:])(\d{1,2})\.(?= ?(?:[a-z]|$|,| ))", _ordinal),
        *PATTERNS[3:],
    ),
)
