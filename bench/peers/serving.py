"""Runs the embeddings endpoint as a process of its own for as long as it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers.contender import PeerMissing
from bench.peers.installed import ROOT


@contextmanager
def serving(model: Path) -> Iterator[str]:
    """Start the endpoint, yield its base address, and end it.

    Raises:
        PeerMissing: it did not start, with what it said.
    """
    words = [sys.executable, "-m", "bench.peers.endpoint_main", "--model", str(model.resolve())]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, cwd=ROOT, env=environment
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().decode("ascii", "replace").strip()
            if not address:
                process.wait(30)
                complaints.seek(0)
                said = complaints.read().decode("utf-8", "replace").strip().splitlines()
                raise PeerMissing(f"the embeddings endpoint did not start: {said[-1] if said else 'no reason given'}")
            yield address
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
