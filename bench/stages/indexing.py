"""Indexing with the default embedder against the embedder alone, on the same texts in the same batches."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from bench.measuring import processes
from bench.measuring.figures import ratio, summary
from bench.measuring.processes import Command
from bench.measuring.tables import Table
from bench.peers.installed import ROOT
from bench.stages.plan import Outcome, Plan

#: Chunks of a round, at most, and rounds: the model makes some twenty a second.
LARGEST, ROUNDS = 400, 5


def measure(plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Start the probe that takes turns between the index and the embedder alone."""
    chunks, rounds = min(plan.chunks, LARGEST), min(plan.rounds, ROUNDS)
    say(f"indexing with the embedder, {rounds} rounds of {chunks} chunks")
    folder = plan.folder.resolve() / "throughput"
    words = [sys.executable, "-m", "bench.probes.throughput", "--folder", str(folder)]
    words += ["--model", str(plan.model.resolve()), "--chunks", str(chunks), "--rounds", str(rounds)]
    environment = {"HOME": str(plan.folder.resolve()), "PYTHONPATH": str(ROOT / "src")}
    ran = processes.run(Command(tuple(words), environment, ROOT))
    if ran.failure:
        return Outcome([], {"Reverie, indexing with the embedder": ran.failure})
    figures = json.loads(ran.output)
    alone, indexed = figures["alone"], figures["indexed"]
    compared = ratio(alone, indexed)
    row = (
        "Reverie",
        figures["chunks"],
        figures["chunks"] / summary(indexed).median,
        figures["chunks"] / summary(alone).median,
        compared.median,
        f"{compared.lowest:.3f} to {compared.highest:.3f}",
    )
    table = Table(
        "Indexing with the default embedder",
        (
            "system",
            "chunks a round",
            "chunks/s",
            "the model alone, chunks/s",
            "share of the model's throughput (median of pairs)",
            "lowest and highest pair",
        ),
        (row,),
        (f"{rounds} rounds in turn: index new notes, then embed the same texts in the same batches and nothing else.",),
    )
    return Outcome([table], raw={"throughput": figures})
