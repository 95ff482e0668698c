"""``reverie sessions maintain`` and ``reverie sessions export``: cleaning up conversations, and copies of them."""

from __future__ import annotations

from pathlib import Path

import click

from reverie.core.errors import UsageError
from reverie.memory import MaintenanceReport
from reverie.surfaces import output
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parameters import WORDS
from reverie.surfaces.cli.parts import Command, Invocation


@click.command(cls=Command, short_help="Clean up old sessions, as the configuration says.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_context
def maintain(context: click.Context, dry_run: bool) -> None:
    """Take old sessions off the list, put their transcripts aside, and keep to the disk budget.

    Six steps, with the settings below session.maintenance; every row and file is named. Sessions in use are left
    alone, and nothing that was learned is forgotten. The exit status is 1 if something could not be done.
    """
    invocation: Invocation = context.obj
    with opened(invocation) as memory:
        report = memory.maintain(dry_run=dry_run)
    output.document(report) if invocation.json else _print(report)
    context.exit(1 if report.failures else 0)


def _print(report: MaintenanceReport) -> None:
    failed = {failure.deed: failure.reason for failure in report.failures}
    for step in report.steps:
        deeds = [deed for deed in (*report.deeds, *failed) if deed.step is step]
        output.line(f"{step.value}: {len(deeds) or 'nothing'}")
        for deed in deeds:
            size = f", {deed.bytes:,} bytes" if deed.bytes else ""
            to = f" to {deed.to}" if deed.to else ""
            output.line(f"{deed.act.value} {deed.name}{to} ({deed.why}{size})", indent=2)
            if deed in failed:
                output.line(f"not done: {failed[deed]}", indent=4)
    did = "Now" if report.applied else "It would be"
    output.say(
        f"{did} {report.rows_after} sessions of {report.rows_before},"
        f" and {report.bytes_after:,} bytes of {report.bytes_before:,}."
    )
    for notice in report.notices:
        output.say(f"note: {notice}")


@click.command(cls=Command, short_help="Copy transcripts to a folder, with pages to read.")
@click.argument("arguments", nargs=-1, type=WORDS, metavar="KEY PATH")
@click.option("--all", "every", is_flag=True, help="Export every session; then only PATH is given.")
@click.pass_obj
def export(invocation: Invocation, arguments: tuple[str, ...], every: bool) -> None:
    """Write the transcripts of the session KEY below the folder PATH: the JSONL as it is, and Markdown to read."""
    wanted = 1 if every else 2
    if len(arguments) != wanted:
        raise UsageError(
            "The export needs a session and a folder", hint="`reverie sessions export KEY PATH`, or `--all PATH`"
        )
    key = "" if every else arguments[0]
    with opened(invocation) as memory:
        report = memory.export_sessions(Path(arguments[-1]), key=key)
    if invocation.json:
        output.document(report)
        return
    for path in report.written:
        output.line(path)
    output.say(f"{len(report.written)} files written below {report.folder}.")
    output.table(((each.path, each.reason) for each in report.skipped), indent=2)
