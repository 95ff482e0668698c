"""Whole processes of every system on the same notes: index, index again, then one search each, in turn."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench import corpus
from bench.measuring import processes
from bench.measuring.figures import ratio, summary
from bench.measuring.processes import Ran
from bench.measuring.tables import Cell, Table
from bench.peers.contender import LIMIT, Contender, PeerMissing, Place
from bench.peers.memsearch_peer import Memsearch
from bench.peers.openclaw_peer import OpenClaw
from bench.peers.reverie_peer import Reverie
from bench.peers.serving import serving
from bench.stages.plan import Field, Outcome, Plan

OURS = "Reverie"
#: Runs of each system before the measured ones: files are in the system's cache, compiled code is in its own.
WARM_UP = 1
WARM_SEARCHES = 5


def measure(plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Index the notes with every system that is installed, then search with each in turn."""
    notes = plan.notes(plan.chunks)
    with gathered(plan, notes) as field:
        indexing = _index_all(field, say)
        searches, found = _search_all(field, plan, say)
        warm = _warm_all(field, plan, say)
        tables = [
            _cold_table(field, searches, found, plan),
            _warm_table(field, warm, plan),
            _index_table(field, indexing, plan),
        ]
        raw = {name: [ran.seconds for ran in runs] for name, runs in searches.items()}
        return Outcome(tables, field.missing, {"cold seconds": raw, "warm milliseconds": warm}, field.versions)


@contextmanager
def gathered(plan: Plan, notes: Path) -> Iterator[Field]:
    """Give every installed system a fresh home; the endpoint for OpenClaw runs as long as the field is in use."""
    field = Field()

    def fresh(name: str) -> Place:
        place = plan.place(notes, name)
        shutil.rmtree(place.home, ignore_errors=True)
        return place

    def enter(name: str, make: Callable[[], Contender]) -> None:
        try:
            field.present.append(make())
        except PeerMissing as missing:
            field.missing[name] = str(missing)

    enter(OURS, lambda: Reverie(fresh("reverie")))
    enter(Memsearch.name, lambda: Memsearch(fresh("memsearch")))
    with serving(plan.model) as address:
        enter(OpenClaw.name, lambda: OpenClaw(fresh("openclaw"), address))
        yield field


def _index_all(field: Field, say: Callable[[str], None]) -> dict[str, tuple[Ran, Ran, int]]:
    """Return the first index run, the one with nothing changed, and the number of chunks, by name."""
    done = {}
    for contender in list(field.present):
        say(f"indexing with {contender.name}")
        try:
            first = _ran(contender.index(), "index")
            chunks = contender.chunks()
            done[contender.name] = (first, _ran(contender.index(), "index again"), chunks)
            say(f"  {chunks} chunks in {first.seconds:.1f} s")
        except PeerMissing as missing:
            field.leave(contender, str(missing))
    return done


def _search_all(
    field: Field, plan: Plan, say: Callable[[str], None]
) -> tuple[dict[str, list[Ran]], dict[str, list[bool]]]:
    """Search in rounds, each system once a round with the same query, so that pairs saw the same machine."""
    asked = list(corpus.queries(plan.chunks, plan.rounds + WARM_UP))
    runs: dict[str, list[Ran]] = {contender.name: [] for contender in field.present}
    found: dict[str, list[bool]] = {contender.name: [] for contender in field.present}
    for number, query in enumerate(asked):
        say(f"cold search, round {number + 1} of {len(asked)}" + (" (not counted)" if number < WARM_UP else ""))
        for contender in list(field.present):
            try:
                ran = _ran(contender.search(query.text), "search")
                paths = contender.found(ran.output)
            except (PeerMissing, ValueError) as missing:
                field.leave(contender, str(missing))
                continue
            if number >= WARM_UP:
                runs[contender.name].append(ran)
                found[contender.name].append(query.path in paths[:LIMIT])
    return {one.name: runs[one.name] for one in field.present}, found


def _warm_all(field: Field, plan: Plan, say: Callable[[str], None]) -> dict[str, list[float]]:
    """Return the milliseconds of each search in a process that stays; a system without such a thing has no entry."""
    asked = [query.text for query in corpus.queries(plan.chunks, plan.queries + WARM_SEARCHES)]
    times: dict[str, list[float]] = {}
    for contender in field.present:
        command = contender.warm(asked)
        if command is None:
            continue
        say(f"warm search with {contender.name}")
        ran = processes.run(command, deadline=7_200)
        if ran.failure:
            field.missing[f"{contender.name}, warm search"] = ran.failure
        else:
            times[contender.name] = json.loads(ran.output)[WARM_SEARCHES:]
    return times


def _ran(command: processes.Command, what: str) -> Ran:
    ran = processes.run(command, deadline=7_200)
    if ran.failure:
        raise PeerMissing(f"{what}: {ran.failure}")
    return ran


def _cold_table(field: Field, runs: dict[str, list[Ran]], found: dict[str, list[bool]], plan: Plan) -> Table:
    ours = [ran.seconds for ran in runs.get(OURS, [])]
    rows: list[tuple[Cell, ...]] = []
    for contender in field.present:
        seconds = [ran.seconds for ran in runs[contender.name]]
        figures = summary(seconds)
        answered = found[contender.name]
        rows.append(
            (
                contender.name,
                figures.median,
                figures.p95,
                summary([ran.cpu for ran in runs[contender.name]]).median,
                summary([ran.peak for ran in runs[contender.name]]).median,
                *_against(ours, seconds, contender.name),
                f"{sum(answered)} of {len(answered)}",
            )
        )
    return Table(
        f"Cold search, {plan.chunks:,} chunks",
        (
            "system",
            "median s",
            "p95 s",
            "CPU s",
            "peak MiB",
            "Reverie's time / this (median of pairs)",
            "lowest and highest pair",
            f"answer in first {LIMIT}",
        ),
        tuple(rows),
        (
            "One process a search, from its start to its end, the query embedded by the same multilingual-e5-small. "
            "Reverie and memsearch load the model in that process; OpenClaw asks an endpoint on this machine that has "
            "it loaded, and neither that time nor that memory is counted. "
            f"{WARM_UP} round before was not counted. The systems took turns, one search each with the same query.",
        ),
    )


def _against(ours: Sequence[float], theirs: Sequence[float], name: str) -> tuple[Cell, Cell]:
    if name == OURS or not ours or not theirs:
        return None, None
    pairs = ratio(ours, theirs)
    return pairs.median, f"{pairs.lowest:.3f} to {pairs.highest:.3f}"


def _warm_table(field: Field, times: dict[str, list[float]], plan: Plan) -> Table:
    rows: list[tuple[Cell, ...]] = []
    ours = times.get(OURS)
    for contender in field.present:
        if contender.name not in times:
            continue
        found = summary(times[contender.name])
        other = contender.name != OURS
        share = summary(ours).median / found.median if ours and other else None
        rows.append((contender.name, found.median, found.p95, share))
    return Table(
        f"Search in a process that stays, {plan.chunks:,} chunks",
        ("system", "p50 ms", "p95 ms", "Reverie's p50 / this"),
        tuple(rows),
        (
            f"{plan.queries} different queries, each embedded by the same model in the same process, one at a time. "
            "Reverie also looks whether a note has changed. OpenClaw's command line has no such mode.",
        ),
    )


def _index_table(field: Field, done: dict[str, tuple[Ran, Ran, int]], plan: Plan) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for contender in field.present:
        first, again, chunks = done[contender.name]
        rows.append(
            (
                contender.name,
                chunks,
                first.seconds,
                chunks / first.seconds,
                first.cpu,
                first.peak,
                again.seconds,
                again.cpu,
            )
        )
    return Table(
        f"Index of {plan.chunks:,} notes as a command, the same embedder",
        ("system", "chunks", "seconds", "chunks/s", "CPU s", "peak MiB", "again, nothing changed: s", "again: CPU s"),
        tuple(rows),
        ("OpenClaw's share of the embedder's work is done in the endpoint's process and not in its CPU seconds.",),
    )
