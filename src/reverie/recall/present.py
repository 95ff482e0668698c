"""Whether a question asks how things are at present, in seven languages.

Then a newer statement is worth more than an older one that has the same words: the older one was true once.
"""

from __future__ import annotations

from reverie.core.language import normal, tokens

#: Words that ask for the present state; matched whole.
_WORDS = frozenset(
    [
        *("now", "nowadays", "currently", "current", "presently", "today", "latest", "anymore"),
        *("jetzt", "derzeit", "zurzeit", "momentan", "inzwischen", "mittlerweile", "heutzutage"),
        *("aktuell", "aktuelle", "aktuellen", "aktueller", "aktuelles"),
        *("ahora", "actualmente", "actual", "actuales", "hoy"),
        *("maintenant", "actuellement", "actuel", "actuelle", "actuels", "actuelles", "désormais"),
    ]
)
#: Phrases and CJK words, matched as they stand.
_PHRASES = (
    *("these days", "at the moment", "as of now", "so far", "zur zeit", "im moment"),
    *("en este momento", "en ce moment", "aujourd'hui", "ces jours-ci"),
    *("现在", "現在", "目前", "如今", "最新", "今は", "いま", "最近は", "지금", "현재", "요즘"),
)


def asks_for_now(query: str) -> bool:
    """Say whether the question asks for the present state of something."""
    folded = normal(query)
    return any(phrase in folded for phrase in _PHRASES) or not _WORDS.isdisjoint(tokens(query))
