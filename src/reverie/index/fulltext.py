"""The keyword leg: any text of a person made into an FTS5 query, and the ranked answer.

The index holds stems and single CJK characters (:func:`reverie.core.language.index_form`), so a query word becomes
every stem that it may have, joined by OR. What stands together in the query (``load_user_prefs``, ``km/h``, a quoted
phrase, neighbouring CJK characters) is asked for as a phrase as well, which ranks a literal match first. Only words
that we made ourselves reach FTS5, each in quotes, so no text can be a syntax error.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from reverie.core.language import STEMMED, is_cjk, is_stop, stem, tokens, variants
from reverie.index.rows import Filters, LegHit, ranked, revision, tally
from reverie.store.database import Database

_MATCH = "SELECT rowid, bm25(chunk_fts, {weights}) AS cost FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY cost LIMIT ?"
_MATCH_FILTERED = (
    "SELECT chunk_fts.rowid, bm25(chunk_fts, {weights}) AS cost FROM chunk_fts "
    "CROSS JOIN chunk c ON c.id = chunk_fts.rowid CROSS JOIN source s ON s.id = c.source_id "
    "WHERE chunk_fts MATCH ? AND {where} ORDER BY cost LIMIT ?"
)
_FREQUENCY = "SELECT doc FROM chunk_vocabulary WHERE term = ?"

#: Weights of body, heading and path in BM25. A heading or a path says what a text is about, but in few words.
WEIGHTS = (1.0, 0.6, 0.4)

#: Of a longer query the beginning and the end are read; a question stands at one of them.
QUERY_CHARACTERS = 8_000
#: How many different words are looked up, and how many of them, the rarest, are searched for.
WORDS_LOOKED_UP = 240
WORDS_SEARCHED = 32
PHRASES_SEARCHED = 24
PHRASE_LENGTH = 12
#: Words are added, rarest first, until so many matching rows are to be ranked (about a microsecond each), but some
#: words always: what a larger index loses by it are common words, which hardly tell one row from another.
ROWS_RANKED = 10_000
WORDS_ALWAYS = 3
FREQUENCIES_KEPT = 20_000

_QUOTED = re.compile('"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』')
#: Marks that make a name of what they stand beside (C++, C#), so that even a stop word is meant.
_NAMING = re.compile(r"[+#]")


@dataclass(frozen=True, slots=True)
class Query:
    """What a text asks for: single words, and sequences of words that should stand together. Both without repeats."""

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]


def parse(text: str) -> Query:
    """Return the words and phrases of any text. Stop words go, unless there is nothing else."""
    text = _bounded(text)
    strong, weak = _collect(text, keep_stops=False)
    if not strong and not weak:
        strong, weak = _collect(text, keep_stops=True)
    quoted = [tuple(tokens(next(filter(None, groups)))) for groups in _QUOTED.findall(text)]
    phrases = [phrase[:PHRASE_LENGTH] for phrase in (*quoted, *weak) if len(phrase) > 1]
    return Query(tuple(dict.fromkeys(strong)), tuple(dict.fromkeys(phrases)))


def _bounded(text: str) -> str:
    if len(text) <= 2 * QUERY_CHARACTERS:
        return text
    return f"{text[:QUERY_CHARACTERS]} {text[-QUERY_CHARACTERS:]}"


def _collect(text: str, *, keep_stops: bool) -> tuple[list[str], list[tuple[str, ...]]]:
    words: list[str] = []
    phrases: list[tuple[str, ...]] = []
    for piece in text.split():
        meant = keep_stops or _NAMING.search(piece) is not None
        for run in _runs(tokens(piece)):
            if is_cjk(run[0]):
                _add_cjk(run, words, phrases, keep_stops=keep_stops)
                continue
            kept = [word for word in run if meant or not is_stop(word)]
            words.extend(kept)
            if kept:
                phrases.append(run)
    return words, phrases


def _runs(found: list[str]) -> Iterable[tuple[str, ...]]:
    """Split the words of a piece where CJK and other scripts meet."""
    start = 0
    for at in range(1, len(found) + 1):
        if at == len(found) or is_cjk(found[at]) != is_cjk(found[start]):
            yield tuple(found[start:at])
            start = at


def _add_cjk(run: tuple[str, ...], words: list[str], phrases: list[tuple[str, ...]], *, keep_stops: bool) -> None:
    if len(run) == 1:
        if keep_stops or not is_stop(run[0]):
            words.append(run[0])
        return
    if len(run) <= 4 and (keep_stops or not all(map(is_stop, run))):
        phrases.append(run)
    phrases.extend(
        pair for pair in itertools.pairwise(run) if keep_stops or not (is_stop(pair[0]) and is_stop(pair[1]))
    )


class Fulltext:
    """The keyword leg over one database. Remembers how frequent words are until the index changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._revision = -1
        self._frequencies: dict[str, int] = {}

    def leg(self, text: str, filters: Filters, limit: int) -> list[LegHit]:
        """Return the best chunks for any text, at most ``limit``; scores are positive, higher is better."""
        expression = self.expression(text)
        if not expression or limit < 1:
            return []
        where, values = filters.where(tally(self._database))
        weights = ", ".join(map(str, WEIGHTS))
        sql = (_MATCH_FILTERED if where else _MATCH).format(weights=weights, where=where)
        # Some more than asked for, so that chunks with the same score are cut by content, not by row id.
        ask = limit + 32
        while True:
            rows = self._database.rows(sql, (expression, *values, ask))
            if len(rows) < ask or rows[limit - 1][1] != rows[-1][1]:
                break
            ask *= 4
        return ranked(self._database, [(ident, _score(cost)) for ident, cost in rows], limit)

    def expression(self, text: str) -> str:
        """Return the FTS5 query for a text; empty if nothing in the index can match."""
        self._forget_if_changed()
        query = parse(text)
        terms = self._words(query.words)
        terms.extend(self._phrases(query.phrases))
        return " OR ".join(dict.fromkeys(terms))

    def _words(self, words: tuple[str, ...]) -> list[str]:
        if len(words) > WORDS_LOOKED_UP:
            words = words[: WORDS_LOOKED_UP // 2] + words[-WORDS_LOOKED_UP // 2 :]
        found: list[tuple[int, int, list[str]]] = []
        for order, word in enumerate(words):
            forms = {form: self._frequency(form) for form in variants(word)}
            if present := [form for form, count in forms.items() if count]:
                found.append((sum(forms.values()), order, present))
        terms: list[str] = []
        rows = 0
        for taken, (count, _, present) in enumerate(sorted(found)[:WORDS_SEARCHED]):
            if taken >= WORDS_ALWAYS and rows + count > ROWS_RANKED:
                break
            rows += count
            terms.extend(f'"{form}"' for form in present)
        return terms

    def _phrases(self, phrases: tuple[tuple[str, ...], ...]) -> list[str]:
        """Return phrases in each language whose stems the index knows; a chunk is stemmed in one language."""
        found: list[tuple[int, int, list[str]]] = []
        for order, phrase in enumerate(phrases[:WORDS_LOOKED_UP]):
            sequences = dict.fromkeys(tuple(stem(word, language) for word in phrase) for language in STEMMED)
            rarest = {sequence: min(map(self._frequency, sequence)) for sequence in sequences}
            if present := [f'"{" ".join(sequence)}"' for sequence, count in rarest.items() if count]:
                found.append((max(rarest.values()), order, present))
        return [term for _, _, present in sorted(found)[:PHRASES_SEARCHED] for term in present]

    def _frequency(self, term: str) -> int:
        known = self._frequencies.get(term)
        if known is None:
            known = int(self._database.value(_FREQUENCY, (term,)) or 0)
            self._frequencies[term] = known
        return known

    def _forget_if_changed(self) -> None:
        now = revision(self._database)
        if now != self._revision or len(self._frequencies) > FREQUENCIES_KEPT:
            self._frequencies.clear()
            self._revision = now


def _score(cost: float) -> float:
    """Return BM25 as a positive number; rounded, so that equal chunks are equal in every index."""
    return max(round(-cost, 12), 1e-12)
