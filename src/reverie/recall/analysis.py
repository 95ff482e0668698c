"""What a query asks for, read without a model: when, how things are or were, and what is meant word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from reverie.core.language import normal, scripts
from reverie.core.queries import AskedSpan, QueryAnalysis
from reverie.core.times.find import find_times
from reverie.core.times.phrase import Direction, Kind, TimePhrase
from reverie.recall.tense import asks_for_history, asks_for_now

#: A query of more characters is no question; its time phrases are those of a text that somebody pasted.
TIMED_CHARS = 400
_QUOTED = re.compile('"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』')
#: Written as one word with marks, digits or capitals inside: names of functions, files, tickets, versions.
_IDENTIFIER = re.compile(r"\w+(?:[._/:#-]+\w+)+(?:\(\))?|\w+\(\)|\w*_\w+|[a-z]+[A-Z]\w*")
#: A longer word is no name; it is a text without blanks, or data.
WORD_CHARS = 120
#: A name: a word with a capital that does not begin the sentence. German nouns look the same and do no harm.
_NAME = re.compile(r"(?<=[^.!?。！？\s]\s)[A-ZÀ-ÖØ-Þ][\w'-]+")
_WORD = re.compile(r"\w")
#: What stands around a word and is no part of it; a number with marks in it (a date, a time) is no name.
_AROUND = ",.;:!?\"'“”„«»「」『』[]{}<>"
_NUMBER = re.compile(r"[\d.:/,-]+")


def analyse(query: str, now: datetime, zone: str) -> QueryAnalysis:
    """Return what a query says besides its words.

    Args:
        query: the question as it was put.
        now: the moment it was put at, aware.
        zone: the zone in which its days are meant.
    """
    phrases = find_times(query, now, zone, prefer=Direction.PAST) if len(query) <= TIMED_CHARS else ()
    spans = tuple(_asked(phrase) for phrase in phrases if phrase.kind not in (Kind.DURATION, Kind.RECURRENCE))
    past = any(span.until is not None and span.until <= now for span in spans)
    return QueryAnalysis(
        scripts=tuple(sorted(scripts(query))),
        quoted=tuple(next(filter(None, groups)) for groups in _QUOTED.findall(query)),
        identifiers=tuple(dict.fromkeys(_identifiers(query))),
        names=tuple(dict.fromkeys(_NAME.findall(query))) if len(query) <= TIMED_CHARS else (),
        spans=spans,
        present=asks_for_now(query),
        history=asks_for_history(query) or past,
        # Of a time that has not come nothing was said yet; what was said about it has other words.
        only_time=bool(spans) and (spans[0].since or now) <= now and not _says_more(query, phrases),
        bare_time=len(phrases) == 1 and not _WORD.search(query[: phrases[0].start] + query[phrases[0].end :]),
    )


def _identifiers(query: str) -> Iterator[str]:
    """Yield the words that are written as names are; each is looked at by itself, so that no query takes long."""
    for piece in query.split():
        word = piece.strip(_AROUND)
        if len(word) <= WORD_CHARS and _IDENTIFIER.fullmatch(word) and not _NUMBER.fullmatch(word):
            yield word


def _asked(phrase: TimePhrase) -> AskedSpan:
    return AskedSpan(phrase.text, phrase.since, phrase.until, phrase.exact)


def _says_more(query: str, phrases: tuple[TimePhrase, ...]) -> bool:
    """Say whether there are words beside the time phrases that text could be found by."""
    rest, last = [], 0
    for phrase in phrases:
        rest.append(query[last : phrase.start])
        last = phrase.end
    rest.append(query[last:])
    return any(_WORD.search(part) and not _is_frame(part) for part in rest)


def _is_frame(part: str) -> bool:
    """Say whether nothing is left of a part but what any question has: "what did I do", "什么事"."""
    return not _WORD.search(_FRAME.sub(" ", normal(part)))


#: What frames a question about a time in seven languages, and names nothing that text could be found by.
_FRAME = re.compile(
    r"\b(?:what|which|did|do|does|done|was|were|is|i|we|me|my|you|happened|happen|things?|anything|up|to|on|in|at|the|a"
    r"|of|about|there|going|show|tell|list|notes?|from|have|had|been|say|said"
    r"|was|habe|hab|ich|wir|gemacht|getan|ist|passiert|war|geschah|los|gab|es|zeig|zeige|mir|alles|vom|von|aus|notizen"
    r"|que|qué|hice|hicimos|paso|pasó|hubo|muestra|muéstrame|notas|de|el|la|lo"
    r"|qu|est|ce|qu'est|fait|ai|j'ai|nous|avons|s'est|passe|passé|montre|moi|les?|des?)\b"
    r"|我|我们|你|做了?|干了?|什么|什麼|事情?|发生了?|發生了?|有|哪些|的|了|吗|嗎|说过?|記錄|记录|看看?"
    r"|何|なに|を|が|は|に|の|した|しました|あった|ありました|ですか|か|私|教えて"
    r"|무엇|뭐|뭘|을|를|이|가|은|는|에|했지|했나요|했어|했|일|있었지|있었|나|내가|우리"
)


def covers(span: AskedSpan, said: datetime, *, whole_day: bool) -> bool:
    """Say whether something was said within a span.

    ``whole_day``: only the calendar day is known, held as its midnight in UTC. Then the days count, in the zone of the
    span.
    """
    if not whole_day:
        return (span.since is None or said >= span.since) and (span.until is None or said < span.until)
    day = said.astimezone(UTC).date()
    first = None if span.since is None else span.since.date()
    last = None if span.until is None else (span.until - timedelta(microseconds=1)).date()
    return (first is None or day >= first) and (last is None or day <= last)
