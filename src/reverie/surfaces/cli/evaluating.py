"""``reverie eval retrieval``: how well, and how fast, the search answers queries over a folder of notes."""

from __future__ import annotations

import json
import math
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import click

from reverie.core.config import set_value
from reverie.core.errors import UsageError
from reverie.core.paths import Paths
from reverie.core.types import Corpus, SearchRequest, SearchResult
from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.cli.parameters import CORPUS, COUNT
from reverie.surfaces.cli.parts import Command, Invocation
from reverie.surfaces.progress import Progress
from reverie.surfaces.scratch import scratch_state

#: Files of the workspace's root that are memory, too.
CURATED = ("MEMORY.md", "USER.md")
#: Hits asked for where the caller names no number.
HITS = 10


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the file. ``id`` is whatever the file says, and is given back as it stands."""

    id: Any
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes as a workspace. ``given`` maps a memory path to the path in the folder; others are the same."""

    workspace: Path
    given: Mapping[str, str]

    def path(self, memory_path: str) -> str:
        """Return the path as it is in the folder."""
        return self.given.get(memory_path, memory_path)


@click.command(cls=Command, short_help="Index a folder of notes and run queries against it.")
@click.option(
    "--notes",
    required=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the Markdown notes; it is only read.",
)
@click.option(
    "--queries",
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help='The queries: one {"id": …, "query": …} a line; - is standard input.',
)
@click.option("--k", type=COUNT, default=HITS, show_default=True, metavar="N", help="How many results for each query.")
@click.option("--corpus", type=CORPUS, help="What to search, as for `reverie search`.")
@click.option("--no-vectors", is_flag=True, help="Search by words only, without a model.")
@click.pass_obj
def retrieval(
    invocation: Invocation, notes: Path, queries: Path, k: int | None, corpus: str | None, no_vectors: bool
) -> None:
    """Index the notes in a state folder that is thrown away, run each query, and print a line of JSON for each.

    {"id": …, "results": [{"path": …, "startLine": …, "endLine": …, "score": …}], "ms": …}

    The last line has the figures: indexSeconds, p50Ms, p95Ms, files, chunks and mode. Scores fall strictly from one
    result to the next. Your own memory is neither read nor changed.
    """
    asked = list(read_queries(queries))
    with tempfile.TemporaryDirectory(prefix="reverie-eval-") as folder:
        state = scratch_state(Path(folder) / "state")
        view = as_workspace(notes.absolute(), Path(folder) / "workspace")
        configure(state, invocation.config_file, vectors=not no_vectors)
        with Progress() as progress:
            opened = Memory.open(state_dir=state, workspace=view.workspace, progress=progress)
        with opened as memory:
            _evaluate(invocation, memory, view, asked, SearchRequest("", k or HITS, 0.0, Corpus(corpus or "memory")))


def _evaluate(
    invocation: Invocation, memory: Memory, view: Notes, queries: list[Query], request: SearchRequest
) -> None:
    with Progress() as progress:
        report = memory.index(progress=progress)
    times: list[float] = []
    modes: Counter[str] = Counter()
    notices: Counter[str] = Counter()
    answers = []
    for query in queries:
        started = time.perf_counter()
        found = memory.recall(_asking(request, query.text))
        spent = 1000 * (time.perf_counter() - started)
        times.append(spent)
        modes[found.mode] += 1
        notices.update(found.notices)
        answer = {"id": query.id, "results": results(found, view), "ms": round(spent, 3)}
        answers.append(answer) if invocation.json else output.record(answer)
    engine = memory.status().engine
    figures = {
        "indexSeconds": round(report.seconds, 3),
        "p50Ms": round(statistics.median(times), 3) if times else None,
        "p95Ms": round(percentile(times, 0.95), 3) if times else None,
        "files": engine.files,
        "chunks": engine.chunks,
        "mode": modes.most_common(1)[0][0] if modes else engine.mode,
        "notices": dict(notices.most_common()),
        "skipped": report.skipped,
    }
    output.document({"queries": answers, **figures}) if invocation.json else output.record(figures)


def _asking(request: SearchRequest, query: str) -> SearchRequest:
    return SearchRequest(query, request.max_results, request.min_score, request.corpus)


def results(found: SearchResult, view: Notes) -> list[dict[str, Any]]:
    """Return the hits as plain data, scores falling strictly, so that sorting by score keeps the order."""
    rows: list[dict[str, Any]] = []
    above = math.inf
    for hit in found.hits:
        score = min(float(hit.score), math.nextafter(above, -math.inf))
        above = score
        place = {"path": view.path(hit.path), "startLine": hit.start_line, "endLine": hit.end_line}
        rows.append({**place, "score": score})
    return rows


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


# --- what comes in ---------------------------------------------------------------------------------------------


def read_queries(file: Path) -> Iterator[Query]:
    """Yield the queries of a file, one JSON object a line; blank lines are passed over.

    Raises:
        UsageError: a line is none; its number is named.
    """
    with click.open_file(str(file), "rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                yield _query(json.loads(raw.removeprefix(b"\xef\xbb\xbf")))
            except (ValueError, RecursionError) as error:
                raise UsageError(f"Line {number} of the queries cannot be used: {error}", file=str(file)) from error


def _query(row: object) -> Query:
    if not isinstance(row, dict):
        raise ValueError("it is no JSON object")
    if "id" not in row:
        raise ValueError("it has no id")
    if not isinstance(row.get("query"), str):
        raise ValueError("its query is no text")
    return Query(row["id"], row["query"])


def as_workspace(notes: Path, copy: Path) -> Notes:
    """Return a folder of notes as a workspace: as it lies where every note is a memory file, else a copy.

    In a copy, notes outside ``memory/`` stand below ``memory/``, since only memory files are indexed.
    """
    files = sorted(file for file in notes.rglob("*.md") if file.is_file() and not file.is_symlink())
    outside = [file for file in files if not _is_memory(file.relative_to(notes))]
    if not outside:
        return Notes(notes, {})
    prefix = _free_prefix(notes)
    given = {}
    for file in files:
        path = file.relative_to(notes).as_posix()
        target = path if file not in outside else str(PurePosixPath("memory", prefix, path))
        if target != path:
            given[target] = path
        (copy / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy / target)
    return Notes(copy, given)


def _is_memory(path: Path) -> bool:
    return path.parts[0] == "memory" if len(path.parts) > 1 else path.name in CURATED


def _free_prefix(notes: Path) -> str:
    """Return a folder name below ``memory/`` that no note uses; without such notes none is needed."""
    if not (notes / "memory").exists():
        return ""
    names = (f"outside{number or ''}" for number in range(1000))
    return next(name for name in names if not (notes / "memory" / name).exists())


def configure(state: Path, config_file: Path | None, *, vectors: bool) -> None:
    """Make the state folder's configuration: that of ``config_file``, if any, and without vectors if so asked."""
    paths = Paths.resolve(state)
    if config_file is not None:
        shutil.copyfile(config_file, paths.config_file)
    if not vectors:
        set_value(paths, "memory.search.provider", "none")
