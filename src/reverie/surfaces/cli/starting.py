"""``reverie init`` and ``reverie demo``: the first things that are tried."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from reverie.core.config import get_value, load_config, set_value
from reverie.core.errors import UsageError
from reverie.core.paths import Paths
from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.cli.opening import agent_of
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

    DIR is the folder for the Markdown files, and the configuration remembers it; without DIR it is REVERIE_WORKSPACE,
    else ~/.reverie/workspace.
    """
    agent = agent_of(invocation)
    place = folder.absolute() if folder else _workspace(invocation, agent)
    made, found = Memory.create(workspace=place)
    told = _keep_in_mind(invocation, agent, place)
    if invocation.json:
        output.document({"workspace": place, "made": made, "found": found, "notes": told})
        return
    for title, places in (("Made:", made), ("Was there already, and is unchanged:", found)):
        if places:
            output.say(title)
        for each in places:
            output.line(each, indent=2)
    for line in told:
        output.line(line)
    output.say()
    output.say("Write into these files with any editor, or let the command do it:")
    output.say('reverie note "The dentist moved to Friday."', indent=2)
    output.say('reverie search "when is the dentist"', indent=2)


def _workspace(invocation: Invocation, agent: str) -> Path:
    return load_config(Paths.resolve(), file=invocation.config_file).agent(agent).workspace


def _keep_in_mind(invocation: Invocation, agent: str, place: Path) -> list[str]:
    """Let the configuration name a workspace that it would not find by itself; return what is to be said of that."""
    if _workspace(invocation, agent) == place:
        return []
    paths = Paths.resolve()
    config = load_config(paths, file=invocation.config_file)
    key = "agents.defaults.workspace" if agent == config.default_agent else f"agents.entries.{agent}.workspace"
    if paths.workspace_given or get_value(config, key) is not None:
        reason = "REVERIE_WORKSPACE" if paths.workspace_given else key
        return [f"note: {reason} names another workspace, {_workspace(invocation, agent)}, and goes before this one."]
    set_value(paths, key, str(place), file=invocation.config_file)
    return [f"The configuration names this workspace now ({key})."]


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
        report = story.run(folder, kept=keep is not None, config_file=invocation.config_file, tell=tell)
        if invocation.json:
            output.document(report)
        else:
            telling.summary(report)


def _on_data(invocation: Invocation, data: Path, folder: Path, queries: int) -> None:
    report = pools.run(data, folder, queries, invocation.config_file)
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
