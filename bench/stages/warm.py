"""A store that stays open: searches, changes and memory, at two sizes, without a model, with vectors, and with both."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.measuring.figures import summary
from bench.measuring.tables import Cell, Table
from bench.peers.contender import LIMIT
from bench.stages.plan import SECTIONS_OF_LARGE, Outcome, Plan
from bench.stages.stores import ProbeFailed, Store, probe

LABELS = {
    "none": "keywords only",
    "synthetic": "keywords and vectors, query vector given",
    "bundled": "keywords and vectors, query embedded",
}
#: A chunk is a line or a turn; a section of the notes has about seven of them.
CHUNKS_A_SECTION = 7
Figures = Mapping[tuple[int, str], Mapping[str, Any]]


def measure(plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Fill a store of each size and kind, then measure it."""
    figures: dict[tuple[int, str], Mapping[str, Any]] = {}
    missing: dict[str, str] = {}
    for size in (plan.chunks, plan.large):
        for kind in LABELS:
            say(f"warm, {size:,} chunks, {LABELS[kind]}")
            try:
                figures[size, kind] = _measured(plan, size, kind)
            except ProbeFailed as failed:
                missing[f"Reverie, {LABELS[kind]}, {size:,} chunks"] = str(failed)
    tables = [_search_table(figures), _keeping_table(figures), _memory_table(figures), _growth_table(figures, plan)]
    return Outcome(tables, missing, {"warm": {f"{size} {kind}": value for (size, kind), value in figures.items()}})


def _measured(plan: Plan, size: int, kind: str) -> Mapping[str, Any]:
    """The bundled embedder opens the store that the synthetic one filled: embedding so much would take hours."""
    filled_by = "synthetic" if kind == "bundled" else kind
    state = plan.folder / f"store-{size}-{filled_by}"
    store = Store(max(1, size // CHUNKS_A_SECTION), SECTIONS_OF_LARGE, state, kind)
    if kind == "bundled":
        return probe(plan, store, "search")
    shutil.rmtree(state, ignore_errors=True)
    filled = probe(plan, store, "index")
    return {"index": filled["index"]} | probe(plan, store, "search", "unchanged", "append")


def _search_table(figures: Figures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (_, kind), found in figures.items():
        times = found["search"]
        whole = summary(times["whole"])
        inside = summary(_inside(times["parts"]))
        parts = {name: summary(values).median for name, values in times["parts"].items()}
        rows.append(
            (
                LABELS[kind],
                found["status"]["chunks"],
                found["status"]["files"],
                inside.median,
                inside.p95,
                whole.median,
                whole.p95,
                *(parts.get(name) for name in ("keyword", "embed", "vector", "ranking")),
                f"{times['answered']} of {len(times['whole'])}",
            )
        )
    return Table(
        "Warm search",
        (
            "search",
            "chunks",
            "files",
            "legs and ranking p50 ms",
            "p95 ms",
            "whole call p50 ms",
            "p95 ms",
            "keyword leg",
            "embedding",
            "vector leg",
            "ranking",
            f"answer in first {LIMIT}",
        ),
        tuple(rows),
        (
            "One process, one search at a time. The whole call also looks whether a file has changed; legs and ranking "
            "leave that and the embedding of the query out. The times of single steps are medians. The vectors of "
            "these stores are synthetic, 384 numbers each, and the query's is made from its text; where the query is "
            "embedded, the bundled model does it. The searches beside the peers are in tables of their own.",
        ),
    )


def _inside(parts: Mapping[str, Sequence[float]]) -> list[float]:
    counted = [values for name, values in parts.items() if name != "embed"]
    return [sum(values) for values in zip(*counted, strict=True)]


def _keeping_table(figures: Figures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (_, kind), found in figures.items():
        if "index" not in found:
            continue
        filled, again, added = found["index"], found["unchanged"], found["append"]
        both = [one + other for one, other in zip(again["sync"], again["search"], strict=True)]
        rows.append(
            (
                LABELS[kind],
                filled["chunks"],
                found["status"]["files"],
                filled["seconds"],
                filled["chunks"] / filled["seconds"],
                summary(again["sync"]).median,
                summary(both).median,
                summary(added["written"]).median if added["written"] else None,
                f"{len(added['written'])} of {added['of']}",
                summary(added["noticed"]).median if added["noticed"] else None,
                f"{len(added['noticed'])} of {added['of']}",
            )
        )
    return Table(
        "Keeping up",
        (
            "store",
            "chunks",
            "files",
            "first index s",
            "chunks/s",
            "nothing changed, ms",
            "the same and one search, ms",
            "a note and the next search, ms",
            "which finds it",
            "an outside edit is found after ms",
            "found",
        ),
        tuple(rows),
        (
            "In one process. A note is written through Reverie, and the search right after it must find it; an outside "
            "edit is a line added to a file, as an editor does it, with searches until one finds it.",
        ),
    )


def _memory_table(figures: Figures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (_, kind), found in figures.items():
        held = found["resident"]
        rows.append((LABELS[kind], found["status"]["chunks"], held["imported"], held["search"]))
    columns = ("store", "chunks", "imported, MiB", "after the searches, MiB")
    return Table("Resident memory", columns, tuple(rows), ("Of the process that searches, model included.",))


def _growth_table(figures: Figures, plan: Plan) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind, label in LABELS.items():
        small, large = figures.get((plan.chunks, kind)), figures.get((plan.large, kind))
        if small is None or large is None:
            continue
        for what, figure in _COSTS.items():
            before, after = figure(small), figure(large)
            if before is not None and after is not None:
                rows.append((f"{what}: {label}", before, after, after / before))
    columns = ("cost", f"at {plan.chunks:,}", f"at {plan.large:,}", "times")
    factor = plan.large / plan.chunks
    return Table("Growth", columns, tuple(rows), (f"The store grows {factor:g} times.",))


def _per_chunk(found: Mapping[str, Any]) -> float | None:
    filled = found.get("index")
    return 1_000_000 * filled["seconds"] / filled["chunks"] if filled and filled["chunks"] else None


def _whole(found: Mapping[str, Any]) -> float | None:
    return summary(found["search"]["whole"]).median


def _added(found: Mapping[str, Any]) -> float | None:
    written = found.get("append", {}).get("written")
    return summary(written).median if written else None


_COSTS: Mapping[str, Callable[[Mapping[str, Any]], float | None]] = {
    "microseconds to index a chunk": _per_chunk,
    "milliseconds a search": _whole,
    "milliseconds to write a note and find it": _added,
}
