"""The keyword leg: what the words of a question have to do with every chunk, counted on three levels.

Trusted text and all other text are searched apart, each half with its own counts of words.

The index holds stems and single CJK characters (:func:`reverie.core.language.index_form`), so a query word becomes the
stems that it may have, in the language of the question and in those that the index is written in, and in no other. A
stem of a language that hardly occurs is rare by accident, and BM25 takes what is rare for what matters.

What stands together in the query (``load_user_prefs``, ``km/h``, a quoted phrase, neighbouring words) is looked for as
a phrase as well, which ranks a literal match first; so are neighbouring CJK characters, which are words more often
than single ones.

What answers a question often names its subject a line earlier. So a chunk gets its own BM25, that of its best context
and that of its document, added up. One list of places serves all three: a context and a document hold what their
chunks hold, and what their heading or their path says counts beside it.
"""

from __future__ import annotations

import itertools
import json
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reverie.core.language import guess, is_cjk, stem, variants
from reverie.index.bm25 import Counted, Level
from reverie.index.layout import Columns, ContextField, Field, Layouts, ranges
from reverie.index.places import Places
from reverie.index.query import Words, parse
from reverie.index.rows import Filters, LegHits
from reverie.index.schema import HALVES
from reverie.store.database import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FREQUENCY = "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN {half}_chunk_vocabulary v ON v.term = j.value"
_SPOKEN = "SELECT language, chunks FROM spoken WHERE trusted = ?"

#: Weights of what stands beside the text in BM25. A heading or a path says what a text is about, but in few words.
HEADING_WEIGHT = 0.6
PATH_WEIGHT = 0.4
#: What a single CJK character counts; by itself it is part of many words.
SINGLE_WEIGHT = 0.3
#: A language in which a smaller part of the chunks is written does not give stems to a query.
LANGUAGE_SHARE = 0.03

#: How many different words are looked up, and how many of them, the rarest, are searched for.
WORDS_LOOKED_UP = 240
TERMS_COUNTED = 1_000
WORDS_SEARCHED = 64
PHRASES_SEARCHED = 64
#: In an index of more chunks than this, words that a quarter of them hold go, and words are added, rarest first, until
#: they stand in so many chunks, but some words always: what a larger index loses by it are common words, which hardly
#: tell one chunk from another.
SMALL_INDEX = 20_000
COMMON_PART = 4
CHUNKS_COUNTED = 20_000
WORDS_ALWAYS = 3
FREQUENCIES_KEPT = 20_000
DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Terms:
    """What is looked for, each a word or several in a row: in a chunk, around it as well, and single characters."""

    line: tuple[Words, ...]
    around: frozenset[Words]
    singles: tuple[Words, ...]


@dataclass(frozen=True)
class _Half:
    """One half of the chunks, with what BM25 has to know of its three levels."""

    columns: Columns
    inside: NDArray[np.bool_]

    @cached_property
    def lines(self) -> Level:
        return Level.of(self.columns[Field.TOKENS], self.inside)

    @cached_property
    def contexts(self) -> Level:
        first, end = self.columns.context_rows
        sums = np.concatenate(([0], np.cumsum(self.columns[Field.TOKENS])))
        counted = self.inside[first] if len(first) else np.zeros(0, np.bool_)
        return Level.of(sums[end] - sums[first] + self.columns.contexts[ContextField.TOKENS], counted)

    @cached_property
    def documents(self) -> Level:
        found = self.columns
        count = len(found.documents)
        tokens = np.bincount(found.document, found[Field.TOKENS] * self.inside, count).astype(np.int64)
        present = np.bincount(found.document, self.inside, count) > 0
        paths = np.array([one.path_tokens for one in found.documents], np.int64)
        return Level.of(tokens + paths, present)

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """Return the first row of each document in this half; -1 where it has none."""
        found = np.full(len(self.columns.documents), -1, np.int64)
        rows = np.flatnonzero(self.inside)[::-1]
        found[self.columns.document[rows]] = rows
        return found


class Fulltext:
    """The keyword leg over one half of a database. Remembers where words stand until the index changes.

    Safe to use from several threads: one leg at a time.
    """

    def __init__(self, database: Database, layouts: Layouts, trusted: bool) -> None:
        half = HALVES[trusted]
        self._database = database
        self._layouts = layouts
        self._trusted = trusted
        self._frequency_sql = _FREQUENCY.format(half=half)
        self._chunks = Places(database, f"{half}_chunk_places")
        self._headings = Places(database, f"{half}_heading_places")
        self._paths = Places(database, f"{half}_path_places")
        self._lock = threading.RLock()
        self._half: _Half | None = None
        self._frequencies: dict[str, int] = {}
        self._spoken: tuple[str, ...] = ()
        self._stemmed: tuple[str, ...] = ()
        self._size = 0

    def leg(self, text: str, filters: Filters, limit: int) -> LegHits:
        """Return the best chunks for any text, at most ``limit``; scores are positive, higher is better.

        The score of a chunk is its own BM25, that of its best context and that of its document, added up.
        """
        with self._lock:
            half = self._refreshed()
            if limit < 1 or not half.inside.any():
                return LegHits.none()
            lines, contexts, documents, named = self._scores(half, self._terms(text))
        columns = half.columns
        flat, starts = columns.context_of
        best = np.maximum.reduceat(contexts[flat], starts[:-1])
        found = (lines > 0) | (best > 0)
        found[half.first_rows[named]] = True
        found &= half.inside
        allowed = columns.allowed(filters)
        rows = np.flatnonzero(found if allowed is None else found & allowed)
        scores = np.round(lines[rows] + best[rows] + documents[columns.document[rows]], DECIMALS)
        if limit < len(rows):
            kept = scores >= np.partition(scores, -limit)[-limit]
            rows, scores = rows[kept], scores[kept]
        order = columns.ordered(rows, scores)[:limit]
        rows, scores = rows[order], scores[order]
        return LegHits(columns[Field.ID][rows], scores, np.zeros(len(rows)), np.full(len(rows), self._trusted))

    # --- the three levels ---

    def _scores(
        self, half: _Half, terms: Terms
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return the BM25 of every chunk, context and document, and the documents that are found by their path."""
        columns = half.columns
        asked = [*terms.line, *terms.singles]
        weights = np.array([1.0] * len(terms.line) + [SINGLE_WEIGHT] * len(terms.singles))
        single = frozenset(terms.singles)
        wide = np.array([words in terms.around or words in single for words in asked], np.bool_)
        for places in (self._chunks, self._headings, self._paths):
            places.look_up(dict.fromkeys(itertools.chain.from_iterable(asked)))
        chunks = _counted(self._chunks, asked, columns.rows)
        lines = half.lines.scores(chunks, weights)
        around = chunks.of_terms(wide)
        flat, starts = columns.context_of
        sizes = starts[around.texts + 1] - starts[around.texts]
        inside = Counted(
            np.repeat(around.terms, sizes), flat[ranges(starts[around.texts], sizes)], np.repeat(around.counts, sizes)
        )
        headings = _counted(self._headings, asked, columns.context_numbers).of_terms(wide)
        contexts = half.contexts.scores(inside.joined(headings, HEADING_WEIGHT), weights)
        paths = _counted(self._paths, asked, columns.document_numbers).of_terms(wide)
        inside = Counted(around.terms, columns.document[around.texts], around.counts)
        documents = half.documents.scores(inside.joined(paths, PATH_WEIGHT), weights)
        return lines, contexts, documents, np.unique(paths.texts)

    def weights(self, text: str) -> list[tuple[frozenset[Words], float]]:
        """Return what a text asks for, each in the forms that count as it, and how rare it is here.

        A word that stands nowhere weighs most: what is asked about may not be here at all. The weight is the inverse
        document frequency of BM25; a pair of CJK characters counts as rare as the rarer of the two.
        """
        with self._lock:
            half = self._refreshed()
            query = parse(text)
            languages = tuple(dict.fromkeys((guess(query.every), *self._spoken)))
            asked = [(word,) for word in query.words] + list(query.pairs)
            asked = asked[:WORDS_LOOKED_UP]
            self._count(stem(one, language) for words in asked for one in words for language in languages)
            found = []
            for words in asked:
                forms = frozenset(tuple(stem(one, language) for one in words) for language in languages)
                count = max(min(map(self._frequency, form)) for form in forms)
                size = max(half.lines.count, count)
                found.append((forms, math.log(1 + (size - count + 0.5) / (count + 0.5))))
            return found

    # --- the query ---

    def terms(self, text: str) -> Terms:
        """Return what is looked for; empty where nothing in the index can match."""
        with self._lock:
            return self._terms(text)

    def _terms(self, text: str) -> Terms:
        half = self._refreshed()
        query = parse(text)
        self._stemmed = tuple(dict.fromkeys((guess(query.every), *self._spoken)))
        self._size = half.lines.count
        asked = [*query.words, *query.singles, *itertools.chain(*query.literals, *query.phrases, *query.pairs)]
        self._count(stem(word, language) for word in asked[:TERMS_COUNTED] for language in self._stemmed)
        words = self._words(query.words)
        pairs = self._phrases(query.pairs)
        literals = self._phrases(query.literals)
        phrases = self._phrases(query.phrases)
        singles = dict.fromkeys((one,) for one in query.singles[:WORDS_LOOKED_UP] if self._known(one))
        around = dict.fromkeys([*words, *pairs, *literals])
        return Terms(tuple(dict.fromkeys([*around, *phrases])), frozenset(around), tuple(singles))

    def _words(self, words: Sequence[str]) -> list[Words]:
        if len(words) > WORDS_LOOKED_UP:
            words = [*words[: WORDS_LOOKED_UP // 2], *words[-WORDS_LOOKED_UP // 2 :]]
        found: list[tuple[int, int, list[Words]]] = []
        for order, word in enumerate(words):
            if forms := self._forms(word):
                found.append((sum(map(self._frequency, forms)), order, [(form,) for form in forms]))
        return self._rarest(found, WORDS_SEARCHED)

    def _phrases(self, phrases: Sequence[Words]) -> list[Words]:
        """Return phrases in each language whose stems the index knows; a chunk is stemmed in one language."""
        found = []
        for order, phrase in enumerate(phrases[:WORDS_LOOKED_UP]):
            sequences = dict.fromkeys(tuple(stem(word, language) for word in phrase) for language in self._stemmed)
            rarest = {sequence: min(map(self._frequency, sequence)) for sequence in sequences}
            if present := [sequence for sequence, count in rarest.items() if count]:
                found.append((max(rarest.values()), order, present))
        return self._rarest(found, PHRASES_SEARCHED)

    def _rarest(self, found: Sequence[tuple[int, int, list[Words]]], most: int) -> list[Words]:
        """Return the rarest terms, given with their chunks and their place in the query; fewer in a large index."""
        terms: list[Words] = []
        chunks = 0
        for taken, (count, _, forms) in enumerate(sorted(found)[:most]):
            if self._size > SMALL_INDEX and taken >= WORDS_ALWAYS:
                chunks += count
                if chunks > CHUNKS_COUNTED or count * COMMON_PART > self._size:
                    break
            terms.extend(forms)
        return terms

    def _forms(self, word: str) -> list[str]:
        """Return the forms of a word that the index has."""
        wanted = dict.fromkeys(stem(word, language) for language in self._stemmed)
        found = [form for form in wanted if self._known(form)]
        if found or is_cjk(word):
            return found
        # A word in no form of the languages at hand is looked for in those of all others.
        return [form for form in variants(word) if self._known(form)]

    def _known(self, term: str) -> bool:
        """Say whether a term stands in a text, a heading or a path."""
        if self._frequency(term):
            return True
        return any(len(places.of((term,))[0]) > 0 for places in (self._headings, self._paths))

    def _frequency(self, term: str) -> int:
        """Return in how many chunks a term stands."""
        if term not in self._frequencies:
            self._count([term])
        return self._frequencies[term]

    def _count(self, terms: Iterable[str]) -> None:
        """Learn in how many chunks terms stand, and where in headings and paths, all in one look."""
        if len(self._frequencies) >= FREQUENCIES_KEPT:
            self._frequencies.clear()
        missing = [term for term in dict.fromkeys(terms) if term not in self._frequencies]
        if missing:
            self._frequencies |= dict.fromkeys(missing, 0)
            self._frequencies |= dict(self._database.rows(self._frequency_sql, (json.dumps(missing),)))
        self._headings.look_up(missing)
        self._paths.look_up(missing)

    def _refreshed(self) -> _Half:
        """Return the half as the index is now; forget what was remembered of an older one."""
        columns = self._layouts.current()
        if self._half is None or self._half.columns is not columns:
            self._half = _Half(columns, columns.trusted == self._trusted)
            for places in (self._chunks, self._headings, self._paths):
                places.forget()
            self._frequencies.clear()
            spoken: dict[str, int] = dict(self._database.rows(_SPOKEN, (self._trusted,)))
            size = sum(spoken.values())
            self._spoken = tuple(sorted(one for one, count in spoken.items() if count >= LANGUAGE_SHARE * size))
        return self._half


def _counted(
    places: Places, asked: Sequence[Words], numbers_of: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> Counted:
    """Return how often each of what is asked for stands in which text; texts that are gone are left out."""
    found = [places.of(words) for words in asked]
    nothing = np.zeros(0, np.int64)
    terms = np.repeat(np.arange(len(found)), [len(ids) for ids, _ in found])
    texts = numbers_of(np.concatenate([nothing, *(ids for ids, _ in found)]))
    counts = np.concatenate([nothing, *(counts for _, counts in found)]).astype(np.float64)
    known = texts >= 0
    return Counted(terms[known], texts[known], counts[known])
