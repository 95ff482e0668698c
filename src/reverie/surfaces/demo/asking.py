"""Asks the memory, and compares what it shows with the lines that hold the answer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reverie.core.errors import ReverieError
from reverie.core.types import Corpus, Hit, SearchRequest
from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.demo import parts
from reverie.surfaces.demo.material import Line, Place, Question

#: Hits of one answer.
HITS = 5
#: A hit shows a line if a run of so many columns of it stands in what the hit shows.
RUN = 48


def answer(memory: Memory, question: Question, lines: Mapping[Place, Line]) -> parts.Answered:
    """Ask one question and find the lines that hold the answer among the hits."""
    started = time.perf_counter()
    found = memory.recall(SearchRequest(question.query, max_results=HITS, corpus=Corpus.ALL))
    spent = 1000 * (time.perf_counter() - started)
    right = [lines[place].text for place in question.gold]
    older = [lines[place].text for place in question.older]
    hits = tuple(_cited(memory, hit, right, older) for hit in found.hits)
    return parts.Answered(
        id=question.id,
        query=question.query,
        expected=question.answer,
        note=question.note,
        hits=hits,
        rank=_first(hit.evidence for hit in hits),
        outdated_rank=_first(hit.outdated for hit in hits),
        changed=bool(older),
        mode=found.mode,
        milliseconds=round(spent, 1),
    )


def _cited(memory: Memory, hit: Hit, right: Sequence[str], older: Sequence[str]) -> parts.Cited:
    text = passage_of(memory, hit)
    evidence = any(shows(text, line) for line in right)
    born = hit.provenance
    return parts.Cited(
        citation=hit.citation,
        score=round(float(hit.score), 4),
        origin=born.origin.value,
        kind=born.kind.value,
        day=born.observed_at.date().isoformat() if born.observed_at else "",
        snippet=hit.snippet,
        evidence=evidence,
        outdated=not evidence and any(shows(text, line) for line in older),
    )


def passage_of(memory: Memory, hit: Hit) -> str:
    """Return the lines that a hit cites, where they can be read as memory; else the part of them that it shows."""
    if hit.corpus is not Corpus.MEMORY:
        return hit.snippet
    try:
        return memory.get(hit.path, hit.start_line, hit.end_line - hit.start_line + 1).text
    except ReverieError:  # a hit is worth showing even if its file went away since
        return hit.snippet


def shows(shown: str, line: str) -> bool:
    """Say whether a text holds a good part of a line, word for word."""
    shown, line = (" ".join(text.split()) for text in (shown, line))
    return any(run in shown for run in _runs(line))


def _runs(line: str) -> Iterable[str]:
    """Yield every run of the line that is ``RUN`` columns wide; of a shorter line, the line itself."""
    widths = [output.width(character) for character in line]
    if sum(widths) <= RUN:
        yield line
        return
    end, taken = 0, 0
    for start, width in enumerate(widths):
        while taken < RUN and end < len(line):
            taken += widths[end]
            end += 1
        if taken < RUN:
            return
        yield line[start:end]
        taken -= width


def _first(marks: Iterable[bool]) -> int | None:
    return next((rank for rank, mark in enumerate(marks, 1) if mark), None)


def hits_showing(memory: Memory, text: str, wanted: str, corpus: Corpus = Corpus.ALL) -> list[Hit]:
    """Search for a text and return the hits that show ``wanted``."""
    found = memory.recall(SearchRequest(text, max_results=20, corpus=corpus))
    return [hit for hit in found.hits if shows(passage_of(memory, hit), wanted)]


def classes_of(memory: Memory, lines: Iterable[Line]) -> Counter[str]:
    """Return the source classes under which lines of transcripts are kept: for each line, that of its best hit."""
    counted: Counter[str] = Counter()
    for line in lines:
        hits = hits_showing(memory, line.text, line.text, Corpus.SESSIONS)
        counted[hits[0].provenance.origin.value if hits else "not indexed"] += 1
    return counted
