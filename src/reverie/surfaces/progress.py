"""Progress of long work: one line on a terminal's standard error, redrawn in place, and nothing anywhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType

import click

from reverie.surfaces.output import printable

#: Work that ends sooner than this shows no progress at all.
PATIENCE_SECONDS = 0.4
#: The line is redrawn no more often than this.
REDRAW_SECONDS = 0.1


class Progress:
    """Shows how far some work is: a :data:`reverie.core.types.Progress`. As a context, it takes its line away again."""

    def __init__(self, *, shown: bool | None = None) -> None:
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._began = time.monotonic()
        self._drawn = 0.0
        self._length = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show what is being done, and that ``done`` of ``total`` of it is."""
        now = time.monotonic()
        if not self._shown or now - self._began < PATIENCE_SECONDS or now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        share = f"  {100 * done // total:3d} %" if total else ""
        line = printable(what) + share + (f"  {done:,} of {total:,}" if total > 100 else "")
        click.echo("\r" + line.ljust(self._length), err=True, nl=False)
        self._length = len(line)

    def __enter__(self) -> Progress:
        """Return the progress itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the line."""
        if self._length:
            click.echo("\r" + " " * self._length + "\r", err=True, nl=False)
            self._length = 0
