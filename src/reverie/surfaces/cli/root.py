"""The command ``reverie``: its global options and the list of its commands."""

from __future__ import annotations

from typing import Any

import click

from reverie._version import __version__
from reverie.surfaces.cli.parts import LazyGroup, RootGroup, global_options

_HERE = "reverie.surfaces.cli"

COMMANDS = {
    "init": (f"{_HERE}.starting:init", "Make the workspace and the configuration."),
    "demo": (f"{_HERE}.starting:demo", "See the main job done on real input, in a folder of its own."),
    "search": (f"{_HERE}.recalling:search", "Search notes and transcripts."),
    "get": (f"{_HERE}.recalling:get", "Read lines of a memory file."),
    "note": (f"{_HERE}.noting:note", "Add to the note of the day."),
    "remember": (f"{_HERE}.noting:remember", "Put a fact into long-term memory."),
    "index": (f"{_HERE}.indexing:index", "Bring the index up to the files."),
    "status": (f"{_HERE}.keeping:status", "Show the state of the memory."),
    "doctor": (f"{_HERE}.keeping:doctor", "Check everything, and repair what can be repaired."),
    "why": (f"{_HERE}.trusting:why", "Show where something in memory comes from."),
    "trust": (f"{_HERE}.trusting:trust", "Vouch for lines that count as untrusted."),
    "sessions": (f"{_HERE}.root:sessions_group", "List, show, reset, compact, tidy and copy conversations."),
    "import": (f"{_HERE}.root:import_group", "Bring in notes and conversations from elsewhere."),
    "eval": (f"{_HERE}.root:eval_group", "Measure the search on notes and questions of your own."),
    "config": (f"{_HERE}.root:config_group", "Read, set and check the configuration."),
    "plugins": (f"{_HERE}.root:plugins_group", "Show the plugins."),
}
IMPORTS = {
    "markdown": (f"{_HERE}.noting:import_notes", "Copy Markdown files into the memory."),
    "openclaw": (f"{_HERE}.importing:openclaw", "Bring in notes and sessions of OpenClaw."),
    "claude-code": (f"{_HERE}.importing:claude_code", "Bring in conversations of Claude Code."),
    "codex": (f"{_HERE}.importing:codex", "Bring in conversations of Codex."),
    "chatgpt": (f"{_HERE}.importing:chatgpt", "Bring in the data export of ChatGPT."),
}
SESSIONS = {
    "list": (f"{_HERE}.sessions:list_", "List the conversations."),
    "show": (f"{_HERE}.sessions:show", "Show a conversation as a model is shown it."),
    "reset": (f"{_HERE}.sessions:reset", "Begin a conversation anew."),
    "compact": (f"{_HERE}.sessions:compact", "Summarise the older part of a conversation."),
    "maintain": (f"{_HERE}.sessions_keeping:maintain", "Clean up old sessions, as the configuration says."),
    "export": (f"{_HERE}.sessions_keeping:export", "Copy transcripts to a folder, with pages to read."),
}
EVALUATIONS = {"retrieval": (f"{_HERE}.evaluating:retrieval", "Index a folder of notes and run queries against it.")}
CONFIGURING = {
    "get": (f"{_HERE}.configuring:get", "Print the configuration, or one value of it."),
    "set": (f"{_HERE}.configuring:set_", "Set one value in the configuration file."),
    "check": (f"{_HERE}.configuring:check", "Say what is wrong in the configuration file."),
}
PLUGINS = {"list": (f"{_HERE}.configuring:plugins", "List the plugins and what each provides.")}


def _group(name: str, commands: dict[str, tuple[str, str]], text: str) -> LazyGroup:
    options = global_options(hidden=True)
    return LazyGroup(name=name, parts=commands, params=options, help=text, short_help=COMMANDS[name][1])


import_group = _group("import", IMPORTS, "Bring in what other programs kept. What is imported from is never changed.")
eval_group = _group("eval", EVALUATIONS, "Measure the search on notes and questions of your own.")
config_group = _group(
    "config", CONFIGURING, "Read, set and check the configuration: the file `reverie.json5` in the state folder."
)
sessions_group = _group("sessions", SESSIONS, "The conversations: files in the state folder that lose no line.")
plugins_group = _group("plugins", PLUGINS, "Show the plugins. They come as Python packages and announce themselves.")


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(f"reverie {__version__}")
        context.exit()


def _options() -> list[Any]:
    version = click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
    )
    return [*global_options(hidden=False), version]


main = RootGroup(
    name="reverie",
    parts=COMMANDS,
    params=_options(),
    help="""Long-term memory for AI agents that its owner can read, edit and trust.

    Memory is Markdown in a workspace folder; an index makes it searchable. `reverie init` makes both, `reverie demo`
    shows what they are for. The options below may stand before or after a command.
    """,
)
