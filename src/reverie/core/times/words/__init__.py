"""The words that each language has for time."""

from __future__ import annotations

from reverie.core.language import scripts
from reverie.core.times.lexicon import Lexicon
from reverie.core.times.words.chinese import CHINESE
from reverie.core.times.words.english import ENGLISH
from reverie.core.times.words.french import FRENCH
from reverie.core.times.words.german import GERMAN
from reverie.core.times.words.japanese import JAPANESE
from reverie.core.times.words.korean import KOREAN
from reverie.core.times.words.spanish import SPANISH

_LATIN = (ENGLISH, GERMAN, SPANISH, FRENCH)
#: By code; where two find as much, the first counts.
LEXICONS: dict[str, Lexicon] = {lexicon.name: lexicon for lexicon in (*_LATIN, CHINESE, JAPANESE, KOREAN)}
_OF_SCRIPTS = {"latin": tuple(lexicon.name for lexicon in _LATIN), "zh": ("zh", "ja"), "ja": ("ja",), "ko": ("ko",)}


def languages_of(text: str) -> tuple[str, ...]:
    """Return the codes of the languages that the writing of a text allows; digits alone may be any."""
    found = [code for script in sorted(scripts(text)) for code in _OF_SCRIPTS.get(script, ())]
    return tuple(found) or ("en", "zh")
