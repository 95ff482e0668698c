"""``reverie note``, ``reverie remember`` and ``reverie import markdown``: the ways in."""

from __future__ import annotations

from pathlib import Path

import click

from reverie.core.errors import UsageError
from reverie.core.types import Written
from reverie.surfaces import output
from reverie.surfaces.cli.indexing import summary_of
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parameters import EXACT, Whole, text_of
from reverie.surfaces.cli.parts import Command, Invocation


@click.command(cls=Command, short_help="Add to the note of the day.")
@click.argument("text", nargs=-1, type=EXACT)
@click.option("--heading", type=EXACT, default="", metavar="TEXT", help="A heading to put above it.")
@click.pass_obj
def note(invocation: Invocation, text: tuple[str, ...], heading: str) -> None:
    """Add TEXT to today's note, memory/YYYY-MM-DD.md; - reads it from standard input."""
    said = _something(text)
    with opened(invocation) as memory:
        written = memory.note(said, heading=heading.strip())
    _print(invocation, written, "Noted")


@click.command(cls=Command, short_help="Put a fact into long-term memory.")
@click.argument("text", nargs=-1, type=EXACT)
@click.option("--key", type=EXACT, metavar="K", help="A name for what this is about; the older fact of it is replaced.")
@click.option("--importance", type=Whole(1, 10), metavar="N", help="How much it matters, from 1 to 10.")
@click.option(
    "--trigger", "triggers", type=EXACT, multiple=True, metavar="T", help="A phrase that brings it up; repeatable."
)
@click.pass_obj
def remember(
    invocation: Invocation, text: tuple[str, ...], key: str | None, importance: int | None, triggers: tuple[str, ...]
) -> None:
    """Put TEXT into long-term memory: a preference into USER.md, any other fact into MEMORY.md.

    This is a direct request of the owner, so it enters prompts from now on. - reads TEXT from standard input.
    """
    said = _something(text)
    named = [trigger.strip() for trigger in triggers if trigger.strip()]
    with opened(invocation) as memory:
        written = memory.remember(said, key=(key or "").strip() or None, importance=importance, triggers=named)
    _print(invocation, written, "Remembered")


def _something(words: tuple[str, ...]) -> str:
    text = text_of(words, "text")
    if not text.strip():
        raise UsageError("The text is empty")
    return text.rstrip("\n")


def _print(invocation: Invocation, written: Written, verb: str) -> None:
    if invocation.json:
        output.document(written)
        return
    lines = f"line {written.start_line}"
    if written.end_line > written.start_line:
        lines = f"lines {written.start_line} to {written.end_line}"
    output.line(f"{verb} in {written.path}, {lines}, as said by the {written.origin.value}.")
    if written.note:
        output.say(f"note: {written.note}")


# --- import ----------------------------------------------------------------------------------------------------


@click.command("markdown", cls=Command, short_help="Copy Markdown files into the memory.")
@click.argument("path", type=click.Path(path_type=Path))
@click.pass_obj
def import_notes(invocation: Invocation, path: Path) -> None:
    """Copy the Markdown file PATH, or all below the folder PATH, to memory/imports/markdown, and index them.

    Nothing is changed where they come from. Doing it again brings in what is new.
    """
    with opened(invocation) as memory:
        report = memory.import_markdown(path)
        synced = memory.index()
    if invocation.json:
        output.document({"import": report, "index": synced})
        return
    counts = {"imported": report.written, "unchanged": report.unchanged, "skipped": report.skipped}
    output.say(", ".join(f"{len(each)} {name}" for name, each in counts.items()) + ".")
    output.table(((each.path, each.reason) for each in report.skipped), indent=2)
    output.say(f"Index: {summary_of(synced)}")
