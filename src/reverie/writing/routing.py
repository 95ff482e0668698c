"""Which curated file a thing to remember belongs to: a preference to USER.md, everything else to MEMORY.md.

A first cut by closed lists of phrases in seven languages. It decides a place, never a class: who said it was decided
before. What it does not know goes to MEMORY.md, where the nightly pass may move it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from reverie.core.language import has_cjk
from reverie.core.text import collapse

USER_FILE = "USER.md"
MEMORY_FILE = "MEMORY.md"

#: Preferences of the first person. Each pattern is searched in the folded text, word-bounded.
_PREFERS = {
    "en": r"i (?:really |strongly |much |always |usually |would )?prefer\b"
    r"|i (?:really |always |usually )?(?:like|love|enjoy|hate|dislike)\b"
    r"|i (?:can't|cannot) (?:stand|bear)\b|i (?:always|never) (?:want|need|use|eat|drink|take|read|write|work)\b"
    r"|i (?:don't|do not) (?:want|like)\b|my (?:favou?rite|preferred)\b|call me\b|(?:talk|speak|write|reply) to me\b",
    "de": r"ich (?:bevorzuge|mag|liebe|hasse)\b|ich \w+ (?:immer|nie|niemals|lieber|am liebsten|gern|gerne|ungern)\b"
    r"|mir (?:gefällt|gefallen|ist .{1,40} lieber)|mein\w* liebling\w*|nenn(?:e)? mich\b",
    "es": r"(?:yo )?(?:prefiero|odio|detesto|adoro)\b|(?:no )?me (?:gusta|gustan|encanta|encantan|molesta|molestan)\b"
    r"|(?:siempre|nunca) (?:quiero|uso|como|bebo|tomo)\b|mis? \w+ (?:favorit|preferid)[oa]s?\b|llámame\b",
    "fr": r"je (?:préfère|déteste)\b|j'(?:aime|adore)\b|je n'aime (?:pas|plus)\b|je (?:ne )?\w+ (?:toujours|jamais)\b"
    r"|m(?:on|a|es) \w+ préférée?s?\b|appelle[- ]moi\b",
    "zh": r"我(?:比较|更|很|最|不|特别|真的)*(?:喜欢|喜歡|偏好|偏爱|讨厌|討厭|习惯|習慣)"
    r"|我(?:总是|總是|从不|從不|一直|从来不)|叫我",
    "ja": r"(?:私|僕|俺|わたし|ぼく).{0,20}(?:好き|嫌い|好み|苦手)"
    r"|(?:が|は)(?:大好き|好き|嫌い|苦手)(?:です|だ|。|$)|と呼んで",
    "ko": r"(?:나는|저는|난|전) .{0,30}(?:선호|좋아|싫어|즐겨)"
    r"|(?:선호합니다|선호해요|선호한다|좋아합니다|좋아해요|싫어합니다|싫어해요)|라고 불러",
}

#: Requests for how to do things from now on: the first word is an order that holds in general.
_DIRECTS = {
    "en": r"(?:please )?(?:always|never|prefer|avoid|from now on|in (?:the )?future|whenever you)\b"
    r"|(?:please )?(?:don't|do not) ever\b",
    "de": r"(?:bitte )?(?:immer|nie|niemals|bevorzuge|vermeide|ab jetzt|ab sofort|in zukunft|künftig)\b"
    r"|\w+ (?:mir )?bitte (?:immer|nie)\b",
    "es": r"(?:por favor,? )?(?:siempre|nunca|jamás|prefiere|evita|a partir de ahora|de ahora en adelante)\b",
    "fr": r"(?:s'il te plaît,? |merci de )?(?:toujours|jamais|ne \w+ jamais|préfère|évite|désormais)\b"
    r"|à partir de maintenant\b|à l'avenir\b",
    "zh": r"(?:请|請)?(?:你)?(?:总是|總是|永远|永遠|不要|别|別|从不|務必|务必|以后|以後|今后|尽量|避免|优先)",
    "ja": r"(?:いつも|必ず|常に|決して|絶対に|今後は?|これからは?)",
    "ko": r"(?:항상|언제나|절대|절대로|앞으로는?|이제부터는?)",
}
#: In Japanese and Korean the order stands at the end.
_DIRECTS_AT_END = {
    "ja": r"(?:て|で)(?:ください|下さい|ほしい|欲しい)(?:です)?[。!！]?$|ないで(?:ください|下さい|ね)?[。!！]?$",
    "ko": r"(?:해|하지 마|지 마|아|어)\s?(?:주세요|줘|세요)[.!]?$|하지\s?마(?:세요)?[.!]?$",
}

#: Third parties as the subject: what they like is a fact about them.
_OTHERS = re.compile(
    r"^(?:he|she|they|my (?:wife|husband|son|daughter|mother|father|boss|friend|partner|brother|sister)"
    r"|er|sie|mein\w* (?:frau|mann|sohn|tochter|mutter|vater|chef\w*|freund\w*)"
    r"|él|ella|mi (?:mujer|marido|hijo|hija|madre|padre|jefe|jefa|amig[oa])"
    r"|il|elle|m(?:on|a) (?:femme|mari|fils|fille|mère|père|chef\w*|ami\w*))\b"
    r"|^(?:他|她|我(?:的)?(?:妻子|老婆|丈夫|老公|儿子|女儿|妈妈|爸爸|老板|朋友))"
    r"|^(?:彼|彼女|(?:私の)?(?:妻|夫|息子|娘|母|父|上司|友人))"
    r"|^(?:그는|그녀는|(?:내|제) (?:아내|남편|아들|딸|어머니|아버지|친구))"
)


def _compiled(groups: dict[str, str], template: str) -> dict[str, re.Pattern[str]]:
    # `\b` never holds between two CJK characters, so those languages match anywhere in the sentence.
    return {
        language: re.compile(template.format(pattern) if language in ("en", "de", "es", "fr") else pattern)
        for language, pattern in groups.items()
    }


_PREFERENCE = _compiled(_PREFERS, r"(?:^|(?<=[\s,;:.¡(]))(?:{})")
_ORDER = {language: re.compile(f"^[¡\\s]*(?:{pattern})") for language, pattern in _DIRECTS.items()}
_ORDER_AT_END = {language: re.compile(pattern) for language, pattern in _DIRECTS_AT_END.items()}


@dataclass(frozen=True, slots=True)
class Route:
    """Where a text goes, the text to write, and why, in words for people."""

    target: str
    text: str
    why: str


def route(text: str) -> Route:
    """Return the curated file for something that the owner asked to remember, and the wording to write.

    Orders and first-person preferences are directives for USER.md. An English preference is put as one (``I prefer
    tea`` becomes ``Prefer tea.``); in the other languages the owner's own words are the directive.
    """
    shown = collapse(text)
    folded = unicodedata.normalize("NFKC", shown).casefold().replace("’", "'")
    for language, pattern in _ORDER.items():
        if pattern.search(folded):
            return Route(USER_FILE, shown, f"a standing request ({language}), so it went to {USER_FILE}")
    for language, pattern in _ORDER_AT_END.items():
        if has_cjk(shown) and pattern.search(folded):
            return Route(USER_FILE, shown, f"a standing request ({language}), so it went to {USER_FILE}")
    if not _OTHERS.search(folded):
        for language, pattern in _PREFERENCE.items():
            if pattern.search(folded):
                return Route(USER_FILE, _directive(shown), f"a preference ({language}), so it went to {USER_FILE}")
    return Route(MEMORY_FILE, text.strip(), f"a fact, so it went to {MEMORY_FILE}")


_FIRST_PERSON = re.compile(r"^i (?:really |strongly |much )?prefer (?=\S)", re.IGNORECASE)


def _directive(text: str) -> str:
    found = _FIRST_PERSON.match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    # "my" and "me" would change their owner in an order; then the owner's words stay.
    if re.search(r"\b(?:i|me|my|mine|i'm)\b", rest, re.IGNORECASE):
        return text
    return "Prefer " + rest + ("" if rest.endswith((".", "!", "?")) else ".")
