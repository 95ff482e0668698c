"""``reverie index``: bringing the index up to the files, once or for as long as it is watched."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import click

from reverie.core.types import Skipped, SyncReport
from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parts import Command, Invocation
from reverie.surfaces.progress import Progress

#: How many skipped files are named before the rest is only counted.
NAMED = 12


@click.command(cls=Command, short_help="Bring the index up to the files.")
@click.option("--force", is_flag=True, help="Read everything again, whether it changed or not.")
@click.option("--watch", is_flag=True, help="Go on whenever a file changes, until Ctrl-C.")
@click.pass_obj
def index(invocation: Invocation, force: bool, watch: bool) -> None:
    """Index what is new, changed or gone, by content. It can be interrupted and goes on where it stopped."""
    with opened(invocation) as memory:
        with Progress() as progress:
            report = memory.index(force=force, progress=progress)
        if not watch:
            output.document(report) if invocation.json else print_sync(report)
            return
        _tell(invocation, report)
        _watch(invocation, memory)


def _watch(invocation: Invocation, memory: Memory) -> None:
    """Stay until Ctrl-C, which is the way to end this and so no failure."""
    if not invocation.json:
        output.remark("watching for changes; Ctrl-C ends it")
    stop = threading.Event()
    try:
        memory.watch(stop, lambda report: _tell(invocation, report))
    except KeyboardInterrupt:
        stop.set()


def _tell(invocation: Invocation, report: SyncReport) -> None:
    if invocation.json:
        output.record(report)
    else:
        output.say(summary_of(report))


def print_sync(report: SyncReport) -> None:
    """Print what a sync did, what it left out, and why."""
    output.say(summary_of(report))
    print_skipped(report.skipped)
    for notice in report.notices:
        output.say(f"note: {notice}")


def summary_of(report: SyncReport) -> str:
    """Return what a sync did in one sentence."""
    files = report.added + report.changed + report.unchanged
    changes = [("new", report.added), ("changed", report.changed), ("gone", report.removed)]
    told = ", ".join(f"{count} {word}" for word, count in changes if count) or "nothing changed"
    made = f"; {report.chunks} chunks, {report.embedded} embedded" if report.chunks or report.embedded else ""
    left = f"; {report.pending} files are left for later" if report.pending else ""
    return f"{files} files: {told}{made}{left}; {report.seconds:.2f} s."


def print_skipped(skipped: Sequence[Skipped]) -> None:
    """Print the files that are left out, each with its reason."""
    if skipped:
        output.say(f"Not indexed ({len(skipped)}):")
        output.table(((each.path, each.reason) for each in skipped[:NAMED]), indent=2)
    if len(skipped) > NAMED:
        output.say(f"and {len(skipped) - NAMED} more; --json names all of them", indent=2)
