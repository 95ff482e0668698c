"""Who is meant by a question: a person by name, the one who asks, or the one who answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reverie.core.language import tokens
from reverie.recall.ranking import RankingSettings

_FIRST_WORDS = (
    "i me my mine myself ich mich mir mein meine meinen meinem meiner yo mí mis conmigo je j moi mon ma mes 我 私 僕 俺"
)
_SECOND_WORDS = "you your yours du dich dir dein deine deinen deinem deiner tú ti tus usted vous votre vos tu toi 你 您"
_FIRST = frozenset(_FIRST_WORDS.split())
_SECOND = frozenset(_SECOND_WORDS.split())
#: Korean words take endings, so they are compared as they stand.
_KOREAN_FIRST = re.compile(r"(?:^|\s)(?:나는|내가|나의|나를|나에게|내|제가|저는|저의|제)(?=\s)")
_KOREAN_SECOND = re.compile(r"(?:^|\s)(?:너는|네가|너의|당신\S*)(?=\s)")

_ROLES = {"user": 1.0, "assistant": -1.0}


@dataclass(frozen=True, slots=True)
class Asker:
    """What a question says about who spoke: the words of it, and whether it is about the one who asks alone."""

    words: frozenset[str]
    about_self: bool

    @classmethod
    def of(cls, query: str) -> Asker:
        """Read it off a question in any of the seven languages."""
        words = frozenset(tokens(query))
        first = bool(words & _FIRST) or _KOREAN_FIRST.search(query) is not None
        second = bool(words & _SECOND) or _KOREAN_SECOND.search(query) is not None
        return cls(words, first and not second)

    def names(self, speaker: Iterable[str]) -> bool:
        """Say whether the question names this speaker."""
        return not self.words.isdisjoint(speaker)

    def bonus(self, speaker: str | None, settings: RankingSettings) -> float:
        """Return what it adds that this speaker says a line.

        A line of a person whom the question names counts more. Where somebody asks about themselves, what they said
        counts more than what they were told.
        """
        if speaker is None:
            return 0.0
        found = settings.speaker_weight if self.names(tokens(speaker)) else 0.0
        if self.about_self:
            found += settings.person_weight * _ROLES.get(speaker, 0.0)
        return found
