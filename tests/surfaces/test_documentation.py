"""What the pages say about commands and Python is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from reverie.surfaces.cli.root import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(group, context, path=()):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from commands(command, below, (*path, name))
        else:
            yield (*path, name), command


def every_command():
    return list(commands(main, click.Context(main, info_name="reverie")))


def section(name):
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    return re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("path", "command"), every_command(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_has_a_section_with_every_option_and_a_real_example(path, command):
    found = section(path[0])
    assert found is not None
    text = found[1]
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    names = [max(option.opts, key=len) for option in options if option.opts != ["--json"]]
    assert [name for name in names if name not in text] == []
    assert f"$ reverie {' '.join(path)}" in text


def shown_commands():
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            found = re.match(r"\$ (?:.* \| )?(reverie .*)", line)
            if found:
                yield found[1].split(" | ")[0]


@pytest.mark.parametrize("line", sorted(set(shown_commands())))
def test_every_command_line_on_a_page_can_be_read(line):
    words = shlex.split(line)[1:]
    command, context = main, click.Context(main, info_name="reverie")
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
        context = click.Context(command, info_name=name, parent=context)
    try:
        command.make_context(command.name, words, parent=context)
    except click.BadParameter as error:
        assert "does not exist" in str(error)  # a file of the example


def test_the_python_of_the_readme_runs(reverie, capsys):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    capsys.readouterr()
    exec(compile(program, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert re.search(r"^memory/\d{4}-\d\d-\d\d\.md#L", out, re.MULTILINE)
    assert "owner" in out
    assert "04:30" in out


def test_the_python_of_the_search_page_runs(reverie, capsys):
    assert reverie("note", "We decided to replace the boiler.").status == 0
    page = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    plugin, program = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(plugin, "search.md", "exec"), names)
    made = names["Plugin"]()
    assert list(made.reverie_rerankers()["mine"](None).scores("?", ["tea", "a kiln"])) == [-3.0, -6.0]
    capsys.readouterr()
    exec(compile(program, "search.md", "exec"), {})
    out = capsys.readouterr().out
    assert "['in May']" in out
    assert "boiler" in out


def test_the_readme_is_short_where_it_promises_to_be():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
    for words in ("make demo", "make test", "message in ─ provenance", "MEMORY.md", "index.sqlite"):
        assert words in page
