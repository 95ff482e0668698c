"""``reverie sessions``: the conversations, and what can be done with one by hand."""

from __future__ import annotations

import click

from reverie.core.clock import local
from reverie.surfaces import output
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parameters import WORDS, Whole
from reverie.surfaces.cli.parts import Command, Invocation

_SHOWN_CHARS = 600


@click.command("list", cls=Command, short_help="List the conversations.")
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """List the conversations, the one used last first, and the transcripts that wait for ingestion."""
    with opened(invocation) as memory:
        found, waiting = memory.sessions(), memory.ended_sessions()
        times = [local(one.updated_at, memory.clock) if one.updated_at else None for one in found]
    if invocation.json:
        output.document({"sessions": found, "ended": waiting})
        return
    if not found:
        output.say("There is no conversation yet.")
    rows = [
        (f"{at:%Y-%m-%d %H:%M}" if at else "-", one.kind, one.chat, len(one.older) + 1, one.key)
        for one, at in zip(found, times, strict=True)
    ]
    output.table(rows, head=("last used", "kind", "chat", "transcripts", "session") if rows else ())
    if waiting:
        output.say()
        output.say(f"{len(waiting)} ended transcripts wait for ingestion.")


@click.command(cls=Command, short_help="Show a conversation as a model is shown it.")
@click.argument("key", type=WORDS)
@click.pass_obj
def show(invocation: Invocation, key: str) -> None:
    """Show the conversation KEY as a model is shown it: the last summary, and what was said since."""
    with opened(invocation) as memory:
        found = memory.session(key)
        clock = memory.clock
    if invocation.json:
        messages = [{"role": one.role, "at": one.at, "text": one.text} for one in found.messages]
        output.document({"key": key, "tokens": found.tokens, "messages": messages})
        return
    for one in found.messages:
        when = f"{local(one.at, clock):%Y-%m-%d %H:%M} " if one.at else ""
        output.line(f"{when}{one.role}")
        output.say(output.shorten(one.text, _SHOWN_CHARS) or "(no words)", indent=2)
    output.say(f"{len(found.messages)} messages, about {found.tokens:,} tokens.")


@click.command(cls=Command, short_help="Begin a conversation anew.")
@click.argument("key", type=WORDS)
@click.pass_obj
def reset(invocation: Invocation, key: str) -> None:
    """Let the conversation KEY go on in a new transcript. The old one stays, and waits for ingestion."""
    with opened(invocation) as memory:
        found = memory.end_session(key, reason="reset")
    if invocation.json:
        output.document({"reset": found is not None, "rotation": found})
    elif found is None:
        output.say("Nothing was said in it yet, so it simply stays.")
    else:
        output.line(f"{found.ended} has ended; {found.key} goes on in {found.begun}.")
        if found.note:
            output.line(f"Its last messages are in {found.note}.")
        for notice in found.notices:
            output.say(f"note: {notice}")


@click.command(cls=Command, short_help="Summarise the older part of a conversation.")
@click.argument("key", type=WORDS)
@click.argument("instructions", nargs=-1, type=WORDS)
@click.option("--window", type=Whole(1), metavar="TOKENS", help="The size of the model's context; makes room in it.")
@click.pass_obj
def compact(invocation: Invocation, key: str, instructions: tuple[str, ...], window: int | None) -> None:
    """Summarise the older part of the conversation KEY, after saving what lasts to today's note.

    INSTRUCTIONS say what the summary is to look after. The transcript keeps every line; only what a model is shown of
    it becomes shorter. Without a language model the summary is an extract and says so.
    """
    with opened(invocation) as memory:
        found = memory.compact(key, " ".join(instructions), window=window or 0)
    if invocation.json:
        output.document(found)
    elif not found.done:
        output.say(f"Nothing was compacted: {found.reason}.")
    else:
        output.say(f"Compacted ({found.means}): {found.tokens_before:,} tokens became {found.tokens_after:,}.")
        if found.over:
            output.say("note: it is still larger than the model's context allows")
