"""Stand-alone writers that the tests start as real processes: ``python writers.py JOB LOCKS FILE ARGS...``."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import filelock  # noqa: F401 - loaded before the forks, so that they spend their short lives writing

from reverie.workspace import files
from reverie.workspace.notes import Workspace


def append_line(locks: Path, path: Path, line: str) -> None:
    files.append(path, line.encode("utf-8"), lock_dir=locks)


def nursery(locks: Path, path: Path, size: str) -> None:
    """For each line of input fork a writer and print its number; on the next line wait until it was killed.

    A writer replaces the file for ever by ``A...`` and ``B...`` of ``size`` bytes.
    """
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            alternate(locks, path, int(size))
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)


def alternate(locks: Path, path: Path, size: int) -> None:
    bodies = [letter * size + b"\n" for letter in (b"A", b"B")]
    for turn in itertools.count():
        files.replace(path, bodies[turn % 2], expected=files.read(path).hash, lock_dir=locks)


def remember(locks: Path, root: Path, name: str, count: str) -> None:
    workspace = Workspace(root, lock_dir=locks)
    for number in range(int(count)):
        workspace.append_entry("MEMORY.md", f"{name} {number}")


def hold(locks: Path, path: Path) -> None:
    """Hold the lock of the file until the input ends."""
    with files.locked(locks, path):
        print("held", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    job, locks, path, *rest = sys.argv[1:]
    {"append": append_line, "nursery": nursery, "remember": remember, "hold": hold}[job](Path(locks), Path(path), *rest)
