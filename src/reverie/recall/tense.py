"""Whether a question asks how things are at present, or how they were, in seven languages.

For the present a newer statement is worth more than an older one that has the same words: the older one was true once.
A question about the past may have what was superseded for its answer.
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


#: Words that ask how things were before they changed; matched whole.
_BEFORE_WORDS = frozenset(
    [
        *("previously", "formerly", "originally", "former", "earlier", "history", "initially", "once"),
        *("früher", "frühere", "früheren", "früherer", "vorher", "vorherige", "damals", "ursprünglich", "ehemals"),
        *("antes", "anteriormente", "anterior", "originalmente", "inicialmente", "historial"),
        *("auparavant", "anciennement", "initialement", "autrefois", "précédemment", "historique"),
    ]
)
#: Phrases and CJK words for the same, matched as they stand.
_BEFORE_PHRASES = (
    *("used to", "back then", "in the past", "before that", "changed from", "over time"),
    *("avant cela", "à l'époque", "en el pasado", "en aquel entonces", "in der vergangenheit"),
    *(
        "以前",
        "之前",
        "曾经",
        "曾經",
        "原来",
        "原來",
        "当时",
        "當時",
        "历史",
        "歷史",
        "過去",
        "かつて",
        "前は",
        "元々",
        "もともと",
    ),
    *("예전", "이전", "과거", "원래", "그때"),
)


def asks_for_history(query: str) -> bool:
    """Say whether the question asks how something was before."""
    folded = normal(query)
    return any(phrase in folded for phrase in _BEFORE_PHRASES) or not _BEFORE_WORDS.isdisjoint(tokens(query))
