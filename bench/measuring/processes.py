"""Whole processes: how long they took, what they cost, and how much memory they held."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: What a measured process may see of the environment of the measuring one; anything else could change the result.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start: its words, what it finds in the environment besides `KEPT`, where it runs, what it reads."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    read: str = ""


@dataclass(frozen=True, slots=True)
class Ran:
    """A process that ended. ``cpu`` counts its own children too; ``peak`` is its largest resident size in MiB."""

    seconds: float
    cpu: float
    peak: float
    status: int
    output: str
    complaints: str

    @property
    def failure(self) -> str:
        """Return why it failed in one line; empty if it did not."""
        if self.status == 0:
            return ""
        last = [line.strip() for line in self.complaints.splitlines() if line.strip()][-1:]
        return f"exit status {self.status}" + (f": {last[0][:200]}" if last else "")


def run(command: Command, *, deadline: float = 3_600.0) -> Ran:
    """Run a process to its end; after ``deadline`` seconds it and its children are killed, and its status says so.

    The peak of a child can't be told from the size that its parent had when it started it, so a program that measures
    must stay small itself: it loads no model and no numpy.
    """
    environment = {name: os.environ[name] for name in KEPT if name in os.environ} | dict(command.environment)
    with tempfile.TemporaryFile() as read, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        read.write(command.read.encode())
        read.seek(0)
        begun = time.perf_counter()
        process = subprocess.Popen(
            command.words,
            stdin=read,
            stdout=output,
            stderr=complaints,
            cwd=command.folder,
            env=environment,
            start_new_session=True,
        )
        timer = threading.Timer(deadline, _kill, [process.pid])
        timer.start()
        try:
            _, waited, usage = os.wait4(process.pid, 0)
        except BaseException:
            _kill(process.pid)
            raise
        finally:
            timer.cancel()
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(waited)
        output.seek(0)
        complaints.seek(0)
        return Ran(
            seconds=seconds,
            cpu=usage.ru_utime + usage.ru_stime,
            peak=usage.ru_maxrss / 1_024,
            status=process.returncode,
            output=output.read().decode("utf-8", "replace"),
            complaints=complaints.read().decode("utf-8", "replace"),
        )


def resident() -> float:
    """Return the resident size of this process in MiB."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
