"""`reverie sessions list`, `show`, `reset` and `compact`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reverie import Memory, Sender

KEY = "agent:main:irc:direct:me"


@pytest.fixture
def talked(reverie):
    """Hold a conversation of some length."""
    with Memory.open() as memory:
        for number in range(30):
            with memory.turn(KEY, f"Beam {number} is sound, says the carpenter Ilvy.", Sender.owner("me")) as turn:
                turn.reply(f"Beam {number} is noted.")
    assert reverie("config", "set", "agents.defaults.compaction.keepRecentTokens", "200").status == 0
    return reverie


def test_without_a_conversation_it_says_so(reverie):
    assert reverie("sessions", "list").out == "There is no conversation yet.\n"
    assert reverie("sessions", "list", "--json").data == {"sessions": [], "ended": []}
    ran = reverie("sessions", "show", KEY)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: There is no such session")


def test_a_conversation_is_listed_shown_and_begun_anew(talked):
    assert talked("sessions", "list").out.splitlines()[2].endswith(KEY)
    shown = talked("sessions", "show", KEY).out
    assert "Beam 0 is sound" in shown and shown.splitlines()[-1].startswith("60 messages")
    ran = talked("sessions", "reset", KEY)
    assert (ran.status, "has ended" in ran.out) == (0, True)
    assert talked("sessions", "reset", KEY).out.startswith("Nothing was said in it yet")
    listed = talked("sessions", "list", "--json").data
    assert [one["reason"] for one in listed["ended"]] == ["reset"]
    assert len(listed["sessions"][0]["older"]) == 1
    assert talked("sessions", "list").out.splitlines()[-1] == "1 ended transcripts wait for ingestion."


def test_a_conversation_is_compacted_once(talked, workspace):
    done = talked("sessions", "compact", KEY, "keep", "the", "beams", "--json").data
    assert (done["done"], done["means"]) == (True, "extract")
    assert done["tokensAfter"] < done["tokensBefore"]
    assert talked("sessions", "compact", KEY).out.startswith("Nothing was compacted: nothing was said since")
    messages = talked("sessions", "show", KEY, "--json").data["messages"]
    assert messages[0]["role"] == "compactionSummary"
    (note,) = (workspace / "memory").glob("*.md")
    assert "Beam 29 is sound" in note.read_text(encoding="utf-8")


def test_a_small_window_makes_room(talked):
    ran = talked("sessions", "compact", KEY, "--window", "600")
    assert ran.out.startswith("Compacted")


def blocks(language):
    page = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_commands_of_the_page_do_what_it_says(talked):
    commands = [line.split() for block in blocks("sh") for line in block.splitlines()]
    assert [command[2] for command in commands] == ["list", "show", "compact", "reset"]
    for _, *arguments in commands:
        ran = talked(*arguments)
        assert (ran.status, ran.err) == (0, ""), arguments


def test_the_example_of_the_page_runs_and_its_configuration_is_understood(talked, state):
    (example,) = blocks("python")
    exec(compile(example, "docs/sessions.md", "exec"), {})
    assert "They are sound." in talked("sessions", "show", KEY).out
    (configuration,) = blocks("json5")
    (state / "reverie.json5").write_text(configuration, encoding="utf-8")
    assert talked("config", "check").out.strip()
    assert talked("config", "get", "session.resetByType.group.idleMinutes", "--json").data == 120
