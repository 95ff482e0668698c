"""Chinese, in short and in long characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS, clock_of
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.values import Clock
from reverie.core.times.words.tables import MIDNIGHT, NOON, Words, nth, on, parts, table

_DIGITS = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2, "○": 0}
_TENS = {"十": 10, "百": 100, "千": 1000, "廿": 20, "卅": 30}
NUMERAL = "[零〇○一二两兩三四五六七八九十百千廿卅]"


def numeral(text: str) -> int:
    """Return the value of a number in characters; digits in a row are read one by one (二零零四)."""
    if len(text) > 1 and all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total, last = 0, 0
    for char in text:
        if char in _DIGITS:
            last = _DIGITS[char]
        elif char in "廿卅":
            total += _TENS[char]
        else:
            total += (last or 1) * _TENS[char]
            last = 0
    return total + last


def _number(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("N", numeral(match[0]))]


def _year(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("Y", numeral(match[1]))]


def _meridiem(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    clock = clock_of(match[1], match[2])
    if clock is None or clock.hour > 12:
        return ()
    return [("C", Clock(clock.hour % 12 + (12 if match[3] == "p" else 0), clock.minute))]


def _quarter(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("N", 15 if match[1] == "一" else 45)]


_WEEKDAYS = {0: "一1", 1: "二2", 2: "三3", 3: "四4", 4: "五5", 5: "六6", 6: "日天7"}
_WORDS: Words = {
    **table("W", {number: f"(?:星期|礼拜|禮拜|周|週)[{chars}]" for number, chars in _WEEKDAYS.items()}),
    **table(
        "U",
        {
            "second": "秒钟|秒鐘",
            "minute": "分钟|分鐘",
            "hour": "个?小时|個?小時|个?钟头|個?鐘頭",
            "day": "天",
            "week": "个?星期|個?星期|个?礼拜|個?禮拜|周|週",
            "month": "个月|個月",
            "quarter": "个?季度",
            "year": "年度",
        },
    ),
    **table("y", {None: "年"}),
    **table("j", {None: "月份?"}),
    **table("i", {None: "日|号|號"}),
    **table("f", {None: "分"}),
    **table("c", {None: "秒"}),
    **table("H", {None: "点钟?|點鐘?|时|時"}),
    **table(
        "R",
        {
            0: "今天|今日|今儿",
            -1: "昨天|昨日",
            1: "明天|明日|明儿",
            -2: "前天",
            2: "后天|後天",
            -3: "大前天",
            3: "大后天|大後天",
        },
    ),
    **parts(
        {
            "dawn": "凌晨",
            "morning": "早上|早晨|上午|清晨|清早|一早",
            "noon": "中午",
            "afternoon": "下午|午后|午後",
            "evening": "傍晚|晚上|晚间|夜晚|晚",
            "night": "深夜|半夜|夜里|夜裡",
        }
    ),
    "今晚": (("R", 0), ("P", parts({"evening": ""})[""][0][1])),
    "昨晚": (("R", -1), ("P", parts({"evening": ""})[""][0][1])),
    "明晚": (("R", 1), ("P", parts({"evening": ""})[""][0][1])),
    "今早": (("R", 0), ("P", parts({"morning": ""})[""][0][1])),
    "明早": (("R", 1), ("P", parts({"morning": ""})[""][0][1])),
    "今年": (("T", None), ("U", "year")),
    "去年|上一年": (("L", None), ("U", "year")),
    "前年": (("L", None), ("L", None), ("U", "year")),
    "明年|来年|來年": (("X", None), ("U", "year")),
    "后年|後年": (("X", None), ("X", None), ("U", "year")),
    "本月|当月": (("T", None), ("U", "month")),
    "上月": (("L", None), ("U", "month")),
    "下月": (("X", None), ("U", "month")),
    "本周|本週|这周|這週|这周": (("T", None), ("U", "week")),
    "上上周|上上週|上上个?星期": (("L", None), ("L", None), ("U", "week")),
    "下下周|下下週|下下个?星期": (("X", None), ("X", None), ("U", "week")),
    "上上个?月": (("L", None), ("L", None), ("U", "month")),
    "本季度?|这个?季度": (("T", None), ("U", "quarter")),
    "上|上一|过去|過去|最近": (("L", None),),
    "这个?|這個?|本": (("T", None),),
    "下|下一|未来|未來|接下来|今后": (("X", None),),
    "前|之前|以前": (("A", None),),
    "或之前|及以前": (("b", None),),
    "后|後|之后|之後|以后|以後": (("F", None),),
    "或之后|或以后|及以后": (("g", None),),
    "截止到|截至|直到": (("-", "until"),),
    "初(?=[一二三四五六七八九十])": (("o", None),),
    "现在|現在|此刻|目前|当前": (("w", None),),
    "周末|週末": (("V", "weekend"),),
    "工作日": (("V", "workday"),),
    "每个?|每個?|每隔": (("E", None),),
    "隔(?=(?:周|週|星期|礼拜|禮拜)[一二三四五六日天])": (("E", None), ("N", 2)),
    "(?:隔周|隔週)(?![一二三四五六日天])": (("E", None), ("N", 2), ("U", "week")),
    "隔天|隔日": (("E", None), ("N", 2), ("U", "day")),
    "每天|每日|天天": (("E", None), ("U", "day")),
    "每年": (("E", None), ("U", "year")),
    "每月|每个月|每個月": (("E", None), ("U", "month")),
    "(?:每周|每週|每个?星期)(?![一二三四五六日天])": (("E", None), ("U", "week")),
    "[个個]?半": (("2", None),),
    "和|与|與|及|、": (("&", None),),
    "之间|之間": (("J", None),),
    "从|從|自|自从|自從": (("S", None),),
    "以来|以來|起": (("S", None),),
    "到|至|~|—": (("-", None),),
    "的|整": (("o", None),),
    "在|于|於": (("n", None),),
    "初": (("s", None),),
    "底|末": (("e", None),),
    "大约|大約|大概|约|差不多": (("~", None),),
    "am": (("K", "am"),),
    "pm": (("K", "pm"),),
    "正午": (("C", NOON),),
    "零点|午夜": (("C", MIDNIGHT),),
    **table("Q", {"spring": "春天|春季", "summer": "夏天|夏季", "autumn": "秋天|秋季", "winter": "冬天|冬季"}),
    **table("Q", {"q1": "第?一季度", "q2": "第?二季度", "q3": "第?三季度", "q4": "第?四季度"}),
    **table(
        "Z",
        {
            on(1, 1): "元旦",
            on(2, 14): "情人节|情人節",
            on(3, 8): "妇女节|婦女節",
            on(5, 1): "劳动节|勞動節|五一",
            on(6, 1): "儿童节|兒童節",
            on(9, 10): "教师节|教師節",
            on(10, 1): "国庆节?|國慶節?|十一假期",
            on(12, 25): "圣诞节?|聖誕節?",
            nth(5, 6, 2): "母亲节|母親節",
            nth(6, 6, 3): "父亲节|父親節",
        },
    ),
}

CHINESE = Lexicon(
    "zh",
    spaced=False,
    order="ymd",
    words=_WORDS,
    patterns=(
        *PATTERNS[:3],
        (r"(?<!\d)(\d{1,2}):(\d{2}) ?(a|p)\.?m\.?", _meridiem),
        *PATTERNS[3:],
    ),
    spoken=(
        (r"([一二][零〇○一二三四五六七八九]{3})(?=年)", _year),
        (r"([一三])刻(?!钟)", _quarter),
        (rf"{NUMERAL}+", _number),
    ),
)
