"""Korean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.values import Spelled
from reverie.core.times.words.tables import MIDNIGHT, NOON, PARTS, Words, on, parts, table

_SINO = {char: number for number, char in enumerate("영일이삼사오육칠팔구")} | {"십": 10, "백": 100}
_NATIVE = ["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한", "열두"]


def _number(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    total, last = 0, 0
    for char in match[0]:
        value = _SINO[char]
        if value < 10:
            last = value
        else:
            total += (last or 1) * value
            last = 0
    return [("N", Spelled(total + last))]


_DAYS = dict(enumerate("월화수목금토일"))
_WORDS: Words = {
    **table(
        "N", {Spelled(number): f"{word}(?=\\s*(?:시|달|주|시간|번|살|개월))" for number, word in enumerate(_NATIVE, 1)}
    ),
    **table("W", {number: f"{char}요일" for number, char in _DAYS.items()}),
    **table(
        "U",
        {
            "second": "초간",
            "minute": "분간",
            "hour": "시간",
            "day": "일간",
            "week": "주일?간?",
            "month": "개월간?|달",
            "quarter": "분기",
            "year": "년간",
        },
    ),
    **table("y", {None: "년"}),
    **table("j", {None: "월"}),
    **table("i", {None: "일"}),
    **table("f", {None: "분"}),
    **table("c", {None: "초"}),
    **table("H", {None: "시"}),
    **table("R", {0: "오늘", -1: "어제", 1: "내일", -2: "그저께|그제", 2: "모레", 3: "글피"}),
    "하루": (("N", 1), ("U", "day")),
    "이틀": (("N", 2), ("U", "day")),
    "사흘": (("N", 3), ("U", "day")),
    "나흘": (("N", 4), ("U", "day")),
    "보름": (("N", 15), ("U", "day")),
    **parts(
        {
            "dawn": "새벽",
            "morning": "오전|아침",
            "noon": "점심",
            "afternoon": "오후",
            "evening": "저녁|밤",
            "night": "한밤",
        }
    ),
    "어젯밤": (("R", -1), ("P", PARTS["evening"])),
    "올해|금년": (("T", None), ("U", "year")),
    "작년|지난해": (("L", None), ("U", "year")),
    "재작년": (("L", None), ("L", None), ("U", "year")),
    "내년": (("X", None), ("U", "year")),
    "내후년": (("X", None), ("X", None), ("U", "year")),
    "이번|금": (("T", None),),
    "지난|저번": (("L", None),),
    "지지난": (("L", None), ("L", None)),
    "다음|오는": (("X", None),),
    "다다음": (("X", None), ("X", None)),
    "전에?": (("A", None),),
    "후에?|뒤에?": (("F", None),),
    "이전": (("b", None),),
    "이후": (("g", None),),
    "지금|현재": (("w", None),),
    "주말": (("V", "weekend"),),
    "평일": (("V", "workday"),),
    "매": (("E", None),),
    "격주로?": (("E", None), ("N", 2), ("U", "week")),
    "마다": (("z", None),),
    "매일": (("E", None), ("U", "day")),
    "매주": (("E", None),),
    "매달|매월": (("E", None), ("U", "month")),
    "매년": (("E", None), ("U", "year")),
    "매시간": (("E", None), ("U", "hour")),
    "반": (("2", None),),
    "와|과": (("&", None),),
    "사이": (("J", None),),
    "부터": (("-", None),),
    "까지": ((".", "until"),),
    "에|의|은|는": (("o", None),),
    "초(?= |에|$)": (("s", None),),
    "말(?= |에|$)": (("e", None),),
    "중순": (("m", None),),
    "약|대략|쯤": (("~", None),),
    "정오": (("C", NOON),),
    "자정": (("C", MIDNIGHT),),
    **table("Q", {"spring": "봄", "summer": "여름", "autumn": "가을", "winter": "겨울"}),
    **table(
        "Z", {on(12, 25): "크리스마스|성탄절", on(1, 1): "새해 첫날|신정", on(3, 1): "삼일절", on(8, 15): "광복절"}
    ),
}

KOREAN = Lexicon(
    "ko",
    spaced=False,
    order="ymd",
    words=_WORDS,
    patterns=PATTERNS,
    spoken=((r"[영일이삼사오육칠팔구십백]+(?=\s*(?:년|월|일(?!요)|분|초|주|개월|시간))", _number),),
)
