"""The search: both legs, fusion, multipliers, diversity, snippets, and a trace of all of it.

The main path is :meth:`Searcher.search`; each step is a function of its own so that the trace can name it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from reverie.core.errors import EmbedderUnavailable
from reverie.core.provenance import is_trusted
from reverie.core.text import collapse
from reverie.core.types import Chunk, Clock, Hit, HitTrace, Leg, SearchMode, SearchRequest, SearchResult
from reverie.recall import ranking
from reverie.recall.ranking import RankingSettings
from reverie.recall.snippets import snippet

if TYPE_CHECKING:
    from datetime import datetime

    from reverie.core.types import Vector

#: Candidates taken from each leg (OpenClaw 2026.9.6: 200, whatever the caller's maxResults).
LEG_LIMIT = 200
#: How many of the best fused candidates are loaded and weighed. The multipliers lie within .7 to 1.5, so what fuses
#: below these cannot come to the front; loading all of both legs would cost more than both legs.
WEIGHED = 64
#: How many of the weighed are looked at for diversity; the rest keeps its order.
DIVERSITY_WINDOW = 24
#: The longest query that is read; what lies beyond is ignored, and said so.
QUERY_CHARS = 4000
#: The part of the results that only trusted text may fill, as long as there is any. What was not born trusted can echo
#: a question word for word (a poisoned page does); it stays findable in the places that are left, and never takes the
#: place of the owner's own lines.
TRUSTED_SHARE = 0.8
#: Two hits of one file that share this part of the shorter one's lines are one passage (list A, RANK-03).
SAME_PASSAGE = 0.5

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


class StoredChunk(Protocol):
    """A chunk as the index keeps it, with the date that its decay is counted from."""

    @property
    def id(self) -> int:
        """Return the row of the chunk."""
        ...

    @property
    def chunk(self) -> Chunk:
        """Return the chunk."""
        ...

    @property
    def date(self) -> datetime | None:
        """Return the date of the text; ``None`` for evergreen files."""
        ...


class SearchIndex(Protocol):
    """What a search needs of an index."""

    def keyword_leg(self, request: SearchRequest, limit: int) -> Sequence[LegHit]:
        """Return the best chunks by words."""
        ...

    def vector_leg(self, vector: Vector, request: SearchRequest, limit: int) -> Sequence[LegHit]:
        """Return the best chunks by cosine."""
        ...

    def path_matches(self, request: SearchRequest) -> Mapping[int, int]:
        """Return chunk to specificity (3 full path, 2 file name, 1 stem) for a query that names a file."""
        ...

    def load(self, ids: Sequence[int]) -> Sequence[StoredChunk]:
        """Return the chunks of these rows; rows that are gone are left out."""
        ...


@dataclass(slots=True)
class _Candidate:
    """A chunk on its way to becoming a hit."""

    stored: StoredChunk
    fused: float
    score: float
    exact: int
    keyword: Leg | None
    vector: Leg | None
    multipliers: dict[str, float]
    notes: tuple[str, ...] = ()

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
        keyword = self._timed(times, "keyword", lambda: self._index.keyword_leg(request, LEG_LIMIT))
        vector = self._vector_leg(request, times, notices)
        mode = _mode(bool(keyword), vector is not None)
        started = time.perf_counter()
        candidates, dropped = self._rank(request, keyword, vector or ())
        hits = self._select(request, candidates, dropped)
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
        self, request: SearchRequest, times: dict[str, float], notices: list[str]
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
        return self._timed(times, "vector", lambda: self._index.vector_leg(query, request, LEG_LIMIT))

    def _rank(
        self, request: SearchRequest, keyword: Sequence[LegHit], vector: Sequence[LegHit]
    ) -> tuple[list[_Candidate], list[tuple[str, str]]]:
        """Fuse the legs and apply every multiplier; returns candidates best first, and what was dropped and why."""
        exact = self._index.path_matches(request)
        legs = ({hit.chunk_id: hit for hit in keyword}, {hit.chunk_id: hit for hit in vector})
        scores = [{at: hit.score for at, hit in leg.items()} for leg in legs]
        fused = ranking.fuse(scores[0], scores[1], self._settings)
        last = len(fused)
        ranks = {at: tuple(leg[at].rank if at in leg else last for leg in legs) for at in fused}
        # Ties fall by the ranks within the legs, which fall by content: a rebuilt index gives the same answer (I9).
        best = sorted(fused, key=lambda at: (-fused[at], ranks[at]))[: max(WEIGHED, 3 * request.max_results)]
        stored = self._index.load(sorted({*best, *exact}))
        now = request.as_of or self._clock.now()
        candidates: list[_Candidate] = []
        dropped: list[tuple[str, str]] = []
        for row in stored:
            notes = row.chunk.annotations
            if notes.invalid_project:
                dropped.append((f"{row.chunk.path}#L{row.chunk.start_line}", "its project annotation is malformed"))
                continue
            multipliers = {
                "recency": ranking.recency(row.date, now, self._settings),
                "importance": ranking.importance(notes.importance, self._settings),
                "project": ranking.project(notes.project, request.projects, self._settings),
            }
            base = fused.get(row.id, 0.0)
            score = base * math.prod(multipliers.values())
            where = [Leg(leg[row.id].rank, leg[row.id].score) if row.id in leg else None for leg in legs]
            candidates.append(_Candidate(row, base, score, exact.get(row.id, 0), where[0], where[1], multipliers))
        candidates.sort(key=lambda candidate: candidate.order)
        return candidates, dropped

    def _select(
        self, request: SearchRequest, candidates: list[_Candidate], dropped: list[tuple[str, str]]
    ) -> list[Hit]:
        """Join overlapping chunks, diversify the top, cut at the threshold and at the number asked for."""
        window = _join_overlaps(candidates)[: max(DIVERSITY_WINDOW, request.max_results)]
        order = [(candidate.stored.chunk.text, candidate.score + candidate.exact) for candidate in window]
        ordered = []
        for at, factor in ranking.diversify(order, len(window), self._settings):
            candidate = window[at]
            if factor < 1.0:
                candidate.multipliers["diversity"] = factor
                candidate.score *= factor
            ordered.append(candidate)
        chosen = _trusted_first(ordered, request.max_results)
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


def _trusted_first(ordered: Sequence[_Candidate], limit: int) -> list[_Candidate]:
    """Return the first ``limit``, with the leading places kept for trusted text; the rest is open to all by score."""
    reserved = math.ceil(limit * TRUSTED_SHARE)
    trusted = [candidate for candidate in ordered if is_trusted(candidate.stored.chunk.provenance.origin)]
    leading = trusted[:reserved]
    taken = {id(candidate) for candidate in leading}
    for candidate in ordered[: len(leading)]:
        if id(candidate) not in taken:
            candidate.notes += ("placed after trusted text",)
    rest = [candidate for candidate in ordered if id(candidate) not in taken]
    return (leading + rest)[:limit]


def _mode(keyword: bool, vector: bool) -> SearchMode:
    return "hybrid" if vector else "keyword" if keyword else "empty"


def _join_overlaps(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the candidates with those of one passage joined: the better one stays and takes over the other's leg.

    Neighbouring chunks overlap, so one passage can be found by words in one chunk and by meaning in the next; both
    facts belong to the one result (RANK-03).
    """
    kept: list[_Candidate] = []
    by_path: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        chunk = candidate.stored.chunk
        twin = next((other for other in by_path.get(chunk.path, ()) if _same_passage(other.stored.chunk, chunk)), None)
        if twin is None:
            kept.append(candidate)
            by_path.setdefault(chunk.path, []).append(candidate)
            continue
        twin.keyword = twin.keyword or candidate.keyword
        twin.vector = twin.vector or candidate.vector
        twin.notes += (f"joined with lines {chunk.start_line}-{chunk.end_line}",)
    return kept


def _same_passage(one: Chunk, two: Chunk) -> bool:
    shared = min(one.end_line, two.end_line) - max(one.start_line, two.start_line) + 1
    if shared <= 0:
        return False
    shorter = min(one.end_line - one.start_line, two.end_line - two.start_line) + 1
    if one.start_line == one.end_line == two.start_line == two.end_line:
        return one.hash == two.hash  # pieces of one very long line are different passages
    return shared / shorter >= SAME_PASSAGE


def _hit(candidate: _Candidate, query: str) -> Hit:
    chunk = candidate.stored.chunk
    trace = HitTrace(
        keyword=candidate.keyword,
        vector=candidate.vector,
        fused=candidate.fused,
        multipliers=dict(candidate.multipliers),
        exact_path=candidate.exact,
        notes=candidate.notes,
    )
    return Hit(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=candidate.score,
        snippet=snippet(chunk.text, query),
        corpus=chunk.corpus,
        provenance=chunk.provenance,
        text_score=candidate.keyword.score if candidate.keyword else 0.0,
        vector_score=candidate.vector.score if candidate.vector else 0.0,
        heading=chunk.heading,
        annotations=chunk.annotations,
        trace=trace,
    )
