"""``reverie search`` and ``reverie get``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from datetime import datetime

import click

from reverie.core.errors import FileUnreadable
from reverie.core.types import Corpus, Hit, Leg, Provenance, SearchRequest, SearchResult
from reverie.surfaces import output
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parameters import CORPUS, COUNT, SCORE, WHEN, WORDS, When, text_of
from reverie.surfaces.cli.parts import Command, Invocation

#: A place as a hit cites it, such as ``memory/2026-03-17.md#L12-L15``.
_CITATION = re.compile(r"(?P<path>.+)#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?")


@click.command(
    cls=Command,
    short_help="Search notes and transcripts.",
    epilog="A query that begins with a dash stands after --, as in: reverie search -- --dry-run",
)
@click.argument("query", nargs=-1, type=WORDS)
@click.option("-n", "--max-results", type=COUNT, metavar="N", help="At most N hits; without it as configured.")
@click.option("--min-score", type=SCORE, metavar="X", help="Leave out hits below this score, from 0 to 1.")
@click.option("--corpus", type=CORPUS, help="What to search: notes (memory), transcripts (sessions), or all.")
@click.option("--since", type=WHEN, metavar="DATE", help="Only what is dated on this day or moment, or later.")
@click.option("--until", type=WHEN, metavar="DATE", help="Only what is dated before the end of this day or moment.")
@click.option("--as-of", type=WHEN, metavar="DATE", help="Search as the memory stood at the end of this day or moment.")
@click.option("--explain", is_flag=True, help="Show how each hit got its place, and what was dropped and why.")
@click.pass_obj
def search(
    invocation: Invocation,
    query: tuple[str, ...],
    max_results: int | None,
    min_score: float | None,
    corpus: str | None,
    since: When | None,
    until: When | None,
    as_of: When | None,
    explain: bool,
) -> None:
    """Search by words and by meaning, best hit first.

    QUERY is any text, in any language; - reads it from standard input. Dates are ISO 8601, such as 2026-03-17 or
    2026-03-17T20:22, in your time zone; a day as an end means the end of that day.
    """
    text = text_of(query, "query", errors="replace")
    with opened(invocation) as memory:
        settings, zone = memory.config.search.query, memory.clock.zone
        request = SearchRequest(
            query=text,
            max_results=settings.max_results if max_results is None else max_results,
            min_score=settings.min_score if min_score is None else min_score,
            min_confidence=settings.min_confidence,
            corpus=Corpus(corpus or Corpus.MEMORY),
            since=since.first(zone) if since else None,
            until=until.last(zone) if until else None,
            as_of=as_of.last(zone) if as_of else None,
        )
        found = memory.recall(request)
    if invocation.json:
        output.document(_document(text, found, explain=explain))
    else:
        _print(found, explain=explain)


def _document(query: str, found: SearchResult, *, explain: bool) -> dict[str, object]:
    """Return the answer as data; how it came about is left out unless it was asked for."""
    answer = {"query": query, **output.jsonable(found)}
    for place, hit in zip(answer["hits"], found.hits, strict=True):
        place["citation"] = hit.citation
        if not explain:
            del place["trace"]
    if not explain:
        del answer["dropped"]
        del answer["analysis"]
    return answer


def _print(found: SearchResult, *, explain: bool) -> None:
    for number, hit in enumerate(found.hits, 1):
        print_hit(number, hit, explain=explain)
    if explain:
        _print_asked(found)
        _print_dropped(found)
    notices = list(found.notices)
    if not found.hits:
        *notices, reason = notices or ["nothing matched"]  # what the search itself says comes last
        output.say(f"No hits: {reason}.")
    for notice in notices:
        output.say(f"note: {notice}")


def print_hit(number: int, hit: Hit, *, explain: bool = False) -> None:
    """Print one hit: its place, score and origin, then what stands there."""
    output.line(f"{number}. {hit.citation}  {hit.score:.3f}  {origin_of(hit.provenance)}")
    output.say(hit.snippet.strip(), indent=3)
    if explain:
        for line in explained(hit):
            output.say(line, indent=3)
    output.say()


def origin_of(born: Provenance) -> str:
    """Return in a few words who said something, and when."""
    words = [born.origin.value]
    if born.kind not in ("interactive", "unknown"):
        words.append(born.kind.value)
    if born.observed_at:
        words.append(born.observed_at.date().isoformat())
    return ", ".join(words)


def explained(hit: Hit) -> Iterable[str]:
    """Yield why a hit stands where it stands, a line for each step of the ranking."""
    trace = hit.trace
    yield f"| by words    {_leg(trace.keyword)}"
    yield f"| by meaning  {_leg(trace.vector)}"
    factors = "".join(f" x {name} {factor:.3f}" for name, factor in trace.multipliers.items())
    yield f"| fused {trace.fused:.4f}{factors} = {hit.score:.4f}"
    if trace.exact_path:
        yield "| named in the query: " + {3: "its path", 2: "its file name"}.get(trace.exact_path, "its name")
    for note in trace.notes:
        yield f"| {note}"


def _leg(leg: Leg | None) -> str:
    return f"rank {leg.rank}, score {leg.score:.4f}" if leg else "not found"


def _print_asked(found: SearchResult) -> None:
    """Print what was read out of the question, as far as it says anything, and how sure the answer is."""
    asked = found.analysis
    if asked is None:
        return
    parts = [f"{span.text!r}: {_day(span.since)} to {_day(span.until)}" for span in asked.spans]
    named = (("quoted", asked.quoted), ("identifiers", asked.identifiers), ("names", asked.names))
    parts += [f"{name} {', '.join(words)}" for name, words in named if words]
    parts += [text for text, holds in (("how things are", asked.present), ("how they were", asked.history)) if holds]
    if parts:
        output.say(f"Asked: {'; '.join(parts)}.")
    if found.confidence is not None:
        output.say(f"Confidence: {found.confidence:.2f}.")


def _day(moment: datetime | None) -> str:
    return "open" if moment is None else moment.isoformat(timespec="minutes")


def _print_dropped(found: SearchResult) -> None:
    if found.dropped:
        output.say("Dropped:")
        output.table(found.dropped, indent=3)
        output.say()
    times = ", ".join(f"{name} {spent:.1f} ms" for name, spent in found.milliseconds.items())
    output.say(f"Mode: {found.mode}. " + (f"Time: {times}." if times else ""))


# --- get -------------------------------------------------------------------------------------------------------


@click.command(cls=Command, short_help="Read lines of a memory file.")
@click.argument("path", type=WORDS)
@click.option("--from", "first", type=COUNT, metavar="N", help="The first line to read; without it line 1.")
@click.option("--lines", type=COUNT, metavar="N", help="How many lines to read; without it as many as are allowed.")
@click.pass_obj
def get(invocation: Invocation, path: str, first: int | None, lines: int | None) -> None:
    """Print lines of a memory file as they stand.

    PATH is a memory path such as MEMORY.md or memory/2026-03-17.md, or a citation such as
    memory/2026-03-17.md#L12-L15. Nothing else can be read.
    """
    cited = _CITATION.fullmatch(path)
    if cited:
        path, begin = cited["path"], max(1, int(cited["first"]))
        span = int(cited["last"] or begin) - begin + 1
        first, lines = first or begin, lines or max(1, span)
    with opened(invocation) as memory:
        passage = memory.get(path, first or 1, lines)
    if passage.status == "not_found":
        raise FileUnreadable("There is no such memory file", path=passage.path, hint="`reverie search` finds paths")
    if invocation.json:
        output.document(passage)
        return
    text = output.printable(passage.text) if sys.stdout.isatty() else passage.text
    click.echo(text, nl=bool(text) and not text.endswith("\n"))
    if passage.next_from:
        output.remark(f"more: reverie get {passage.path!r} --from {passage.next_from}")
