"""``reverie init`` and ``reverie demo``: the first things that are tried."""

from __future__ import annotations

from pathlib import Path

import click

from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.cli.parameters import COUNT
from reverie.surfaces.cli.parts import Command, Invocation


@click.command(cls=Command, short_help="Make the workspace and the configuration.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.pass_obj
def init(invocation: Invocation, folder: Path | None) -> None:
    """Make the workspace and a commented configuration. What is there already is left as it is.

    DIR is the folder for the Markdown files; without it REVERIE_WORKSPACE, else ~/.reverie/workspace.
    """
    made, found = Memory.create(workspace=folder.absolute() if folder else None)
    if invocation.json:
        output.document({"made": made, "found": found})
        return
    for title, places in (("Made:", made), ("Was there already, and is unchanged:", found)):
        if places:
            output.say(title)
        for place in places:
            output.say(place, indent=2)
    output.say()
    output.say('Next: reverie note "what happened today", then reverie search "today"')
