"""Lines on their way to becoming hits: what is asked, what is known of each, and who gets a place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import timedelta

from reverie.core.queries import AskedSpan, QueryAnalysis
from reverie.core.types import Chunk, Hit, HitTrace, Leg, SearchRequest
from reverie.recall.analysis import covers
from reverie.recall.passages import Neighbour
from reverie.recall.ports import Line
from reverie.recall.snippets import snippet

#: The part of the results that only trusted text may fill, as long as there is any. What was not born trusted can echo
#: a question word for word (a poisoned page does); it stays findable in the places that are left, and never takes the
#: place of the owner's own lines.
TRUSTED_SHARE = 0.8
#: How far from a calendar day its hours can lie in another zone.
ZONES = timedelta(hours=14)


@dataclass(slots=True)
class Candidate:
    """A line on its way to becoming a hit. ``lines`` are the chunks of the passage that it has grown into."""

    line: Line
    fused: float
    score: float
    exact: int
    keyword: Leg | None
    vector: Leg | None
    multipliers: dict[str, float]
    notes: tuple[str, ...] = ()
    lines: Sequence[int] = ()

    @property
    def order(self) -> tuple[int, float, str, int]:
        """Sort key: exact path first, then score; ties by content, never by row."""
        return (-self.exact, -self.score, self.line.path, self.line.start_line)

    @property
    def place(self) -> str:
        """Return where it stands, as it is cited."""
        return f"{self.line.path}#L{self.line.start_line}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with what was read out of it; ``over`` are the chunks that no longer hold, with those that do."""

    request: SearchRequest
    analysis: QueryAnalysis
    over: Mapping[int, int | None]

    @property
    def hidden(self) -> frozenset[int]:
        """Return the chunks that are no results: those that no longer hold, unless it is asked how things were."""
        return frozenset() if self.analysis.history and self.request.as_of is None else frozenset(self.over)

    def lies_within(self, line: Line) -> bool:
        """Say whether a line was said within a time that is asked for."""
        if line.said is None:
            return False
        return any(covers(span, line.said, whole_day=line.whole_day) for span in self.analysis.spans)


def within(request: SearchRequest, span: AskedSpan) -> SearchRequest:
    """Return the request with its dates narrowed to a span, with room for days of other zones at both ends."""
    since, until = request.since, request.until
    if span.since is not None:
        since = span.since - ZONES if since is None else max(since, span.since - ZONES)
    if span.until is not None:
        until = span.until + ZONES if until is None else min(until, span.until + ZONES)
    return replace(request, since=since, until=until)


def up_to(around: Sequence[Neighbour], seed: int, hidden: AbstractSet[int]) -> Sequence[Neighbour]:
    """Return the neighbours of a line as far as none of them is hidden: a passage goes round nothing."""
    if not hidden or hidden.isdisjoint(one.id for one in around):
        return around
    at = next((number for number, one in enumerate(around) if one.id == seed), 0)
    first = max((number + 1 for number, one in enumerate(around[:at]) if one.id in hidden), default=0)
    last = next((number for number, one in enumerate(around) if number > at and one.id in hidden), len(around))
    return around[first:last]


def trusted_first(ordered: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the first ``limit``, with the leading places kept for trusted text; the rest is open to all by score."""
    reserved = math.ceil(limit * TRUSTED_SHARE)
    leading = [candidate for candidate in ordered if candidate.line.trusted][:reserved]
    taken = {id(candidate) for candidate in leading}
    for candidate in ordered[: len(leading)]:
        if id(candidate) not in taken:
            candidate.notes += ("placed after trusted text",)
    rest = [candidate for candidate in ordered if id(candidate) not in taken]
    return (leading + rest)[:limit]


def hit_of(candidate: Candidate, chunks: Mapping[int, Chunk], query: str) -> Hit:
    """Return the hit that a candidate has become, with the trace of how; ``chunks`` are those of its passage."""
    chunk = chunks[candidate.line.id]
    lines = [chunks[at] for at in candidate.lines]
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
