"""``reverie import openclaw|claude-code|codex|chatgpt``: what a person and a program are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.imports import fixtures as made

BUILDERS = {
    "claude-code": made.claude_home,
    "codex": made.codex_home,
    "chatgpt": lambda root: made.chatgpt_zip(root.with_suffix(".zip")),
}


@pytest.mark.parametrize("source", sorted(BUILDERS))
def test_conversations_come_in_once_and_are_found(reverie, tmp_path, source):
    path = str(BUILDERS[source](tmp_path / "their"))
    dry = reverie("import", source, path, "--dry-run")
    assert dry.status == 0
    assert "would come in" in dry.out
    first = reverie("import", source, path, "--mine", "--json").data
    assert first["counts"]["created"] > 0
    assert first["index"]["added"] >= first["counts"]["created"]
    again = reverie("import", source, path, "--mine", "--json").data["counts"]
    assert (again["created"], again["messages"]) == (0, 0)
    word = {"claude-code": "weir", "codex": "barge", "chatgpt": "lamp"}[source]
    hits = reverie("search", word, "--corpus", "sessions", "--json").data["hits"]
    assert {hit["provenance"]["origin"] for hit in hits} <= {"owner", "agent", "untrusted"}
    assert any(hit["provenance"]["origin"] == "owner" for hit in hits)


def test_openclaw_comes_in_with_an_account_of_all_of_it(reverie, tmp_path):
    home = made.openclaw_files(tmp_path / "claw")
    ran = reverie("import", "openclaw", str(home))
    assert ran.status == 0
    for words in (
        "6 new conversations came in",
        "4 notes copied",
        "reverie config set session.dmScope '\"per-peer\"'",
        "Settings without a counterpart:",
        "other agents were left out: yard",
    ):
        assert words in " ".join(ran.out.split()) or words in ran.out
    assert "hidden" not in ran.out
    assert reverie("config", "get", "session.dmScope").out.strip() == "-"


def test_the_proposed_settings_can_be_applied(reverie, tmp_path):
    home = made.openclaw_files(tmp_path / "claw")
    ran = reverie("import", "openclaw", str(home), "--apply-config", "--json")
    assert "session.dmScope" in ran.data["import"]["applied"]["set"]
    assert reverie("config", "get", "session.dmScope").out.strip() == "per-peer"
    assert reverie("config", "check").status == 0


def test_a_place_with_nothing_in_it_is_an_error_in_one_line(reverie, tmp_path):
    for source in (*BUILDERS, "openclaw"):
        ran = reverie("import", source, str(tmp_path / "nowhere"))
        assert ran.status == 1
        assert ran.err.startswith("error: ")
        assert "Traceback" not in ran.err


def test_the_commands_of_the_documentation_are_understood(reverie, tmp_path, monkeypatch):
    home = tmp_path / "home"
    made.openclaw_files(home / ".openclaw")
    made.jsonl(
        home / ".openclaw/agents/yard/sessions/w.jsonl",
        [made.header("w"), made.entry("a", None, 1, made.user("Ship it."))],
    )
    made.claude_home(home / ".claude")
    made.codex_home(home / ".codex")
    made.chatgpt_zip(home / "export.zip")
    (home / "notes").mkdir()
    (home / "notes" / "one.md").write_text("- A note.\n", encoding="utf-8")
    (tmp_path / "state" / "workspace-yard").mkdir(parents=True)
    page = (Path(__file__).parents[2] / "docs" / "import.md").read_text(encoding="utf-8")
    commands = re.findall(r"^reverie ((?:--agent \w+ )?import [^#\n]+)", page, re.MULTILINE)
    assert len(commands) == 9
    for command in commands:
        ran = reverie(*(word.replace("~", str(home)) for word in command.split()))
        assert (ran.status, ran.err) == (0, ""), command
