"""Japanese."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.times.digits import PATTERNS
from reverie.core.times.lexicon import Lexicon, Meaning
from reverie.core.times.words.chinese import NUMERAL, numeral
from reverie.core.times.words.tables import MIDNIGHT, NOON, PARTS, Words, nth, on, parts, table


def _number(match: re.Match[str], _: Lexicon) -> Sequence[Meaning]:
    return [("N", numeral(match[0]))]


_WEEKDAYS = dict(enumerate("月火水木金土日"))
_WORDS: Words = {
    **table("W", {number: rf"{char}曜日?|[(]{char}[)]" for number, char in _WEEKDAYS.items()}),
    **table(
        "U",
        {
            "second": "秒間",
            "minute": "分間",
            "hour": "時間",
            "day": "日間",
            "week": "週間|週",
            "month": "[かヶケカヵ箇]月間?",
            "quarter": "四半期",
            "year": "年間",
        },
    ),
    **table("y", {None: "年"}),
    **table("j", {None: "月"}),
    **table("i", {None: "日"}),
    **table("f", {None: "分"}),
    **table("c", {None: "秒"}),
    **table("H", {None: "時"}),
    **table(
        "R",
        {0: "今日|きょう|本日", -1: "昨日|きのう", 1: "明日|あした|あす", -2: "一昨日|おととい", 2: "明後日|あさって"},
    ),
    **parts(
        {
            "dawn": "未明|早朝",
            "morning": "午前中?|朝",
            "noon": "お?昼",
            "afternoon": "午後|夕方",
            "evening": "夜|晩",
            "night": "深夜|夜中",
        }
    ),
    "今朝|けさ": (("R", 0), ("P", PARTS["morning"])),
    "今晩|今夜": (("R", 0), ("P", PARTS["evening"])),
    "昨夜|昨晩|ゆうべ": (("R", -1), ("P", PARTS["evening"])),
    "明朝": (("R", 1), ("P", PARTS["morning"])),
    "明晩": (("R", 1), ("P", PARTS["evening"])),
    "今年|ことし": (("T", None), ("U", "year")),
    "去年|昨年": (("L", None), ("U", "year")),
    "一昨年|おととし": (("L", None), ("L", None), ("U", "year")),
    "来年": (("X", None), ("U", "year")),
    "再来年": (("X", None), ("X", None), ("U", "year")),
    "今月": (("T", None), ("U", "month")),
    "先月": (("L", None), ("U", "month")),
    "先々月": (("L", None), ("L", None), ("U", "month")),
    "来月": (("X", None), ("U", "month")),
    "再来月": (("X", None), ("X", None), ("U", "month")),
    "今週": (("T", None), ("U", "week")),
    "先週": (("L", None), ("U", "week")),
    "先々週": (("L", None), ("L", None), ("U", "week")),
    "来週": (("X", None), ("U", "week")),
    "再来週": (("X", None), ("X", None), ("U", "week")),
    "過去|この前の|前の|先": (("L", None),),
    "この|今": (("T", None),),
    "次の?|今後|これから": (("X", None),),
    "前に?": (("A", None),),
    "後に?|のち": (("F", None),),
    "以前|より前": (("b", None),),
    "以降|より後": (("g", None),),
    "たった今|いま": (("w", None),),
    "週末": (("V", "weekend"),),
    "平日": (("V", "workday"),),
    "毎": (("E", None),),
    "隔週の?(?=[月火水木金土日]曜)": (("E", None), ("N", 2)),
    "隔週": (("E", None), ("N", 2), ("U", "week")),
    "隔日": (("E", None), ("N", 2), ("U", "day")),
    "ごとに?|毎に|おきに?": (("z", None),),
    "毎日": (("E", None), ("U", "day")),
    "毎週": (("E", None),),
    "毎週末": (("E", None), ("V", "weekend")),
    "毎月": (("E", None), ("U", "month")),
    "毎年": (("E", None), ("U", "year")),
    "毎時": (("E", None), ("U", "hour")),
    "毎朝": (("E", None), ("P", PARTS["morning"])),
    "毎晩": (("E", None), ("P", PARTS["evening"])),
    "半": (("2", None),),
    "と": (("&", None),),
    "の間": (("J", None),),
    "から": (("-", None),),
    "まで": ((".", "until"),),
    "の|に|は|、": (("o", None),),
    "初め|始め|上旬": (("s", None),),
    "末|終わり|下旬": (("e", None),),
    "中旬|半ば": (("m", None),),
    "頃|ごろ": (("o", None),),
    "約|だいたい": (("~", None),),
    "正午": (("C", NOON),),
    "真夜中|零時": (("C", MIDNIGHT),),
    **table("Q", {"spring": "春", "summer": "夏", "autumn": "秋", "winter": "冬"}),
    **table(
        "Z",
        {
            on(1, 1): "元日|元旦",
            on(12, 31): "大晦日|大みそか",
            on(12, 25): "クリスマス",
            on(12, 24): "クリスマスイブ",
            on(2, 14): "バレンタインデー?",
            on(5, 5): "こどもの日",
            nth(5, 6, 2): "母の日",
            nth(6, 6, 3): "父の日",
        },
    ),
}

JAPANESE = Lexicon(
    "ja", spaced=False, order="ymd", words=_WORDS, patterns=PATTERNS, spoken=((rf"{NUMERAL}+", _number),)
)
