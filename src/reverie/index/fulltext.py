"""The keyword leg: what the words of a question have to do with every chunk, counted on three levels.

Trusted text and all other text are searched apart, each half with its own counts of words.

The index holds stems and single CJK characters (:func:`reverie.core.language.index_form`), so a query word becomes the
stems that it may have, joined by OR: in the language of the question and in those that the index is written in, and
in no other. A stem of a language that hardly occurs is rare by accident, and BM25 takes what is rare for what matters.

What stands together in the query (``load_user_prefs``, ``km/h``, a quoted phrase, neighbouring words) is asked for as
a phrase as well, which ranks a literal match first; so are neighbouring CJK characters, which are words more often
than single ones. Only words that we made ourselves reach FTS5, each in quotes, so no text can be a syntax error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.core.language import guess, is_cjk, stem, variants
from reverie.index.query import parse
from reverie.index.rows import Filters, LegHit, ranked, revision, tally
from reverie.index.schema import HALVES
from reverie.store.database import Database

_LINES = (
    "SELECT rowid, bm25({half}_chunk_fts) AS cost FROM {half}_chunk_fts WHERE {half}_chunk_fts MATCH ? "
    "ORDER BY cost LIMIT ?"
)
_LINES_FILTERED = (
    "SELECT f.rowid, bm25({half}_chunk_fts) AS cost FROM {half}_chunk_fts f "
    "CROSS JOIN chunk c ON c.id = f.rowid CROSS JOIN source s ON s.id = c.source_id "
    "WHERE {half}_chunk_fts MATCH ? AND {where} ORDER BY cost LIMIT ?"
)
_CONTEXTS = (
    "SELECT rowid, bm25({half}_context_fts, 1.0, {heading}) AS cost FROM {half}_context_fts "
    "WHERE {half}_context_fts MATCH ? "
    "ORDER BY cost LIMIT ?"
)
_CONTEXTS_FILTERED = (
    "SELECT f.rowid, bm25({half}_context_fts, 1.0, {heading}) AS cost FROM {half}_context_fts f "
    "CROSS JOIN context x ON x.id = f.rowid CROSS JOIN source s ON s.id = x.source_id "
    "CROSS JOIN chunk c ON c.source_id = x.source_id AND c.position = x.first "
    "WHERE {half}_context_fts MATCH ? AND {where} ORDER BY cost LIMIT ?"
)
_SOURCES = (
    "SELECT rowid, bm25({half}_source_fts, 1.0, {path}) AS cost FROM {half}_source_fts "
    "WHERE {half}_source_fts MATCH ? ORDER BY cost LIMIT ?"
)
_INSIDE = (
    "SELECT x.id, c.id, c.source_id FROM json_each(?) j CROSS JOIN context x ON x.id = j.value "
    "CROSS JOIN chunk c ON c.source_id = x.source_id AND c.position BETWEEN x.first AND x.last "
    "CROSS JOIN source s ON s.id = c.source_id {where}"
)
_SOURCES_OF = "SELECT c.id, c.source_id FROM chunk c WHERE c.id IN (SELECT value FROM json_each(?))"
_FIRST_OF = (
    "SELECT min(c.position), c.id, c.source_id FROM json_each(?) j CROSS JOIN source s ON s.id = j.value "
    "CROSS JOIN chunk c ON c.source_id = s.id AND c.trusted = ? {where} GROUP BY c.source_id"
)
_FREQUENCY = (
    "SELECT (SELECT doc FROM {half}_chunk_vocabulary WHERE term = ?), "
    "(SELECT doc FROM {half}_source_vocabulary WHERE term = ?)"
)
_SPOKEN = "SELECT language, chunks FROM spoken WHERE trusted = ?"

#: Weights of what stands beside the text in BM25. A heading or a path says what a text is about, but in few words.
HEADING_WEIGHT = 0.6
PATH_WEIGHT = 0.4
#: Best rows taken of each level. A document only adds to chunks that its lines brought in; the best few that are
#: found by their path alone are represented by their first chunk.
LINES = 200
CONTEXTS = 100
SOURCES = 50
SOURCES_BY_PATH = 10
#: What a single CJK character counts; by itself it is part of many words.
SINGLE_WEIGHT = 0.3
#: A language in which a smaller part of the chunks is written does not give stems to a query.
LANGUAGE_SHARE = 0.03

#: How many different words are looked up, and how many of them, the rarest, are searched for.
WORDS_LOOKED_UP = 240
WORDS_SEARCHED = 64
PHRASES_SEARCHED = 64
#: In an index of more chunks than this, words that a quarter of them hold go, and words are added, rarest first, until
#: so many matching rows are to be ranked (about a microsecond each), but some words always: what a larger index loses
#: by it are common words, which hardly tell one row from another.
SMALL_INDEX = 20_000
COMMON_PART = 4
ROWS_RANKED = 10_000
WORDS_ALWAYS = 3
FREQUENCIES_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Expressions:
    """FTS5 queries: for a chunk with its phrases, for what is around it, and for single CJK characters."""

    line: str
    around: str
    singles: str


class Fulltext:
    """The keyword leg over one half of a database. Remembers how frequent words are until the index changes."""

    def __init__(self, database: Database, trusted: bool) -> None:
        self._database = database
        self._trusted = trusted
        self._half = HALVES[trusted]
        self._revision = -1
        self._frequencies: dict[str, tuple[int, int]] = {}
        self._spoken: tuple[str, ...] = ()
        self._stemmed: tuple[str, ...] = ()
        self._size = 0

    def leg(self, text: str, filters: Filters, limit: int) -> list[LegHit]:
        """Return the best chunks for any text, at most ``limit``; scores are positive, higher is better.

        The score of a chunk is its own BM25, that of its best context and that of its document, added up.
        """
        asked = self.expressions(text)
        if not (asked.line or asked.singles) or limit < 1:
            return []
        where, values = filters.where(tally(self._database))
        lines = self._level(_LINES_FILTERED if where else _LINES, asked, asked.line, where, values, LINES)
        sql = _CONTEXTS_FILTERED if where else _CONTEXTS
        contexts = self._level(sql, asked, asked.around, where, values, CONTEXTS)
        sources = self._level(_SOURCES, asked, asked.around, "", [], SOURCES)
        scores, documents = self._inside(lines, contexts, where, values)
        self._add_first(scores, documents, sources, where, values)
        for ident, source in documents.items():
            scores[ident] += sources.get(source, 0.0)
        scored = [(ident, round(score, 9)) for ident, score in scores.items()]
        return ranked(self._database, scored, limit, trusted=self._trusted)

    # --- the three levels ---

    def _level(
        self, sql: str, asked: Expressions, expression: str, where: str, values: list[Any], wanted: int
    ) -> dict[int, float]:
        """Return the best rows of one level with their BM25; single characters count less."""
        found = self._matched(sql, expression, where, values, wanted)
        for ident, score in self._matched(sql, asked.singles, where, values, wanted).items():
            found[ident] = found.get(ident, 0.0) + SINGLE_WEIGHT * score
        return found

    def _matched(self, sql: str, expression: str, where: str, values: list[Any], wanted: int) -> dict[int, float]:
        """Return the best rows, as many as wanted and those that tie with the last: no cut falls by row id."""
        if not expression:
            return {}
        sql = sql.format(half=self._half, where=where, heading=HEADING_WEIGHT, path=PATH_WEIGHT)
        ask = wanted + 32
        while True:
            rows = self._database.rows(sql, (expression, *values, ask))
            if len(rows) < ask or rows[wanted - 1][1] != rows[-1][1]:
                break
            ask *= 4
        last = rows[min(wanted, len(rows)) - 1][1] if rows else 0.0
        return {ident: _score(cost) for ident, cost in rows if cost <= last}

    def _inside(
        self, lines: dict[int, float], contexts: dict[int, float], where: str, values: list[Any]
    ) -> tuple[dict[int, float], dict[int, int]]:
        """Return the score of each chunk that was found or lies in a context that was, and its document."""
        scores = dict(lines)
        documents: dict[int, int] = dict(self._database.rows(_SOURCES_OF, (json.dumps(list(lines)),)))
        best: dict[int, float] = {}
        sql = _INSIDE.format(where=f"WHERE {where}" if where else "")
        for context, ident, source in self._database.rows(sql, (json.dumps(list(contexts)), *values)):
            documents[ident] = source
            best[ident] = max(best.get(ident, 0.0), contexts[context])
        for ident, score in best.items():
            scores[ident] = scores.get(ident, 0.0) + score
        return {ident: score for ident, score in scores.items() if ident in documents}, documents

    def _add_first(
        self,
        scores: dict[int, float],
        documents: dict[int, int],
        sources: dict[int, float],
        where: str,
        values: list[Any],
    ) -> None:
        """Let the first chunk stand for a document of which no line was found, only its path."""
        seen = set(documents.values())
        best = sorted(sources.values(), reverse=True)[:SOURCES_BY_PATH]
        missing = [source for source, score in sources.items() if source not in seen and score >= best[-1]]
        if missing:
            sql = _FIRST_OF.format(where=f"WHERE {where}" if where else "")
            for _, ident, source in self._database.rows(sql, (json.dumps(missing), self._trusted, *values)):
                documents[ident] = source
                scores[ident] = 0.0

    # --- the query ---

    def expressions(self, text: str) -> Expressions:
        """Return the FTS5 queries for a text; empty where nothing in the index can match."""
        query = parse(text)
        self._look(query.every)
        words = self._words(query.words)
        pairs = self._phrases(query.pairs)
        literals = self._phrases(query.literals)
        phrases = self._phrases(query.phrases)
        singles = [f'"{one}"' for one in query.singles[:WORDS_LOOKED_UP] if any(self._frequency(one))]
        around = [*words, *pairs, *literals]
        return Expressions(_any([*around, *phrases]), _any(around), _any(singles))

    def _words(self, words: Sequence[str]) -> list[str]:
        if len(words) > WORDS_LOOKED_UP:
            words = [*words[: WORDS_LOOKED_UP // 2], *words[-WORDS_LOOKED_UP // 2 :]]
        found = []
        for order, word in enumerate(words):
            if forms := self._forms(word):
                found.append((sum(map(self._rows, forms)), order, [f'"{form}"' for form in forms]))
        return self._rarest(found, WORDS_SEARCHED)

    def _phrases(self, phrases: Sequence[tuple[str, ...]]) -> list[str]:
        """Return phrases in each language whose stems the index knows; a chunk is stemmed in one language."""
        found = []
        for order, phrase in enumerate(phrases[:WORDS_LOOKED_UP]):
            sequences = dict.fromkeys(tuple(stem(word, language) for word in phrase) for language in self._stemmed)
            rarest = {sequence: min(map(self._rows, sequence)) for sequence in sequences}
            if present := [f'"{" ".join(sequence)}"' for sequence, count in rarest.items() if count]:
                found.append((max(rarest.values()), order, present))
        return self._rarest(found, PHRASES_SEARCHED)

    def _rarest(self, found: Sequence[tuple[int, int, list[str]]], most: int) -> list[str]:
        """Return the rarest terms, given with their rows and their place in the query; fewer in a large index."""
        terms: list[str] = []
        rows = 0
        for taken, (count, _, forms) in enumerate(sorted(found)[:most]):
            if self._size > SMALL_INDEX and taken >= WORDS_ALWAYS:
                rows += count
                if rows > ROWS_RANKED or count * COMMON_PART > self._size:
                    break
            terms.extend(forms)
        return terms

    def _forms(self, word: str) -> list[str]:
        """Return the forms of a word that the index has."""
        wanted = dict.fromkeys(stem(word, language) for language in self._stemmed)
        found = [form for form in wanted if any(self._frequency(form))]
        if found or is_cjk(word):
            return found
        # A word in no form of the languages at hand is looked for in those of all others.
        return [form for form in variants(word) if any(self._frequency(form))]

    def _rows(self, term: str) -> int:
        return self._frequency(term)[0]

    def _frequency(self, term: str) -> tuple[int, int]:
        """Return how many chunks and how many documents have a term; the words of a path are in documents only."""
        known = self._frequencies.get(term)
        if known is None:
            row = self._database.row(_FREQUENCY.format(half=self._half), (term, term)) or (0, 0)
            known = self._frequencies[term] = (int(row[0] or 0), int(row[1] or 0))
        return known

    def _look(self, words: Sequence[str]) -> None:
        """Learn what changed, and in which languages the query is to be stemmed."""
        now = revision(self._database)
        if now != self._revision or len(self._frequencies) > FREQUENCIES_KEPT:
            self._frequencies.clear()
            spoken: dict[str, int] = dict(self._database.rows(_SPOKEN, (self._trusted,)))
            self._size = sum(spoken.values())
            self._spoken = tuple(sorted(one for one, count in spoken.items() if count >= LANGUAGE_SHARE * self._size))
            self._revision = now
        self._stemmed = tuple(dict.fromkeys((guess(words), *self._spoken)))


def _any(terms: Iterable[str]) -> str:
    return " OR ".join(dict.fromkeys(terms))


def _score(cost: float) -> float:
    """Return BM25 as a positive number; rounded, so that equal chunks are equal in every index."""
    return max(round(-cost, 12), 1e-12)
