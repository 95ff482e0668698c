"""The examples of docs/trust.md do what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.surfaces.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "trust.md"


def examples() -> list[tuple[str, list[str]]]:
    """Return every command of the page with the lines that it prints; an ellipsis stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> str:
    rest = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in lines]
    return "\n".join(rest).replace("\n.*\n", "\n(?:.*\n)?")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REVERIE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("REVERIE_WORKSPACE", str(tmp_path / "notes"))

    def call(*arguments: str) -> str:
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    call("init")
    call("config", "set", "memory.search.provider", "none")
    return call


def test_the_commands_print_what_the_page_shows(run, tmp_path: Path) -> None:
    commands = examples()
    assert len(commands) > 5
    for command, lines in commands:
        program, *arguments = shlex.split(command)
        if program == "cat":
            (tmp_path / arguments[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        assert program == "reverie"
        printed = run(*arguments).rstrip("\n")
        assert re.fullmatch(pattern(lines), printed, re.DOTALL), f"{command}\n{printed}"


def test_the_page_names_every_class_and_gate() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for word in ("`owner`", "`agent`", "`system`", "`untrusted`", "memory_remember", "tools.external", "tools.trusted"):
        assert word in text
