"""What it costs to start: the help of each command, and the import of the package."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench.measuring import processes
from bench.measuring.figures import summary
from bench.measuring.processes import Command
from bench.measuring.tables import Cell, Table
from bench.peers import memsearch_peer, openclaw_peer
from bench.peers.contender import PeerMissing
from bench.peers.installed import ROOT, check
from bench.peers.memsearch_peer import Memsearch
from bench.peers.reverie_peer import program
from bench.stages.plan import Outcome, Plan

WARM_UP = 1


def measure(plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Start each command in turn, `Plan.rounds` times."""
    home = plan.folder.resolve() / "start"
    home.mkdir(parents=True, exist_ok=True)
    ours = {"HOME": str(home), "PYTHONPATH": str(ROOT / "src"), "REVERIE_STATE_DIR": str(home / "reverie")}
    theirs = {"HOME": str(home), "TMPDIR": str(home), "OPENCLAW_STATE_DIR": str(home / "openclaw"), "NO_COLOR": "1"}
    started = {
        "`python -c pass`, for comparison": Command((sys.executable, "-c", "pass"), ours, home),
        "`python -c 'import reverie'`": Command((sys.executable, "-c", "import reverie"), ours, home),
        "`reverie --help`": Command((*program(), "--help"), ours, home),
    }
    missing = {}
    peers: dict[str, tuple[str, Callable[[], tuple[str, ...]]]] = {
        "memsearch": ("`memsearch --help`", _memsearch),
        "OpenClaw": ("`openclaw --help`", lambda: tuple(map(str, openclaw_peer.programs()))),
    }
    for name, (label, words) in peers.items():
        try:
            started[label] = Command((*words(), "--help"), theirs, home)
        except PeerMissing as reason:
            missing[name] = str(reason)
    rows, failed = _rows(started, plan.rounds, say)
    table = Table("Start", ("process", "median s", "p95 s", "CPU s", "peak MiB"), tuple(rows))
    return Outcome([table], missing | failed)


def _memsearch() -> tuple[str, ...]:
    path = memsearch_peer.FOLDER / "bin" / "memsearch"
    check(Memsearch.name, path)
    return (str(path),)


def _rows(
    started: dict[str, Command], rounds: int, say: Callable[[str], None]
) -> tuple[list[tuple[Cell, ...]], dict[str, str]]:
    runs: dict[str, list[processes.Ran]] = {label: [] for label in started}
    failed: dict[str, str] = {}
    for number in range(rounds + WARM_UP):
        say(f"start, round {number + 1} of {rounds + WARM_UP}" + (" (not counted)" if number < WARM_UP else ""))
        for label, command in started.items():
            if label in failed:
                continue
            ran = processes.run(command, deadline=300)
            if ran.failure:
                failed[label] = ran.failure
            elif number >= WARM_UP:
                runs[label].append(ran)
    rows: list[tuple[Cell, ...]] = []
    for label, done in runs.items():
        if label in failed:
            continue
        seconds = summary([ran.seconds for ran in done])
        cpu = summary([ran.cpu for ran in done])
        rows.append((label, seconds.median, seconds.p95, cpu.median, processes.peak(done)))
    return rows, failed
