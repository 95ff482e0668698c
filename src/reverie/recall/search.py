"""The search: both legs, fusion, multipliers, diversity, passages, snippets, and a trace of all of it.

The main path is :meth:`Searcher.search`; each step is a function of its own so that the trace can name it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from reverie.core.errors import EmbedderUnavailable
from reverie.core.provenance import is_trusted
from reverie.core.text import collapse
from reverie.core.types import Clock, Corpus, Hit, HitTrace, Leg, SearchMode, SearchRequest, SearchResult
from reverie.recall import ranking
from reverie.recall.passages import FULL_CHARS, LEADING, REACH, StoredChunk, grow
from reverie.recall.present import asks_for_now
from reverie.recall.ranking import RankingSettings
from reverie.recall.snippets import snippet
from reverie.recall.speakers import Asker

if TYPE_CHECKING:
    from reverie.core.types import Vector

#: Candidates taken from each leg, whatever the caller's maxResults.
KEYWORD_LIMIT = 256
VECTOR_LIMIT = 200
#: How many of the best fused candidates are asked who says them and how long they are, and how many of those are
#: loaded and weighed, at least and for each result: a result may take several lines. What fuses below these cannot
#: come to the front; loading all of both legs would cost more than both legs.
FORMED = 240
WEIGHED = 64
WEIGHED_PER_RESULT = 4
#: How many of the weighed are looked at for diversity; the rest keeps its order.
DIVERSITY_WINDOW = 24
#: The longest query that is read; what lies beyond is ignored, and said so.
QUERY_CHARS = 4000
#: The part of the results that only trusted text may fill, as long as there is any. What was not born trusted can echo
#: a question word for word (a poisoned page does); it stays findable in the places that are left, and never takes the
#: place of the owner's own lines.
TRUSTED_SHARE = 0.8
_T = TypeVar("_T")


class LegHit(Protocol):
    """One hit of one leg."""

    @property
    def chunk_id(self) -> int:
        """Return the row of the chunk in the index."""
        ...

    @property
    def rank(self) -> int:
        """Return the 1-based rank within the leg."""
        ...

    @property
    def score(self) -> float:
        """Return the leg's own score, higher is better."""
        ...

    @property
    def evidence(self) -> float:
        """Return how many standard deviations a hit of the vector leg stands out."""
        ...

    @property
    def trusted(self) -> bool:
        """Say whether the chunk was born trusted; ranks are those among chunks of the same half."""
        ...


class Counts(Protocol):
    """How much there is of a corpus."""

    @property
    def chunks(self) -> int:
        """Return the number of chunks."""
        ...

    @property
    def trusted(self) -> int:
        """Return the number of those that were born trusted."""
        ...


class SearchIndex(Protocol):
    """What a search needs of an index."""

    def keyword_leg(self, request: SearchRequest, limit: int) -> Sequence[LegHit]:
        """Return the best chunks of each half by words, the trusted ones first."""
        ...

    def vector_leg(
        self, vector: Vector, request: SearchRequest, limit: int, also: Collection[int] = ()
    ) -> Sequence[LegHit]:
        """Return the best chunks of each half by meaning, the trusted ones first, each with its part of ``also``."""
        ...

    def by_corpus(self) -> Mapping[str, Counts]:
        """Return how much there is of each corpus."""
        ...

    def traits(self, ids: Sequence[int]) -> Mapping[int, tuple[str | None, int]]:
        """Return the speaker and the characters of each chunk."""
        ...

    def neighbours(self, chunk_id: int, before: int = 1, after: int = 1) -> Sequence[StoredChunk]:
        """Return a chunk between those around it in its document."""
        ...

    def path_matches(self, request: SearchRequest) -> Mapping[int, int]:
        """Return chunk to specificity (3 full path, 2 file name, 1 stem) for a query that names a file."""
        ...

    def load(self, ids: Sequence[int]) -> Sequence[StoredChunk]:
        """Return the chunks of these rows; rows that are gone are left out."""
        ...


@dataclass(slots=True)
class _Candidate:
    """A chunk on its way to becoming a hit. ``lines`` are those of the passage that it has grown into."""

    stored: StoredChunk
    fused: float
    score: float
    exact: int
    keyword: Leg | None
    vector: Leg | None
    multipliers: dict[str, float]
    notes: tuple[str, ...] = ()
    lines: Sequence[StoredChunk] = ()

    @property
    def trusted(self) -> bool:
        """Say whether it was born trusted."""
        return is_trusted(self.stored.chunk.provenance.origin)

    @property
    def order(self) -> tuple[int, float, str, int]:
        """Sort key: exact path first, then score; ties by content, never by row."""
        chunk = self.stored.chunk
        return (-self.exact, -self.score, chunk.path, chunk.start_line)


class Searcher:
    """Searches one index. ``embed`` makes the query vector, or is ``None`` for keyword search."""

    def __init__(
        self, index: SearchIndex, settings: RankingSettings, clock: Clock, embed: Callable[[str], Vector] | None
    ) -> None:
        self._index = index
        self._settings = settings
        self._clock = clock
        self._embed = embed

    def search(self, request: SearchRequest) -> SearchResult:
        """Return the best hits of ``request``, best first.

        Any text is a valid query. A query without words gives an empty result that says so. When the embedder
        fails, keyword hits are returned and a notice names the failure.
        """
        query = collapse(request.query)[:QUERY_CHARS]
        notices: list[str] = []
        if len(collapse(request.query)) > QUERY_CHARS:
            notices.append(f"only the first {QUERY_CHARS} characters of the query were used")
        if not query:
            return SearchResult(notices=("the query is empty",))
        request = replace(request, query=query)
        times: dict[str, float] = {}
        keyword = self._timed(times, "keyword", lambda: self._index.keyword_leg(request, KEYWORD_LIMIT))
        vector = self._vector_leg(request, [hit.chunk_id for hit in keyword], times, notices)
        mode = _mode(bool(keyword), vector is not None)
        started = time.perf_counter()
        hits, dropped = self._ranked(request, keyword, vector or ())
        times["ranking"] = 1000 * (time.perf_counter() - started)
        if not hits:
            notices.append("nothing matched")
        return SearchResult(tuple(hits), mode, False, tuple(notices), times, tuple(dropped))

    def _timed(self, times: dict[str, float], name: str, work: Callable[[], _T]) -> _T:
        started = time.perf_counter()
        result = work()
        times[name] = 1000 * (time.perf_counter() - started)
        return result

    def _vector_leg(
        self, request: SearchRequest, also: Collection[int], times: dict[str, float], notices: list[str]
    ) -> Sequence[LegHit] | None:
        """Return the vector hits, or ``None`` where there is no embedder or it failed (fail-open, said so)."""
        embed = self._embed
        if embed is None:
            return None
        try:
            query = self._timed(times, "embed", lambda: embed(request.query))
        except EmbedderUnavailable as error:
            notices.append(f"keyword only: {error}")
            return None
        return self._timed(times, "vector", lambda: self._index.vector_leg(query, request, VECTOR_LIMIT, also))

    def _ranked(
        self, request: SearchRequest, keyword: Sequence[LegHit], vector: Sequence[LegHit]
    ) -> tuple[list[Hit], list[tuple[str, str]]]:
        """Rank each half by itself, so that no text of strangers moves a line of the owner, and put them together."""
        exact = self._index.path_matches(request)
        named = {row.id: row for row in self._index.load(sorted(exact))} if exact else {}
        dropped: list[tuple[str, str]] = []
        passages: list[_Candidate] = []
        for trusted in (True, False):
            legs = tuple({hit.chunk_id: hit for hit in leg if hit.trusted == trusted} for leg in (keyword, vector))
            inside = {at: exact[at] for at, row in named.items() if is_trusted(row.chunk.provenance.origin) == trusted}
            if any(legs) or inside:
                candidates = self._rank(request, legs, inside, trusted, dropped)
                diversified = self._diversified(candidates, request.max_results)
                passages += self._passages(diversified, request.max_results)
        passages.sort(key=lambda candidate: candidate.order)
        return self._select(request, passages, dropped), dropped

    def _rank(
        self,
        request: SearchRequest,
        legs: Sequence[Mapping[int, LegHit]],
        exact: Mapping[int, int],
        trusted: bool,
        dropped: list[tuple[str, str]],
    ) -> list[_Candidate]:
        """Fuse the legs of one half and apply every multiplier; best first. What falls out is added to ``dropped``."""
        fused = self._fuse(request, legs, trusted)
        last = sum(map(len, legs))
        ranks = {at: tuple(leg[at].rank if at in leg else last for leg in legs) for at in fused}
        # Ties fall by the ranks within the legs, which fall by content: a rebuilt index gives the same answer (I9).
        best = sorted(fused, key=lambda at: (-fused[at], ranks[at]))
        best = best[: max(WEIGHED, WEIGHED_PER_RESULT * request.max_results)]
        stored = self._index.load(sorted({*best, *exact}))
        now = request.as_of or self._clock.now()
        settings = ranking.for_present(self._settings) if asks_for_now(request.query) else self._settings
        candidates: list[_Candidate] = []
        for row in stored:
            notes = row.chunk.annotations
            if notes.invalid_project:
                dropped.append((f"{row.chunk.path}#L{row.chunk.start_line}", "its project annotation is malformed"))
                continue
            multipliers = {
                "recency": ranking.recency(_said(row), now, settings),
                "importance": ranking.importance(notes.importance, self._settings),
                "project": ranking.project(notes.project, request.projects, self._settings),
            }
            base = fused.get(row.id, 0.0)
            score = base * math.prod(multipliers.values())
            where = [Leg(leg[row.id].rank, leg[row.id].score) if row.id in leg else None for leg in legs]
            candidates.append(_Candidate(row, base, score, exact.get(row.id, 0), where[0], where[1], multipliers))
        candidates.sort(key=lambda candidate: candidate.order)
        return candidates

    def _fuse(self, request: SearchRequest, legs: Sequence[Mapping[int, LegHit]], trusted: bool) -> dict[int, float]:
        """Return the score in 0..1 of the best candidates: both legs, who says a line, and how long it is."""
        counts = [found for name, found in self._index.by_corpus().items() if request.corpus in (Corpus.ALL, name)]
        total = sum(one.trusted if trusted else one.chunks - one.trusted for one in counts)
        words = {at: hit.score for at, hit in legs[0].items()}
        meaning = {at: hit.evidence for at, hit in legs[1].items()}
        fused = ranking.fuse(words, meaning, total, self._settings)
        wanted = max(FORMED, WEIGHED_PER_RESULT * request.max_results)
        if len(fused) > wanted:
            least = sorted(fused.values(), reverse=True)[wanted - 1]
            fused = {at: value for at, value in fused.items() if value >= least}
        asker = Asker.of(request.query)
        found = {}
        for at, (speaker, chars) in self._index.traits(list(fused)).items():
            form = asker.bonus(speaker, self._settings) + ranking.length(chars, self._settings)
            found[at] = ranking.squash(fused[at] + form)
        return found

    def _select(
        self, request: SearchRequest, passages: Sequence[_Candidate], dropped: list[tuple[str, str]]
    ) -> list[Hit]:
        """Give out the places, cut at the threshold and at the number asked for."""
        chosen = _trusted_first(passages, request.max_results)
        threshold = request.min_score or 0.0
        kept = [candidate for candidate in chosen if candidate.score >= threshold or candidate.exact]
        if not kept:
            # An exact word must never be lost to a threshold (RANK-02): fall back on what matched by words.
            kept = [candidate for candidate in chosen if candidate.keyword is not None]
        names = {id(candidate) for candidate in kept}
        for candidate in chosen:
            if id(candidate) not in names:
                chunk = candidate.stored.chunk
                where = f"{chunk.path}#L{chunk.start_line}"
                dropped.append((where, f"score {candidate.score:.3f} below {threshold:g}"))
        return [_hit(candidate, request.query) for candidate in kept]

    def _diversified(self, candidates: Sequence[_Candidate], results: int) -> list[_Candidate]:
        window = candidates[: max(DIVERSITY_WINDOW, results)]
        order = [(candidate.stored.chunk.text, candidate.score + candidate.exact) for candidate in window]
        ordered = []
        for at, factor in ranking.diversify(order, len(window), self._settings):
            candidate = window[at]
            if factor < 1.0:
                candidate.multipliers["diversity"] = factor
                candidate.score *= factor
            ordered.append(candidate)
        return [*ordered, *candidates[len(window) :]]

    def _passages(self, ordered: Sequence[_Candidate], results: int) -> list[_Candidate]:
        """Let candidates grow, in order, until there are enough; one that stands in the passage of another joins it.

        A passage can be found by words in one line and by meaning in the next; both facts belong to the one result
        (RANK-03).
        """
        scores = {candidate.stored.id: candidate.score for candidate in ordered}
        leading = {candidate.stored.id for candidate in ordered[:LEADING]}
        holder: dict[int, _Candidate] = {}
        grown: list[_Candidate] = []
        for candidate in ordered:
            if len(grown) >= results:
                break
            if candidate.stored.id in holder:
                continue
            candidate.lines = (candidate.stored,)
            if len(candidate.stored.chunk.text) < FULL_CHARS:
                around = self._index.neighbours(candidate.stored.id, REACH, REACH)
                candidate.lines = grow(candidate.stored, around, scores, leading, holder)
            holder.update((line.id, candidate) for line in candidate.lines)
            grown.append(candidate)
        for candidate in ordered:
            twin = holder.get(candidate.stored.id)
            if twin is not None and twin is not candidate:
                twin.keyword = twin.keyword or candidate.keyword
                twin.vector = twin.vector or candidate.vector
                chunk = candidate.stored.chunk
                twin.notes += (f"joined with line {chunk.start_line}",)
        return grown


def _trusted_first(ordered: Sequence[_Candidate], limit: int) -> list[_Candidate]:
    """Return the first ``limit``, with the leading places kept for trusted text; the rest is open to all by score."""
    reserved = math.ceil(limit * TRUSTED_SHARE)
    leading = [candidate for candidate in ordered if candidate.trusted][:reserved]
    taken = {id(candidate) for candidate in leading}
    for candidate in ordered[: len(leading)]:
        if id(candidate) not in taken:
            candidate.notes += ("placed after trusted text",)
    rest = [candidate for candidate in ordered if id(candidate) not in taken]
    return (leading + rest)[:limit]


def _said(row: StoredChunk) -> datetime | None:
    """Return when a text counts as said: a message of a transcript by itself, a note with its document."""
    if row.chunk.corpus is Corpus.SESSIONS:
        return row.chunk.provenance.observed_at or row.date
    return row.date


def _mode(keyword: bool, vector: bool) -> SearchMode:
    return "hybrid" if vector else "keyword" if keyword else "empty"


def _hit(candidate: _Candidate, query: str) -> Hit:
    chunk = candidate.stored.chunk
    lines = [line.chunk for line in candidate.lines or (candidate.stored,)]
    trace = HitTrace(
        keyword=candidate.keyword,
        vector=candidate.vector,
        fused=candidate.fused,
        multipliers=dict(candidate.multipliers),
        exact_path=candidate.exact,
        line=chunk.start_line,
        notes=candidate.notes,
    )
    return Hit(
        path=chunk.path,
        start_line=lines[0].start_line,
        end_line=max(line.end_line for line in lines),
        score=candidate.score,
        snippet=snippet("\n".join(line.text for line in lines), query),
        corpus=chunk.corpus,
        provenance=chunk.provenance,
        text_score=candidate.keyword.score if candidate.keyword else 0.0,
        vector_score=candidate.vector.score if candidate.vector else 0.0,
        heading=chunk.heading,
        annotations=chunk.annotations,
        trace=trace,
    )
