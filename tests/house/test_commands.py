"""Every command explains itself, and a reader finds it in the documentation."""

import re

import click

from reverie.surfaces.cli import main


def walk(command, context, path=()):
    """Yield (path, command) for the command itself and everything below it."""
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            yield from walk(below, click.Context(below, info_name=name, parent=context), (*path, name))


def commands():
    return [(path, command) for path, command in walk(main, click.Context(main, info_name="reverie")) if path]


def test_every_command_and_every_option_has_help():
    found = []
    for path, command in commands():
        name = " ".join(path)
        if not (command.help or "").strip():
            found.append(name)
        options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
        found += [f"{name} {option.opts[0]}" for option in options if not (option.help or "").strip()]
    assert commands() != []
    assert found == []


def test_every_command_is_in_the_documentation(root):
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    missing = []
    for path, command in commands():
        if command.hidden:
            continue
        # A command may stand on a line of its own, or in a list such as `reverie intent create|list`.
        first, *rest = path
        wanted = rf"\breverie {re.escape(first)}\b" + "".join(rf"[^\n]*\b{re.escape(word)}\b" for word in rest)
        if not re.search(wanted, text):
            missing.append(" ".join(path))
    assert missing == []


def test_every_command_prints_its_help_without_touching_anything(tmp_path, monkeypatch):
    monkeypatch.setenv("REVERIE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for path, _ in commands():
        try:
            main.main(args=[*path, "--help"], prog_name="reverie", standalone_mode=True)
        except SystemExit as ended:
            assert ended.code == 0, path
    assert list(tmp_path.iterdir()) == []
