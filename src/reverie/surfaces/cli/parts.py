"""What every command is built from: global options, lazily loaded groups, and the one place where errors are shown."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from reverie.core.errors import ReverieError, UsageError
from reverie.surfaces import output

#: What a shell reports for a program that was ended with Ctrl-C.
INTERRUPTED = 130


@dataclass(slots=True)
class Invocation:
    """The global options of one run, wherever on the line they stood."""

    agent: str = ""
    config_file: Path | None = None
    json: bool = False
    debug: bool = False


# --- global options --------------------------------------------------------------------------------------------


def _set_agent(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value and value.strip():
        context.ensure_object(Invocation).agent = value.strip()


def _set_config(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value and value.strip():
        context.ensure_object(Invocation).config_file = Path(value).expanduser()


def _set_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Invocation).json = True


def _set_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Invocation).debug = True


def global_options(*, hidden: bool) -> list[click.Parameter]:
    """Return the options that are understood before and after the name of a command.

    Below a command only ``--json`` is shown; the others would repeat on every page of help.
    """
    return [
        click.Option(["--json"], is_flag=True, expose_value=False, callback=_set_json, help="Print JSON for programs."),
        click.Option(
            ["--agent"],
            metavar="ID",
            expose_value=False,
            callback=_set_agent,
            hidden=hidden,
            help="The agent whose memory is meant; without it the default one, usually `main`.",
        ),
        click.Option(
            ["--config"],
            metavar="FILE",
            expose_value=False,
            callback=_set_config,
            hidden=hidden,
            help="Another configuration file than the one in the state folder.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_set_debug,
            hidden=hidden,
            help="Show where an error comes from.",
        ),
    ]


class Command(click.Command):
    """A command that understands the global options, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += global_options(hidden=True)


# --- groups that load late -------------------------------------------------------------------------------------


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used, or when their own help is asked.

    Args:
        parts: name of a command to (``module:attribute``, its line in the list of commands).
    """

    def __init__(self, *args: Any, parts: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"], "max_content_width": 100})
        super().__init__(*args, **kwargs)
        self._parts = parts or {}

    @property
    def lines(self) -> dict[str, str]:
        """Return each command with its line in the list."""
        return {name: line for name, (_, line) in self._parts.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they are meant to be read."""
        return list(self._parts)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return the command."""
        if cmd_name not in self._parts:
            return None
        module, _, attribute = self._parts[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the line names; a near miss is named in the error."""
        name = args[0]
        if name not in self._parts and not name.startswith("-"):
            near = difflib.get_close_matches(name, self._parts, n=1)
            known = f"did you mean `{ctx.command_path} {near[0]}`?" if near else f"see `{ctx.command_path} --help`"
            raise UsageError(f"There is no command {output.printable(name)!r}", hint=known)
        return super().resolve_command(ctx, args)


class RootGroup(LazyGroup):
    """The command ``reverie`` itself: runs a command and turns whatever goes wrong into one line and an exit status."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and leave with its exit status: 0, 1 for an error, 2 for wrong usage."""
        invocation = Invocation()
        extra.setdefault("obj", invocation)
        prog_name = prog_name or "reverie"
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        if args is None:
            _insist_on_utf8()
        output.use_utf8()
        try:
            status = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except Exception as error:  # the outermost frame: whatever it is, a person reads one line, not a traceback
            status = failed(error, debug=invocation.debug)
        sys.exit(status if isinstance(status, int) else 0)


def _insist_on_utf8() -> None:
    """Start over in UTF-8 mode where the locale would have file names read as anything else.

    Notes may have names of any language, and an index must not lose them because a job runs under ``LC_ALL=C``
    (list A, ENC-05).
    """
    if sys.getfilesystemencoding().lower() not in ("utf-8", "utf8") and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


# --- errors ----------------------------------------------------------------------------------------------------


def failed(error: Exception, *, debug: bool) -> int:
    """Print an error and its hint, and return the exit status that it deserves."""
    if isinstance(error, click.Abort):
        return INTERRUPTED
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return error.exit_code
    if debug:
        output.remark("".join(traceback.format_exception(error)).rstrip())
    message, hint, status = _described(error)
    output.remark(f"error: {' '.join(message.split())}")
    if hint:
        output.remark(f"hint: {' '.join(hint.split())}")
    return status


def _described(error: Exception) -> tuple[str, str, int]:
    """Return the message, the hint and the exit status of an error."""
    if isinstance(error, ReverieError):
        return str(error), error.hint, 2 if isinstance(error, UsageError) else 1
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "reverie"
        return error.format_message(), f"see `{path} --help`", error.exit_code
    if isinstance(error, click.ClickException):
        return error.format_message(), "", error.exit_code
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{place}", "", 1
    again = "run it again with --debug to see where it comes from, and please report it"
    return f"internal error: {type(error).__name__}: {error}".rstrip(": "), again, 1
