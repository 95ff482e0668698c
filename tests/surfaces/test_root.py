"""The command itself: its list of commands, and what it does when something goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reverie.core.errors import StoreBusy, UsageError
from reverie.surfaces.cli import parts, root
from reverie.surfaces.cli.parts import Command, RootGroup, failed
from reverie.surfaces.cli.root import main

GROUPS = [main, root.import_group, root.eval_group, root.config_group, root.plugins_group]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_the_list_of_commands_says_what_the_commands_say_themselves(group):
    context = click.Context(group, info_name="reverie")
    said = {name: group.get_command(context, name).get_short_help_str(200) for name in group.list_commands(context)}
    assert said == group.lines


def test_without_a_command_the_help_is_printed_as_wrong_usage(run):
    ran = run()
    assert ran.status == 2
    assert "Commands:" in ran.err
    assert ran.out == ""


def test_a_command_that_does_not_exist_is_wrong_usage_and_the_nearest_is_named(run):
    ran = run("serch", "x")
    assert ran.status == 2
    assert ran.err.splitlines() == ["error: There is no command 'serch'", "hint: did you mean `reverie search`?"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--bogus",),
        ("search", "--bogus", "x"),
        ("search",),
        ("get",),
        ("note",),
        ("config", "set", "a"),
        ("import", "word"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(run, arguments):
    ran = run(*arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["error", "hint"]


def test_the_version_is_the_packages(run):
    assert run("--version").out == f"reverie {root.__version__}\n"


def failing(error):
    @click.command(cls=Command)
    def broken():
        raise error

    group = RootGroup(name="reverie", params=parts.global_options(hidden=False), parts={"broken": ("x:y", "Fail.")})
    group.get_command = lambda context, name: broken
    return group


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (StoreBusy(), 1, ["error: Another process holds the database", "hint: try again in a moment"]),
        (UsageError("no", value=3), 2, ["error: no (value: 3)"]),
        (PermissionError(13, "Permission denied", "/a/b"), 1, ["error: Permission denied: /a/b"]),
        (click.UsageError("two\nlines"), 2, ["error: two lines", "hint: see `reverie broken --help`"]),
    ],
)
def test_an_error_is_one_line_and_its_kind_gives_the_status(capsys, error, status, lines):
    with pytest.raises(SystemExit) as ended:
        failing(error).main(["broken"])
    assert ended.value.code == status
    assert capsys.readouterr().err.splitlines() == lines


def test_what_nobody_expected_is_told_without_a_traceback_unless_it_is_asked_for(capsys):
    group = failing(KeyError("x"))
    with pytest.raises(SystemExit) as ended:
        group.main(["broken"])
    assert ended.value.code == 1
    quiet = capsys.readouterr().err
    assert quiet.startswith("error: internal error: KeyError: 'x'\nhint: run it again with --debug")
    assert "Traceback" not in quiet
    with pytest.raises(SystemExit):
        group.main(["broken", "--debug"])
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_ends_with_130(capsys):
    with pytest.raises(SystemExit) as ended:
        failing(KeyboardInterrupt()).main(["broken"])
    assert ended.value.code == 130
    assert "error" not in capsys.readouterr().err


def test_an_error_message_cannot_move_the_cursor(capsys):
    assert failed(UsageError("\x1b[2Jgone"), debug=False) == 2
    assert "\x1b" not in capsys.readouterr().err


# --- in processes of their own ---------------------------------------------------------------------------------


def test_the_module_is_the_command(process):
    ran = process("--help")
    assert ran.returncode == 0
    assert b"Commands:" in ran.stdout
    assert ran.stderr == b""


def test_a_reader_who_leaves_early_causes_no_noise():
    command = [sys.executable, "-m", "reverie", "config", "get"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False)
    finally:
        os.close(writer)
    assert ran.stderr == b""
    assert ran.returncode == 1


def test_a_full_disk_is_an_error_of_one_line():
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "reverie", "--version"]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False)
    assert ran.returncode == 1
    assert ran.stderr == b"error: No space left on device\n"


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}
