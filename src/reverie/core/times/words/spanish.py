"""Spanish."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS, clock_of
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.values import Clock, Spelled
from reverie.core.times.words.tables import MIDNIGHT, NOON, PARTS, Words, easter, from_easter, on, parts, table

_ONES = [
    "cero",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciseis",
]
_ONES += [
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidos",
    "veintitres",
    "veinticuatro",
    "veinticinco",
]
_ONES += ["veintiseis", "veintisiete", "veintiocho", "veintinueve"]
_TENS = {30: "treinta", 40: "cuarenta", 50: "cincuenta", 60: "sesenta", 70: "setenta", 80: "ochenta", 90: "noventa"}


def _numbers() -> dict[object, str]:
    cardinal: dict[object, str] = {Spelled(number): word for number, word in enumerate(_ONES) if number != 1}
    cardinal[Spelled(1)] = "uno"
    for ten, word in _TENS.items():
        cardinal[Spelled(ten)] = word
        for one in range(1, 10):
            cardinal[Spelled(ten + one)] = f"{word} y {_ONES[one]}"
    return cardinal


def _meridiem(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    clock = clock_of(match[1], match[2])
    if clock is None or clock.hour > 12:
        return [("C", clock)] if clock else ()
    return [("C", Clock(clock.hour % 12 + (12 if match[3] == "p" else 0), clock.minute))]


def _hours(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``15:00 h`` and ``15h``."""
    clock = clock_of(match[1], match[2])
    return [("C", clock)] if clock else ()


_WEEKDAYS = {0: "lunes", 1: "martes", 2: "miercoles", 3: "jueves", 4: "viernes", 5: "sabados?", 6: "domingos?"}
_WORDS: Words = {
    **table("N", _numbers()),
    **table("O", {1: "primero|primer|1ro|1°", 2: "2do", 3: "3ro"}),
    **table(
        "M",
        {
            1: r"enero|ene\.?",
            2: r"febrero|feb\.?",
            (3, False): r"marzo|mar\.?",
            4: r"abril|abr\.?",
            5: r"mayo",
            6: r"junio|jun\.?",
            7: r"julio|jul\.?",
            8: r"agosto|ago\.",
            9: r"septiembre|setiembre|sept\.?|sep\.?",
            10: r"octubre|oct\.?",
            11: r"noviembre|nov\.?",
            12: r"diciembre|dic\.?",
        },
    ),
    **table("W", _WEEKDAYS),
    **{f"los {day}": (("E", None), ("W", number)) for number, day in _WEEKDAYS.items()},
    **table("W", {(0, True): r"lun\.?", (2, True): r"mie\.?", (3, True): r"jue\.?", (4, True): r"vie\.?"}),
    **table("W", {(5, True): r"sab\.?", (6, True): r"dom\.?"}),
    **table(
        "U",
        {
            "second": "segundos?",
            "minute": "minutos?|min",
            "hour": "horas?",
            "day": "dias?",
            "week": "semanas?",
            "month": "mes(?:es)?",
            "quarter": "trimestres?",
            "year": "anos?",
            "decade": "decadas?",
        },
    ),
    **table(
        "R",
        {
            0: "hoy",
            -1: "ayer",
            1: "manana",
            -2: "anteayer|antes de ayer|antier",
            2: "pasado manana",
        },
    ),
    **parts(
        {
            "morning": "(?:por|de|en|a) la manana|esta manana(?= a las)",
            "noon": "(?:al?|del) mediodia",
            "afternoon": "(?:(?:por|de|en|a) la )?tardes?",
            "evening": "(?:(?:por|de|en|a) la )?noches?",
            "dawn": "(?:(?:por|de|en|a) la )?madrugada",
        }
    ),
    "esta manana": (("T", None), ("P", PARTS["morning"])),
    "manana por la manana|manana en la manana": (("R", 1), ("P", PARTS["morning"])),
    "ayer por la manana": (("R", -1), ("P", PARTS["morning"])),
    "anoche": (("R", -1), ("P", PARTS["evening"])),
    "mediodia": (("C", NOON),),
    "medianoche": (("C", MIDNIGHT),),
    "un|una": (("1", 1),),
    "media": (("2", None),),
    "y media": (("2", None),),
    "y cuarto": (("N", 15),),
    "menos cuarto": (("h", -15),),
    "menos diez": (("h", -10),),
    "menos cinco": (("h", -5),),
    "menos veinte": (("h", -20),),
    "a la una": (("@", None), ("N", 1)),
    "un par de|par de": (("N", 2),),
    "unos cuantos|unas cuantas|algunos|algunas|unos|unas": (("N", 3),),
    "ahora mismo|ahora": (("w", None),),
    "pasad[oa]s?|ultim[oa]s?|anterior(?:es)?": (("L", None),),
    "antepasad[oa]": (("L", None), ("L", None)),
    "este|esta|estos|estas|actual": (("T", None),),
    "proxim[oa]s?|siguientes?|que vienen?|entrante": (("X", None),),
    "hace|hacia": (("a", None),),
    "atras|antes": (("A", None),),
    "despues|mas tarde": (("F", None),),
    "dentro de|en|de aqui a": (("I", None),),
    "desde|a partir del?": (("S", None),),
    "antes del?|antes de": (("B", None),),
    "despues del?|tras": (("G", None),),
    "entre": (("J", None),),
    "y|e": (("&", None),),
    "hasta": (("-", "until"),),
    "al": (("-", None), ("t", None)),
    "a": (("-", None),),
    "principios?|inicios?|comienzos?": (("s", None),),
    "finales|fines|final": (("e", None),),
    "mediados": (("m", None),),
    "del": (("o", None),),
    "de": (("o", None),),
    "la|los|las": (("t", None),),
    "el": (("n", None), ("t", None)),
    "durante": (("n", None),),
    "a las?|a la": (("@", None),),
    "alrededor de|aproximadamente|sobre|como a": (("~", None),),
    "cada|todos los|todas las": (("E", None),),
    "diariamente|a diario": (("E", None), ("U", "day")),
    "semanalmente": (("E", None), ("U", "week")),
    "mensualmente": (("E", None), ("U", "month")),
    "anualmente": (("E", None), ("U", "year")),
    "dias laborables|dias habiles|entre semana": (("V", "workday"),),
    "fin de semana|fines de semana|finde": (("V", "weekend"),),
    r"a ?\. ?m\.?|am": (("K", "am"),),
    r"p ?\. ?m\.?|pm": (("K", "pm"),),
    "en punto": (("H", None),),
    **table("Q", {"spring": "primavera", "summer": "verano", "autumn": "otono", "winter": "invierno"}),
    **table(
        "Z",
        {
            on(12, 25): "navidad",
            on(12, 24): "nochebuena",
            on(12, 31): "nochevieja|fin de ano",
            on(1, 1): "ano nuevo",
            on(1, 6): "dia de reyes|reyes magos",
            on(2, 14): "dia de san valentin|san valentin",
            on(5, 1): "dia del trabajo|dia del trabajador",
            on(10, 31): "halloween",
            easter: "domingo de pascua|pascua",
            from_easter(-2): "viernes santo",
        },
    ),
}

SPANISH = Lexicon(
    "es",
    spaced=True,
    order="dmy",
    words=_WORDS,
    patterns=(
        *PATTERNS[:3],
        (r"(?<![\w.:])(\d{1,2})(?:[:.](\d{2}))? ?(a|p)\.? ?m\.?(?!\w)", _meridiem),
        (r"(?<![\w.:])(\d{1,2})(?:[:.](\d{2}))? ?(?:hs?|hrs?)\.?(?!\w)", _hours),
        (r"(?<=las )(\d{1,2})[.: ]+(\d{2})(?!\d)", _hours),
        (r"(?<=las )(\d{1,2})() horas(?!\w)", _hours),
        *PATTERNS[3:],
    ),
)
