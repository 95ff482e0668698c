"""The search: both legs, fusion, multipliers, diversity, passages, snippets, and a trace of all of it.

The main path is :meth:`Searcher.search`; each step is a function of its own so that the trace can name it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from reverie.core.errors import EmbedderUnavailable
from reverie.core.provenance import is_trusted
from reverie.core.queries import QueryAnalysis
from reverie.core.text import collapse
from reverie.core.types import Clock, Corpus, Hit, Leg, SearchMode, SearchRequest, SearchResult
from reverie.recall import ranking, rerank
from reverie.recall.analysis import analyse
from reverie.recall.candidates import Asked, Candidate, hit_of, trusted_first, up_to, within
from reverie.recall.confidence import DOUBTFUL, confidence
from reverie.recall.passages import LEADING, REACH, grow
from reverie.recall.ports import LegHits, Line, SearchIndex
from reverie.recall.ranking import RankingSettings
from reverie.recall.rerank import Reranking
from reverie.recall.speakers import Asker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie.core.types import Vector

#: Candidates taken from each leg, whatever the caller's maxResults.
KEYWORD_LIMIT = 256
VECTOR_LIMIT = 200
#: How many of the best fused candidates are weighed, at least and for each result: a result may take several lines.
#: What fuses below these cannot come to the front.
WEIGHED = 48
WEIGHED_PER_RESULT = 4
#: How many of the weighed are looked at for diversity; the rest keeps its order.
DIVERSITY_WINDOW = 12
#: The longest query that is read; what lies beyond is ignored, and said so.
QUERY_CHARS = 4000
_T = TypeVar("_T")


class Searcher:
    """Searches one index. ``embed`` makes the query vector, or is ``None`` for keyword search."""

    def __init__(
        self,
        index: SearchIndex,
        settings: RankingSettings,
        clock: Clock,
        embed: Callable[[str], Vector] | None,
        reranking: Reranking | None = None,
        model: str = "",
    ) -> None:
        self._index = index
        self._settings = settings
        self._clock = clock
        self._embed = embed
        self._reranking = reranking
        self._model = model

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
        analysis = analyse(query, request.as_of or self._clock.now(), self._clock.zone)
        request = replace(request, query=query)
        times: dict[str, float] = {}
        if analysis.bare_time and len(self._index.keyword_leg(request, 1)):
            # "Christmas" by itself asks for what is said of it, where anything is.
            analysis = replace(analysis, only_time=False)
        if analysis.only_time:
            span = analysis.spans[0]
            request = within(request, span)
            notices.append(
                f"nothing but a time was asked for ({span.text}), so this is what there is of it, newest first"
            )
            keyword = self._timed(times, "keyword", lambda: self._index.newest(request, KEYWORD_LIMIT))
            vector = None
        else:
            keyword = self._timed(times, "keyword", lambda: self._index.keyword_leg(request, KEYWORD_LIMIT))
            vector = self._vector_leg(request, keyword.ids, times, notices)
        mode = _mode(len(keyword) > 0, vector is not None)
        started = time.perf_counter()
        hits, dropped = self._ranked(request, analysis, keyword, vector, notices)
        times["ranking"] = 1000 * (time.perf_counter() - started)
        if not hits:
            notices.append("nothing matched")
        sure = 1.0 if analysis.only_time and hits else self._confidence(query, hits)
        if hits and sure < request.min_confidence and not any(hit.trace.exact_path for hit in hits):
            notices.append(f"nothing is sure enough to answer this: confidence {sure:.2f}")
            dropped += [(hit.citation, f"confidence {sure:.2f} below {request.min_confidence:g}") for hit in hits]
            hits = []
        elif hits and sure < DOUBTFUL:
            notices.append(f"it is doubtful that this answers the question: confidence {sure:.2f}")
        return SearchResult(tuple(hits), mode, False, tuple(notices), times, tuple(dropped), sure, analysis)

    def _confidence(self, query: str, hits: Sequence[Hit]) -> float:
        """Return how sure it is that the hits are about the question: the trusted ones, where there are any."""
        told = [hit for hit in hits if is_trusted(hit.provenance.origin)] or hits
        return confidence(self._index.weights(query), [(hit.snippet, hit.vector_score) for hit in told], self._model)

    def _timed(self, times: dict[str, float], name: str, work: Callable[[], _T]) -> _T:
        started = time.perf_counter()
        result = work()
        times[name] = 1000 * (time.perf_counter() - started)
        return result

    def _vector_leg(
        self, request: SearchRequest, also: NDArray[np.int64], times: dict[str, float], notices: list[str]
    ) -> LegHits | None:
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
        self,
        request: SearchRequest,
        analysis: QueryAnalysis,
        keyword: LegHits,
        vector: LegHits | None,
        notices: list[str],
    ) -> tuple[list[Hit], list[tuple[str, str]]]:
        """Rank each half by itself, so that no text of strangers moves a line of the owner, and put them together."""
        over = self._index.superseded(request.as_of)
        asked = Asked(request, analysis, over)
        exact = self._index.path_matches(request)
        named = self._index.lines(sorted(exact)) if exact else ()
        dropped: list[tuple[str, str]] = []
        passages: list[Candidate] = []
        for trusted in (True, False):
            legs = (keyword.half(trusted), None if vector is None else vector.half(trusted))
            inside = [line for line in named if line.trusted == trusted]
            if any(legs) or inside:
                candidates = self._rank(asked, legs, inside, exact, trusted, dropped)
                candidates = self._reranked(asked, candidates, notices)
                passages += self._passages(self._diversified(candidates, request.max_results), asked)
        passages.sort(key=lambda candidate: candidate.order)
        return self._select(request, passages, dropped), dropped

    def _rank(
        self,
        asked: Asked,
        legs: tuple[LegHits, LegHits | None],
        named: Sequence[Line],
        exact: Mapping[int, int],
        trusted: bool,
        dropped: list[tuple[str, str]],
    ) -> list[Candidate]:
        """Fuse the legs of one half and apply every multiplier; best first. What falls out is added to ``dropped``."""
        request = asked.request
        ids, scores = self._fuse(request, legs, trusted)
        ranks = [_ranks(leg) for leg in legs]
        last = (len(ids) + 1, 0.0)
        wanted = max(WEIGHED, WEIGHED_PER_RESULT * request.max_results)
        if wanted < len(ids):
            best = scores >= np.partition(scores, -wanted)[-wanted]
            ids, scores = ids[best], scores[best]
        fused = dict(zip(ids.tolist(), scores.tolist(), strict=True))
        # Ties fall by the ranks within the legs, which fall by content: a rebuilt index gives the same answer (I9).
        order = sorted(fused, key=lambda at: (-fused[at], *(leg.get(at, last)[0] for leg in ranks)))[:wanted]
        lines = [*self._index.lines(order), *(line for line in named if line.id not in fused)]
        candidates: list[Candidate] = []
        for line in lines:
            base = fused.get(line.id, 0.0)
            where = [Leg(*leg[line.id]) if line.id in leg else None for leg in ranks]
            candidate = Candidate(line, base, base, exact.get(line.id, 0), where[0], where[1], {})
            if reason := self._reason_against(line, asked):
                dropped.append((candidate.place, reason))
                continue
            candidate.multipliers = self._multipliers(line, asked)
            candidate.score = base * math.prod(candidate.multipliers.values())
            candidates.append(candidate)
        candidates.sort(key=lambda candidate: candidate.order)
        return candidates

    def _reranked(self, asked: Asked, candidates: list[Candidate], notices: list[str]) -> list[Candidate]:
        """Let the reranker look at the best candidates again, if there is one."""
        how = self._reranking
        if how is None or asked.analysis.only_time:
            return candidates
        best, rest = candidates[: how.candidates], candidates[how.candidates :]
        texts = {one.id: one.chunk.text for one in self._index.load([candidate.line.id for candidate in best])}
        meant = [word.casefold() for word in (*asked.analysis.quoted, *asked.analysis.identifiers)]
        order = []
        for candidate in best:
            text = texts.get(candidate.line.id, "")
            literal = candidate.exact > 0 or any(word in text.casefold() for word in meant)
            order.append((text, candidate.score, literal))
        found, told = rerank.factors(asked.request.query, order, how)
        if told:
            notices.append(told)
        for candidate, factor in zip(best, found, strict=True):
            if factor != 1.0:
                candidate.multipliers["rerank"] = factor
                candidate.score *= factor
        return sorted(best, key=lambda candidate: candidate.order) + rest

    def _reason_against(self, line: Line, asked: Asked) -> str:
        """Return why a line is no result, or nothing."""
        if line.invalid_project:
            return "its project annotation is malformed"
        if line.id in asked.hidden:
            newest = asked.over[line.id]
            holding = self._index.lines([newest]) if newest is not None else ()
            return "superseded" + (f" by {holding[0].path}#L{holding[0].start_line}" if holding else "")
        if asked.analysis.only_time and not asked.lies_within(line):
            return f"not said within {asked.analysis.spans[0].text!r}"
        return ""

    def _multipliers(self, line: Line, asked: Asked) -> dict[str, float]:
        request, analysis = asked.request, asked.analysis
        settings = ranking.for_present(self._settings) if analysis.present else self._settings
        factors = {
            "recency": ranking.recency(line.said, request.as_of or self._clock.now(), settings),
            "importance": ranking.importance(line.importance, self._settings),
            "project": ranking.project(line.project, request.projects, self._settings),
        }
        if analysis.spans and asked.lies_within(line):
            factors["time"] = self._settings.time_boost
        if line.id in asked.over:
            factors["superseded"] = self._settings.superseded_demotion
        return factors

    def _fuse(
        self, request: SearchRequest, legs: tuple[LegHits, LegHits | None], trusted: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the candidates with a score in 0..1: both legs, who says a line, and how long it is."""
        counts = [found for name, found in self._index.by_corpus().items() if request.corpus in (Corpus.ALL, name)]
        total = sum(one.trusted if trusted else one.chunks - one.trusted for one in counts)
        keyword, vector = legs
        meaning = (keyword.ids[:0], keyword.evidence[:0]) if vector is None else (vector.ids, vector.evidence)
        ids, sums = ranking.fuse((keyword.ids, keyword.scores), meaning, total, self._settings)
        chars, speakers = self._index.traits(ids)
        asker = Asker.of(request.query)
        bonus = {name: asker.bonus(name, self._settings) for name in set(speakers)}
        form = np.array([bonus[name] for name in speakers]) + ranking.length(chars, self._settings)
        return ids, ranking.squash(sums + form)

    def _select(
        self, request: SearchRequest, passages: Sequence[Candidate], dropped: list[tuple[str, str]]
    ) -> list[Hit]:
        """Give out the places, cut at the threshold and at the number asked for."""
        chosen = trusted_first(passages, request.max_results)
        threshold = request.min_score or 0.0
        kept = [candidate for candidate in chosen if candidate.score >= threshold or candidate.exact]
        if not kept:
            # An exact word must never be lost to a threshold (RANK-02): fall back on what matched by words.
            kept = [candidate for candidate in chosen if candidate.keyword is not None]
        names = {id(candidate) for candidate in kept}
        below = [candidate for candidate in chosen if id(candidate) not in names]
        dropped += [(one.place, f"score {one.score:.3f} below {threshold:g}") for one in below]
        stored = self._index.load([at for candidate in kept for at in candidate.lines])
        chunks = {one.id: one.chunk for one in stored}
        # A chunk that another process removed since the legs looked is no result any more.
        return [hit_of(one, chunks, request.query) for one in kept if all(at in chunks for at in one.lines)]

    def _diversified(self, candidates: Sequence[Candidate], results: int) -> list[Candidate]:
        window = candidates[: max(DIVERSITY_WINDOW, results)]
        texts = {one.id: one.chunk.text for one in self._index.load([candidate.line.id for candidate in window])}
        order = [(texts.get(candidate.line.id, ""), candidate.score + candidate.exact) for candidate in window]
        ordered = []
        for at, factor in ranking.diversify(order, len(window), self._settings):
            candidate = window[at]
            if factor < 1.0:
                candidate.multipliers["diversity"] = factor
                candidate.score *= factor
            ordered.append(candidate)
        return [*ordered, *candidates[len(window) :]]

    def _passages(self, ordered: Sequence[Candidate], asked: Asked) -> list[Candidate]:
        """Let candidates grow, in order, until there are enough; one that stands in the passage of another joins it.

        A passage can be found by words in one line and by meaning in the next; both facts belong to the one result
        (RANK-03).
        """
        results = asked.request.max_results
        scores = {candidate.line.id: candidate.score for candidate in ordered}
        leading = {candidate.line.id for candidate in ordered[:LEADING]}
        holder: dict[int, Candidate] = {}
        grown: list[Candidate] = []
        around = dict(self._index.around([candidate.line.id for candidate in ordered[:results]], REACH))
        for candidate in ordered:
            if len(grown) >= results:
                break
            line = candidate.line
            if line.id in holder:
                continue
            if line.id not in around:
                around |= self._index.around([line.id], REACH)
            beside = () if line.curated else up_to(around.get(line.id, ()), line.id, asked.hidden)
            candidate.lines = grow(line.id, beside, scores, leading, holder)
            holder.update((one, candidate) for one in candidate.lines)
            grown.append(candidate)
        for candidate in ordered:
            twin = holder.get(candidate.line.id)
            if twin is not None and twin is not candidate:
                twin.keyword = twin.keyword or candidate.keyword
                twin.vector = twin.vector or candidate.vector
                twin.notes += (f"joined with line {candidate.line.start_line}",)
        return grown


def _ranks(leg: LegHits | None) -> dict[int, tuple[int, float]]:
    """Return the rank and the score of each hit by its row."""
    if leg is None:
        return {}
    pairs = zip(leg.ids.tolist(), leg.scores.tolist(), strict=True)
    return {ident: (rank, score) for rank, (ident, score) in enumerate(pairs, 1)}


def _mode(keyword: bool, vector: bool) -> SearchMode:
    return "hybrid" if vector else "keyword" if keyword else "empty"
