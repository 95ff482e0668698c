"""What a text asks for: words, and what should stand together. Any text of a person is a query."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from reverie.core.language import is_cjk, is_stop, tokens

#: Of a longer query the beginning and the end are read; a question stands at one of them.
QUERY_CHARACTERS = 8_000
PHRASE_LENGTH = 12

_QUOTED = re.compile('"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』')
#: Marks that make a name of what they stand beside (C++, C#), so that even a stop word is meant.
_NAMING = re.compile(r"[+#]")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What a text asks for, without repeats.

    ``words`` are single words, ``pairs`` neighbouring CJK characters, ``literals`` what is written as one (an
    identifier, a quoted phrase), ``phrases`` neighbouring words, ``singles`` the CJK characters of the pairs by
    themselves, ``every`` all words as they come.
    """

    words: Words = ()
    pairs: tuple[Words, ...] = ()
    literals: tuple[Words, ...] = ()
    phrases: tuple[Words, ...] = ()
    singles: Words = ()
    every: Words = ()


def parse(text: str) -> Query:
    """Return the words and phrases of any text. Stop words go, unless there is nothing else."""
    text = _bounded(text)
    found = _collect(text, keep_stops=False)
    if not found.words and not found.pairs:
        found = _collect(text, keep_stops=True)
    quoted = [tuple(tokens(next(filter(None, groups)))) for groups in _QUOTED.findall(text)]
    literals = [phrase[:PHRASE_LENGTH] for phrase in (*quoted, *found.literals) if len(phrase) > 1]
    return Query(
        words=tuple(dict.fromkeys(found.words)),
        pairs=tuple(dict.fromkeys(found.pairs)),
        literals=tuple(dict.fromkeys(literals)),
        phrases=tuple(dict.fromkeys(found.phrases)),
        singles=tuple(dict.fromkeys(found.singles)),
        every=tuple(tokens(text)),
    )


def _bounded(text: str) -> str:
    if len(text) <= 2 * QUERY_CHARACTERS:
        return text
    return f"{text[:QUERY_CHARACTERS]} {text[-QUERY_CHARACTERS:]}"


def _collect(text: str, *, keep_stops: bool) -> Query:
    words: list[str] = []
    pairs: list[Words] = []
    literals: list[Words] = []
    phrases: list[Words] = []
    singles: list[str] = []
    last = ""
    for piece in text.split():
        meant = keep_stops or _NAMING.search(piece) is not None
        for run in _runs(tokens(piece)):
            if is_cjk(run[0]):
                last = ""
                _add_cjk(run, words, pairs, singles, keep_stops=keep_stops)
                continue
            kept = [word for word in run if meant or not is_stop(word)]
            words.extend(kept)
            if len(kept) > 1:
                literals.append(run)
            if last and kept[:1] == list(run[:1]):
                phrases.append((last, run[0]))
            last = run[-1] if kept[-1:] == list(run[-1:]) else ""
    return Query(tuple(words), tuple(pairs), tuple(literals), tuple(phrases), tuple(singles))


def _runs(found: list[str]) -> Iterable[Words]:
    """Split the words of a piece where CJK and other scripts meet."""
    start = 0
    for at in range(1, len(found) + 1):
        if at == len(found) or is_cjk(found[at]) != is_cjk(found[start]):
            yield tuple(found[start:at])
            start = at


def _add_cjk(run: Words, words: list[str], pairs: list[Words], singles: list[str], *, keep_stops: bool) -> None:
    kept = [one for one in run if keep_stops or not is_stop(one)]
    if len(run) == 1:
        words.extend(kept)
        return
    singles.extend(kept)
    pairs.extend(pair for pair in itertools.pairwise(run) if keep_stops or not (is_stop(pair[0]) and is_stop(pair[1])))
