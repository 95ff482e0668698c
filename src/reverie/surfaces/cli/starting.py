"""``reverie init`` and ``reverie demo``: the first things that are tried."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from reverie.core.errors import UsageError
from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.cli.parameters import COUNT
from reverie.surfaces.cli.parts import Command, Invocation
from reverie.surfaces.demo import pools, story
from reverie.surfaces.demo.parts import Part
from reverie.surfaces.demo.telling import Telling, tell_pools


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


@click.command(cls=Command, short_help="See the main job done on real input, in a folder of its own.")
@click.option(
    "--data",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A pools.jsonl with notes and questions, instead of the conversations that come with Reverie.",
)
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Work in DIR, which must be new or empty, and leave everything there.",
)
@click.option(
    "--queries",
    type=COUNT,
    default=pools.QUESTIONS,
    show_default=True,
    metavar="N",
    help="With --data: ask N questions.",
)
@click.pass_obj
def demo(invocation: Invocation, data: Path | None, keep: Path | None, queries: int | None) -> None:
    """Show the main job on real input: three weeks of conversations, written for it.

    They are recorded with their provenance, noted, indexed and asked about. Two facts change on the way, a web page
    gives orders, a guest has wishes, and jobs make noise. Nothing of your own memory is read or changed.
    """
    with _place(keep) as folder:
        if data is not None:
            _on_data(invocation, data, folder, queries or pools.QUESTIONS)
            return
        telling = Telling()
        tell = _nothing if invocation.json else telling
        report = story.run(folder, kept=keep is not None, tell=tell)
        if invocation.json:
            output.document(report)
        else:
            telling.summary(report)


def _on_data(invocation: Invocation, data: Path, folder: Path, queries: int) -> None:
    report = pools.run(data, folder, queries)
    if invocation.json:
        output.document(report)
    else:
        tell_pools(report)


def _nothing(_: Part) -> None:
    """Say nothing: a program reads the report at the end."""


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    """Yield the folder to work in: the one to keep, or one that is removed afterwards."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="reverie-demo-") as folder:
            yield Path(folder)
        return
    keep = keep.absolute()
    keep.mkdir(parents=True, exist_ok=True)
    if any(keep.iterdir()):
        raise UsageError("The folder is not empty", folder=str(keep), hint="name a new one after --keep")
    yield keep
