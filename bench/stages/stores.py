"""Starts the probe of one store, and reads what it printed."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measuring import processes
from bench.measuring.processes import Command
from bench.peers.installed import ROOT
from bench.stages.plan import Plan


class ProbeFailed(Exception):
    """The probe of a store ended with an error; the message is its last line."""


@dataclass(frozen=True, slots=True)
class Store:
    """One store: its corpus, its state folder, and the embedder that it is opened with."""

    chunks: int
    sections_per_note: int
    state: Path
    vectors: str


def probe(plan: Plan, store: Store, *actions: str) -> dict[str, Any]:
    """Open the store in a process of its own, do `actions`, and return the figures.

    Raises:
        ProbeFailed: the process failed.
    """
    notes = plan.notes(store.chunks, sections_per_note=store.sections_per_note)
    words = [sys.executable, "-m", "bench.probes.store", "--notes", str(notes.resolve()), "--do", *actions]
    words += ["--state", str(store.state.resolve()), "--vectors", store.vectors, "--model", str(plan.model.resolve())]
    words += ["--chunks", str(store.chunks), "--sections-per-note", str(store.sections_per_note)]
    words += ["--queries", str(plan.queries)]
    home = plan.folder.resolve()
    ran = processes.run(Command(tuple(words), {"HOME": str(home), "PYTHONPATH": str(ROOT / "src")}, ROOT))
    if ran.failure:
        raise ProbeFailed(f"{store.vectors}, {store.chunks:,} chunks: {ran.failure}")
    figures: dict[str, Any] = json.loads(ran.output)
    return figures
