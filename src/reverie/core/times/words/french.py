"""French."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS, clock_of
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.values import Spelled
from reverie.core.times.words.tables import MIDNIGHT, NOON, PARTS, Words, easter, from_easter, nth, on, parts, table

_ONES = [
    "zero",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
]
_ONES += ["dix[ -]sept", "dix[ -]huit", "dix[ -]neuf"]
_TENS = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante", 80: "quatre[ -]vingts?"}


def _numbers() -> dict[object, str]:
    cardinal: dict[object, str] = {Spelled(number): word for number, word in enumerate(_ONES) if number != 1}
    for ten, word in _TENS.items():
        cardinal[Spelled(ten)] = word
        for one in range(1, 20 if ten >= 60 else 10):
            cardinal[Spelled(ten + one)] = rf"{word}[ -](?:et[ -])?{_ONES[one]}"
    return cardinal


def _hours(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    """Read ``17h30``, ``17 h`` and ``9 heures 15``."""
    clock = clock_of(match[1], match[2])
    return [("C", clock)] if clock else ()


_WEEKDAYS = {0: "lundis?", 1: "mardis?", 2: "mercredis?", 3: "jeudis?", 4: "vendredis?", 5: "samedis?", 6: "dimanches?"}
_PARTS = {"morning": "matins?|matinee", "afternoon": "apres[ -]midi", "evening": "soirs?|soiree", "night": "nuit"}
_WORDS: Words = {
    **table("N", _numbers()),
    **table("O", {1: "premier|1er", 2: "2eme", 3: "3eme"}),
    **table(
        "M",
        {
            1: r"janvier|janv\.?",
            2: r"fevrier|fevr\.?|fev\.?",
            3: "mars",
            4: r"avril|avr\.?",
            5: "mai",
            6: "juin",
            7: r"juillet|juil\.?",
            8: "aout",
            9: r"septembre|sept\.",
            10: r"octobre|oct\.?",
            11: r"novembre|nov\.?",
            12: r"decembre|dec\.?",
        },
    ),
    **table("W", _WEEKDAYS),
    **{f"les {day}": (("E", None), ("W", number)) for number, day in _WEEKDAYS.items()},
    **table(
        "U",
        {
            "second": "secondes?",
            "minute": "minutes?|min",
            "hour": "heures?",
            "day": "jours?|journee",
            "week": "semaines?",
            "month": "mois",
            "quarter": "trimestres?",
            "year": "ans?|annees?",
            "decade": "decennies?",
        },
    ),
    **table("R", {0: "aujourd'hui", -1: "hier", 1: "demain", -2: "avant[ -]hier", 2: "apres[ -]demain"}),
    **parts(
        {
            "morning": "(?:du |dans la |le |au )?(?:matins?|matinee)",
            "noon": "(?:a l'heure du )?dejeuner",
            "afternoon": "(?:de l'|dans l'|l'|cet )?apres[ -]midi",
            "evening": "(?:du |dans la |le |au )?(?:soirs?|soiree)",
            "night": "(?:dans la |de la |la )?nuit",
        }
    ),
    "ce matin": (("R", 0), ("P", PARTS["morning"])),
    "ce soir": (("R", 0), ("P", PARTS["evening"])),
    "cet apres[ -]midi": (("R", 0), ("P", PARTS["afternoon"])),
    "cette nuit": (("R", 0), ("P", PARTS["night"])),
    "midi": (("C", NOON),),
    "minuit": (("C", MIDNIGHT),),
    "une?": (("1", 1),),
    "demi-?|demie": (("2", None),),
    "et demie": (("2", None),),
    "demi-heure": (("2", None), ("U", "hour")),
    "et quart": (("N", 15),),
    "quelques|plusieurs": (("N", 3),),
    "une quinzaine de jours|quinzaine": (("N", 2), ("U", "week")),
    "maintenant|en ce moment": (("w", None),),
    "derniere?s?|passee?s?|precedente?s?": (("L", None),),
    "ce|cet|cette|ces": (("T", None),),
    "prochaine?s?|suivante?s?|qui vient|a venir": (("X", None),),
    "il y a|voila|voici": (("a", None),),
    "plus tot|avant": (("A", None),),
    "plus tard": (("F", None),),
    "dans|d'ici": (("I", None),),
    "depuis|a partir de|a partir du|des": (("S", None),),
    "avant le|avant la": (("B", None),),
    "apres": (("G", None),),
    "entre": (("J", None),),
    "et": (("&", None),),
    "jusqu'a|jusqu'au|jusqu'en": (("-", "until"),),
    "au": (("-", None), ("t", None)),
    "debut": (("s", None),),
    "fin": (("e", None),),
    "milieu|mi-?": (("m", None),),
    "du": (("S", None), ("t", None)),
    "de|d'": (("o", None),),
    "la|les|l'": (("t", None),),
    "le": (("n", None), ("t", None)),
    "en|durant|pendant": (("n", None),),
    "a|vers": (("@", None),),
    "environ": (("~", None),),
    "chaque|tous les|toutes les": (("E", None),),
    "quotidiennement": (("E", None), ("U", "day")),
    "hebdomadaire": (("E", None), ("U", "week")),
    "mensuellement": (("E", None), ("U", "month")),
    "jours? de semaine|jours? ouvres?|jours? ouvrables?|en semaine": (("V", "workday"),),
    "week-?ends?|fin de semaine": (("V", "weekend"),),
    "heures? pile|heures?(?= du (?:matin|soir)| de l'apres)": (("H", None),),
    **table(
        "Q", {"spring": "printemps", "summer": "ete(?! (?:le|la|un|une|tres))", "autumn": "automne", "winter": "hiver"}
    ),
    **table(
        "Z",
        {
            on(12, 25): "noel",
            on(12, 24): "(?:la )?veille de noel",
            on(12, 31): "saint[ -]sylvestre|reveillon",
            on(1, 1): "nouvel an|jour de l'an",
            on(2, 14): "saint[ -]valentin",
            on(5, 1): "fete du travail",
            on(7, 14): "fete nationale",
            on(10, 31): "halloween",
            on(11, 1): "toussaint",
            easter: "paques",
            from_easter(1): "lundi de paques",
            from_easter(39): "ascension",
            from_easter(49): "pentecote",
            nth(6, 6, 3): "fete des peres",
        },
    ),
}

FRENCH = Lexicon(
    "fr",
    spaced=True,
    order="dmy",
    words=_WORDS,
    patterns=(
        *PATTERNS[:3],
        (r"(?<![\w.:])(\d{1,2}) ?(?:h|heures?) ?(\d{2})?(?!\w)(?<! )", _hours),
        *PATTERNS[3:],
    ),
)
