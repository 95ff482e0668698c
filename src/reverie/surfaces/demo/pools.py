"""The main job on a file of notes and questions: write the notes, index them, ask, and look for the gold lines.

A line of the file is one pool: ``{"files": [{"path", "head", "lines": [[id, text], …]}], "queries": [{"id", "query",
"gold": [id, …], "category"}]}``. Every pool is a memory of its own.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from reverie.core.errors import UsageError
from reverie.core.types import Corpus, Hit, SearchRequest
from reverie.memory import Memory
from reverie.surfaces.progress import Progress
from reverie.surfaces.scratch import scratch_state

#: Results that are looked at, and questions that are asked where the caller names no number.
FIRST = 10
QUESTIONS = 50

Gold = Mapping[tuple[str, int], Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: the share of its gold lines within the first results, and the best result."""

    id: Any
    query: str
    category: str
    recall: float
    best: str
    snippet: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Category:
    """Figures over some questions. ``recall`` is the mean share of gold lines, ``any`` of questions with one."""

    name: str
    questions: int
    recall: float
    any: float


@dataclass(frozen=True, slots=True)
class PoolsReport:
    """Figures over all pools that were needed. Times are milliseconds except where the name says otherwise."""

    file: str
    pools: int
    files: int
    lines: int
    chunks: int
    mode: str
    index_seconds: float
    p50_ms: float
    p95_ms: float
    overall: Category
    categories: tuple[Category, ...]
    asked: tuple[Asked, ...]
    notices: tuple[str, ...]
    seconds: float


def run(file: Path, folder: Path, questions: int, config_file: Path | None) -> PoolsReport:
    """Do the job on the pools of ``file`` until so many questions were asked.

    Raises:
        UsageError: a line of the file is no pool; its number is named.
    """
    started = time.perf_counter()
    asked: list[Asked] = []
    totals = {"pools": 0, "files": 0, "lines": 0, "chunks": 0}
    index_seconds, mode, notices = 0.0, "", dict[str, None]()
    for number, pool in read_pools(file):
        if len(asked) >= questions:
            break
        home = folder / f"pool-{number}"
        state, workspace = scratch_state(home / "state"), home / "workspace"
        Memory.create(state_dir=state, workspace=workspace)
        gold = write_notes(pool, workspace, number)
        totals["pools"] += 1
        totals["lines"] += len(gold)
        with Progress() as building:
            opened = Memory.open(state_dir=state, workspace=workspace, config_file=config_file, progress=building)
        with opened as memory:
            with Progress() as progress:
                report = memory.index(progress=progress)
            index_seconds += report.seconds
            asked += [_ask(memory, query, gold) for query in pool["queries"][: questions - len(asked)]]
            engine = memory.status().engine
            totals["files"] += engine.files
            totals["chunks"] += engine.chunks
            mode = engine.mode
            notices |= dict.fromkeys([*report.notices, *engine.notices])
    if not asked:
        raise UsageError("There is no question in this file", file=str(file))
    return _report(file, totals, mode, index_seconds, asked, tuple(notices), time.perf_counter() - started)


def _report(
    file: Path,
    totals: Mapping[str, int],
    mode: str,
    index_seconds: float,
    asked: list[Asked],
    notices: tuple[str, ...],
    seconds: float,
) -> PoolsReport:
    times = sorted(each.milliseconds for each in asked)
    names = sorted({each.category for each in asked})
    return PoolsReport(
        file=str(file),
        **totals,
        mode=mode,
        index_seconds=round(index_seconds, 2),
        p50_ms=round(statistics.median(times), 1),
        p95_ms=round(times[max(0, -(-95 * len(times) // 100) - 1)], 1),
        overall=_category("all", asked),
        categories=tuple(_category(name, [each for each in asked if each.category == name]) for name in names),
        asked=tuple(asked),
        notices=notices,
        seconds=round(seconds, 1),
    )


def _category(name: str, asked: list[Asked]) -> Category:
    recall = statistics.fmean(each.recall for each in asked)
    some = statistics.fmean(float(each.recall > 0) for each in asked)
    return Category(name, len(asked), round(recall, 3), round(some, 3))


def _ask(memory: Memory, query: Mapping[str, Any], gold: Gold) -> Asked:
    started = time.perf_counter()
    found = memory.recall(SearchRequest(query["query"], max_results=FIRST, corpus=Corpus.MEMORY))
    spent = 1000 * (time.perf_counter() - started)
    wanted = {str(ident) for ident in query["gold"]}
    seen = {str(gold[at]) for hit in found.hits for at in _lines_of(hit) if at in gold}
    best = found.hits[0] if found.hits else None
    return Asked(
        id=query["id"],
        query=query["query"],
        category=str(query.get("category") or "all"),
        recall=len(wanted & seen) / len(wanted),
        best=best.citation if best else "",
        snippet=best.snippet if best else "",
        milliseconds=round(spent, 2),
    )


def _lines_of(hit: Hit) -> Iterator[tuple[str, int]]:
    for number in range(hit.start_line, hit.end_line + 1):
        yield hit.path, number


# --- the file --------------------------------------------------------------------------------------------------


def read_pools(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the pools with the number of their line; a line that is none is named in the error."""
    with file.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                pool = json.loads(raw.removeprefix(b"\xef\xbb\xbf"))
                _check(pool)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"Line {number} is no pool of notes: {error}", file=str(file)) from error
            yield number, pool


def _check(pool: Any) -> None:
    """Raise ``ValueError`` for the first thing that is not as it should be."""
    if not isinstance(pool, dict) or not all(isinstance(pool.get(name), list) for name in ("files", "queries")):
        raise ValueError('it has no "files" or no "queries"')
    for note in pool["files"]:
        if (
            not isinstance(note, dict)
            or not isinstance(note.get("path"), str)
            or not isinstance(note.get("lines"), list)
        ):
            raise ValueError('a file has no "path" or no "lines"')
        path = PurePosixPath(note["path"])
        if path.is_absolute() or ".." in path.parts or "\\" in note["path"] or path.suffix != ".md":
            raise ValueError(f"{note['path']!r} is no path of a note")
        if not all(isinstance(line, list) and len(line) == 2 and isinstance(line[1], str) for line in note["lines"]):
            raise ValueError(f"a line of {note['path']} is no pair of id and text")
    for query in pool["queries"]:
        if not isinstance(query, dict) or not isinstance(query.get("query"), str) or "id" not in query:
            raise ValueError('a query has no "id" or no "query"')
        if not isinstance(query.get("gold"), list) or not query["gold"]:
            raise ValueError(f'query {query["id"]!r} has no "gold"')


def write_notes(pool: Mapping[str, Any], workspace: Path, number: int) -> dict[tuple[str, int], Any]:
    """Write the notes of a pool, one line a text, and return the id that stands at each (path, line)."""
    where: dict[tuple[str, int], Any] = {}
    for note in pool["files"]:
        path = PurePosixPath(note["path"])
        path = path if path.parts[0] == "memory" else PurePosixPath("memory", path)
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = [note.get("head") or f"# Pool {number}", ""]
        for ident, text in note["lines"]:
            lines.append(" ".join(text.split()))
            where[str(path), len(lines)] = ident
        target.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return where
