"""Words of seven languages: which language a text is in, its stop words, and the stem of a word.

English, German, Spanish and French words are stemmed with Snowball; Chinese, Japanese and Korean are matched by
characters (choice C12) and need no stem. The guess decides which stemmer an indexed text gets; a query is stemmed in
its own language and in those that a store is written in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

#: The languages that are stemmed; the key is the ISO 639-1 code, the value Snowball's name.
STEMMED = {"en": "english", "de": "german", "es": "spanish", "fr": "french"}

_STOP = {
    "en": (
        "a an the this that these those and or but if then than so as of to in on at by for with from about "
        "into over after before under between is are was were be been being am do does did done have has had "
        "having will would can could shall should may might must i me my mine we us our you your he him his "
        "she her it its they them their who whom whose which what when where why how not no nor too very just "
        "there here also any some s t don"
    ),
    "de": (
        "der die das den dem des ein eine einer eines einem einen und oder aber wenn als wie so an am auf aus "
        "bei bis durch für gegen in im ins mit nach ohne über um unter von vom vor zu zum zur ist sind war "
        "waren sein wird werden wurde hat habe haben hatte ich mich mir mein meine wir uns unser du dich dir "
        "dein er ihn ihm sie ihr es wer was wann wo warum welche welcher welches nicht kein keine auch noch "
        "schon nur man sich dass dann da hier"
    ),
    "es": (
        "el la los las lo un una unos unas y o pero si como de del al en con por para sin sobre entre hasta "
        "desde es son era eran ser fue está están estar ha han había he hay yo me mi mis nos nuestro tú te tu "
        "su sus él ella ellos ellas se que qué quién cuál cuándo dónde cómo por porque no ni muy ya también "
        "más este esta estos estas eso esa"
    ),
    "fr": (
        "le la les l un une des du de d et ou mais si comme à au aux en dans par pour avec sans sur sous "
        "entre chez est sont était étaient être été a ont avait ai avons je j me m mon ma mes nous notre nos "
        "tu te ton ta tes vous votre il elle ils elles on se s son sa ses leur que qu qui quoi quand où "
        "pourquoi comment quel quelle ne n pas plus aussi ce c cet cette ces y"
    ),
}
#: Function characters and words of Chinese and Japanese that carry no topic by themselves in a question.
_STOP_CJK = {
    "zh": (
        "的 了 吗 呢 吧 啊 是 在 我 你 您 他 她 它 们 和 与 或 也 都 就 还 很 有 没 不 这 那 哪 什 么 怎 谁 几 个 把 "
        "被 让 给 从 到 对"
    ),
    "ja": ("は が を に へ と で も の か ね よ な だ や て た し す る い う"),
}

STOP: dict[str, frozenset[str]] = {
    language: frozenset(text.split()) for language, text in {**_STOP, **_STOP_CJK}.items()
}
_ALL_LATIN_STOP = frozenset().union(*(STOP[language] for language in STEMMED))

#: One CJK character: Han (with extensions), kana, Hangul, bopomofo, half-width kana after NFKC.
CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U000323af"
)
_TOKEN = re.compile(f"[{CJK}]|[^\\W_{CJK}]+(?:[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]+[^\\W_{CJK}]*)*")
#: What ``_TOKEN`` finds in ASCII text, several times as fast: lower-case letters and digits, blanks for the rest.
_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_HAS_CJK = re.compile(f"[{CJK}]")
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff]")
_HANGUL = re.compile("[\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff]")


def tokens(text: str) -> list[str]:
    """Split into lower-case words and single CJK characters, in order. Underscores and punctuation separate.

    Compatibility forms are unified first (NFKC), so that full-width and half-width spellings are the same word.
    """
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    return _TOKEN.findall(normal(text))


def normal(text: str) -> str:
    """Return the text in NFKC and case-folded: what matching is done on."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def is_cjk(token: str) -> bool:
    """Say whether a token is one CJK character."""
    return len(token) == 1 and _HAS_CJK.match(token) is not None


def has_cjk(text: str) -> bool:
    """Say whether any CJK character occurs."""
    return _HAS_CJK.search(text) is not None


def guess(words: Iterable[str]) -> str:
    """Return the most likely of ``en de es fr`` for Latin words, by counting stop words; ``en`` if nothing tells."""
    distinct = _ALL_LATIN_STOP.intersection(words)
    best, most = "en", 0
    for language in STEMMED:
        count = len(distinct & STOP[language])
        if count > most:
            best, most = language, count
    return best


def scripts(text: str) -> frozenset[str]:
    """Return which of ``zh ja ko latin`` occur; Han beside kana is Japanese."""
    found = set()
    if _KANA.search(text):
        found.add("ja")
    if _HANGUL.search(text):
        found.add("ko")
    if has_cjk(text) and not found & {"ja", "ko"}:
        found.add("zh")
    if re.search(r"[^\W\d_]", _HAS_CJK.sub("", text)):
        found.add("latin")
    return frozenset(found)


@lru_cache(maxsize=1)
def _stemmers() -> dict[str, Callable[[str], str]]:
    # Imported on first use: building four stemmers costs a few milliseconds that `reverie --help` need not pay.
    import Stemmer

    # Our own cache of words stands in front, so theirs would only hold every word twice.
    return {code: Stemmer.Stemmer(name, 0).stemWord for code, name in STEMMED.items()}


@lru_cache(maxsize=400_000)
def stem(word: str, language: str) -> str:
    """Return the index form of one word: stemmed in ``language`` if that is a stemmed one, diacritics folded."""
    if is_cjk(word) or not word[0].isalpha():
        return word
    stemmer = _stemmers().get(language)
    if stemmer is not None:
        word = stemmer(word)
    return fold(word)


@lru_cache(maxsize=200_000)
def fold(word: str) -> str:
    """Return the word without diacritics (``café`` and ``cafe`` are one word)."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    kept = "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", kept)


@lru_cache(maxsize=50_000)
def variants(word: str) -> tuple[str, ...]:
    """Return every index form that a query word may have, the plain one first, without repeats."""
    if is_cjk(word) or not word[0].isalpha():
        return (word,)
    return tuple(dict.fromkeys([stem(word, language) for language in STEMMED] + [fold(word)]))


def is_stop(word: str) -> bool:
    """Say whether a word carries no topic in any of the languages."""
    return word in _ALL_LATIN_STOP or word in STOP["zh"] or word in STOP["ja"]


class _Stems(dict[str, str]):
    """The stems of one language; a plain lookup where a word is known, which most words of a text are."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> str:
        if len(self) >= _STEMS_KEPT:
            self.clear()
        found = self[word] = stem(word, self._language)
        return found


_STEMS_KEPT = 200_000
_STEMS = {language: _Stems(language) for language in STEMMED}


def analysed(text: str) -> tuple[str, str]:
    """Return the text as it is indexed, and the language that its words were stemmed in."""
    found = tokens(text)
    language = guess(found)
    return " ".join(map(_STEMS[language].__getitem__, found)), language


def index_form(text: str) -> str:
    """Return the text as it is indexed: stems and single CJK characters, separated by spaces."""
    return analysed(text)[0]
