"""``reverie import openclaw|claude-code|codex|chatgpt``: what other programs kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from reverie.core.types import Skipped, SyncReport
from reverie.memory import Memory, OpenClawReport, TranscriptReport
from reverie.surfaces import output
from reverie.surfaces.cli.indexing import NAMED, summary_of
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parameters import WORDS
from reverie.surfaces.cli.parts import Command, Invocation

F = TypeVar("F", bound=Callable[..., Any])

_MINE = "Vouch that the user in what is imported was you, its owner; recorded. Without it, all of it is untrusted."


def _options(function: F) -> F:
    """Add what every import understands."""
    function = click.option("--mine", is_flag=True, help=_MINE)(function)
    function = click.option("--dry-run", is_flag=True, help="Say what would come in, and change nothing.")(function)
    return click.argument("path", type=click.Path(path_type=Path))(function)


@click.command("claude-code", cls=Command, short_help="Bring in conversations of Claude Code.")
@_options
@click.pass_obj
def claude_code(invocation: Invocation, path: Path, dry_run: bool, mine: bool) -> None:
    """Import conversations of Claude Code as sessions: PATH is ~/.claude, a project in it, or one file.

    Doing it again brings in what is new.
    """
    _bring_in(invocation, lambda memory: memory.import_claude_code(path, mine=mine, dry_run=dry_run))


@click.command("codex", cls=Command, short_help="Bring in conversations of Codex.")
@_options
@click.pass_obj
def codex(invocation: Invocation, path: Path, dry_run: bool, mine: bool) -> None:
    """Import conversations of Codex as sessions: PATH is ~/.codex, or one rollout file.

    Doing it again brings in what is new.
    """
    _bring_in(invocation, lambda memory: memory.import_codex(path, mine=mine, dry_run=dry_run))


@click.command("chatgpt", cls=Command, short_help="Bring in the data export of ChatGPT.")
@_options
@click.pass_obj
def chatgpt(invocation: Invocation, path: Path, dry_run: bool, mine: bool) -> None:
    """Import the data export of ChatGPT as sessions: PATH is the ZIP file, its folder, or conversations.json.

    Doing it again, with a newer export, brings in what is new.
    """
    _bring_in(invocation, lambda memory: memory.import_chatgpt(path, mine=mine, dry_run=dry_run))


@click.command("openclaw", cls=Command, short_help="Bring in notes and sessions of OpenClaw.")
@_options
@click.option("--from", "agent", type=WORDS, default="", metavar="ID", help="The agent of OpenClaw to read.")
@click.option("--apply-config", is_flag=True, help="Set here what of its settings means the same; yours stay.")
@click.pass_obj
def openclaw(invocation: Invocation, path: Path, dry_run: bool, mine: bool, agent: str, apply_config: bool) -> None:
    """Import OpenClaw: PATH is its state folder, usually ~/.openclaw, or a workspace alone.

    Notes are copied to memory/imports/openclaw, MEMORY.md and USER.md into place where yours are empty. Sessions of
    both of its storage generations come in with their dates, kinds and classes. Settings are only proposed.
    """
    with opened(invocation) as memory:
        report = memory.import_openclaw(path, agent=agent, mine=mine, dry_run=dry_run, apply_config=apply_config)
        synced = None if dry_run else memory.index()
    if invocation.json:
        output.document({"import": report, "index": synced})
        return
    _print_openclaw(report)
    _print_index(synced)


def _bring_in(invocation: Invocation, act: Callable[[Memory], TranscriptReport]) -> None:
    with opened(invocation) as memory:
        report = act(memory)
        synced = None if report.dry_run else memory.index()
    if invocation.json:
        counts = {name: getattr(report, name) for name in ("created", "grown", "unchanged", "messages")}
        output.document({"import": report, "counts": counts, "index": synced})
        return
    _print_sessions(report)
    _print_index(synced)


# --- for people --------------------------------------------------------------------------------------------------


def _print_sessions(report: TranscriptReport) -> None:
    would = "would come in" if report.dry_run else "came in"
    output.say(
        f"{report.created} new conversations {would}, {report.grown} grew, {report.unchanged} were here already;"
        f" {report.messages} messages in all."
    )
    changed = [one for one in report.sessions if one.created or one.added]
    output.table([(one.added, one.key, one.label) for one in changed[:NAMED]], indent=2)
    if len(changed) > NAMED:
        output.say(f"and {len(changed) - NAMED} more", indent=2)
    _print_list("Left out:", report.skipped)
    _print_list("Conflicts:", report.conflicts)
    for notice in report.notices:
        output.say(f"note: {notice}")


def _print_openclaw(report: OpenClawReport) -> None:
    output.say(f"Agent {report.agent} of OpenClaw.")
    _print_sessions(report.sessions)
    would = "would be copied" if report.dry_run else "copied"
    notes = report.notes
    output.say(f"{len(notes.written)} notes {would}, {len(notes.unchanged)} were here already.")
    for path in notes.written[:NAMED]:
        output.line(path, indent=2)
    _print_list("Notes left out:", notes.skipped)
    _print_list("Notes in conflict:", notes.conflicts)
    for notice in (*notes.notices, *report.notices):
        output.say(f"note: {notice}")
    _print_settings(report)


def _print_settings(report: OpenClawReport) -> None:
    settings, applied = report.settings, report.applied
    if settings.settings and not applied.set:
        output.say("Settings that mean the same here; nothing was set:")
        for command in settings.commands:
            output.line(command, indent=2)
    for key in applied.set:
        output.line(f"set {key}", indent=2)
    for key in applied.kept:
        output.line(f"{key} is set here to something else, and stays", indent=2)
    if settings.without:
        output.say("Settings without a counterpart:")
        output.table(settings.without, indent=2)
    if applied.file:
        output.line(f"The proposal stands in {applied.file}")


def _print_list(title: str, rows: Sequence[Skipped]) -> None:
    if rows:
        output.say(title)
        output.table([(each.path, each.reason) for each in rows[:NAMED]], indent=2)
    if len(rows) > NAMED:
        output.say(f"and {len(rows) - NAMED} more", indent=2)


def _print_index(synced: SyncReport | None) -> None:
    if synced is not None:
        output.say(f"Index: {summary_of(synced)}")
