"""``reverie config get|set|check`` and ``reverie plugins list``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from reverie.core.config import check as check_config
from reverie.core.config import get_value, load_config, set_value
from reverie.core.paths import Paths
from reverie.memory import Memory
from reverie.surfaces import output
from reverie.surfaces.cli.parameters import EXACT, WORDS
from reverie.surfaces.cli.parts import Command, Invocation


@click.command("get", cls=Command, short_help="Print the configuration, or one value of it.")
@click.argument("key", required=False, default="", type=WORDS)
@click.pass_obj
def get(invocation: Invocation, key: str) -> None:
    """Print the value of KEY, defaults filled in; without KEY, every key with its value. Secrets show as ***."""
    config = load_config(Paths.resolve(), file=invocation.config_file)
    value = get_value(config, key)
    if invocation.json:
        output.document(value)
    elif isinstance(value, Mapping):
        output.table((name, shown(each)) for name, each in leaves(value, key.strip()))
    else:
        click.echo(output.printable(shown(value)))


@click.command("set", cls=Command, short_help="Set one value in the configuration file.")
@click.argument("key", type=WORDS)
@click.argument("value", type=EXACT)
@click.pass_obj
def set_(invocation: Invocation, key: str, value: str) -> None:
    """Set KEY to VALUE in the configuration file, which is made if it is not there. Comments in it stay.

    An empty VALUE takes KEY out of the file, so that the default holds.
    """
    paths = Paths.resolve()
    written = set_value(paths, key, value, file=invocation.config_file)
    file = invocation.config_file or paths.config_file
    if invocation.json:
        output.document({"key": key, "value": written, "file": file})
    elif written is None:
        output.line(f"{key} is not set any more in {file}.")
    else:
        output.line(f"{key} is now {shown(written)} in {file}.")


@click.command("check", cls=Command, short_help="Say what is wrong in the configuration file.")
@click.pass_context
def check(context: click.Context) -> None:
    """Look the configuration over. The exit status is 1 if it cannot be used; warnings alone leave it 0."""
    invocation: Invocation = context.obj
    paths = Paths.resolve()
    file = invocation.config_file or paths.config_file
    problems = check_config(paths, file=invocation.config_file)
    broken = any(problem.error for problem in problems)
    if invocation.json:
        output.document({"ok": not broken, "file": file, "problems": problems})
        context.exit(1 if broken else 0)
    for problem in problems:
        output.remark(f"{'error' if problem.error else 'warning'}: {problem}")
        if problem.hint:
            output.remark(f"hint: {problem.hint}")
    if not problems:
        there = "is in order" if file.exists() else "is not there, so the defaults hold"
        output.line(f"{file} {there}.")
    context.exit(1 if broken else 0)


@click.command("list", cls=Command, short_help="List the plugins and what each provides.")
@click.pass_obj
def plugins(invocation: Invocation) -> None:
    """List the plugins, the memory engines that each provides, and the engine that is in use."""
    slot = load_config(Paths.resolve(), file=invocation.config_file).agent(invocation.agent).memory_slot
    listed = Memory.plugins()
    if invocation.json:
        output.document({"plugins": listed, "slots": {"memory": slot}})
        return
    rows = (
        (each.name, f"{each.distribution} {each.version}".strip() or "built in", ", ".join(each.engines) or "none")
        for each in listed
    )
    output.table(rows, head=("plugin", "comes with", "memory engines"))
    output.say()
    filled = any(slot in each.engines for each in listed)
    output.say(f"The memory slot is set to {slot}" + ("." if filled else ", which no plugin provides."))


def leaves(value: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    """Yield every value below a key with its full name."""
    for name, each in value.items():
        full = f"{key}.{name}" if key else name
        if isinstance(each, Mapping) and each:
            yield from leaves(each, full)
        else:
            yield full, each


def shown(value: Any) -> str:
    """Return a value of the configuration as a person would type it; what is not set shows as a dash."""
    if value is None:
        return "-"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
