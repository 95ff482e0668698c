"""``reverie sessions maintain`` and ``reverie sessions export``."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from reverie import Memory, Sender
from reverie.core.clock import FixedClock, SystemClock


@pytest.fixture
def old_talk(reverie, state, workspace):
    """A session of a peer that was used half a year ago."""
    clock = FixedClock(SystemClock("UTC").now() - timedelta(days=180))
    key = "agent:main:telegram:direct:7"
    with Memory.open(clock=clock) as memory, memory.turn(key, "The ferry is blue.", Sender.owner("7")) as turn:
        turn.reply("Noted.")
    return key


def test_a_dry_run_names_what_would_go_and_changes_nothing(reverie, old_talk, state):
    ran = reverie("sessions", "maintain", "--dry-run")
    assert ran.status == 0
    assert f"remove row {old_talk}" in ran.out
    assert "It would be 0 sessions of 1" in ran.out
    rows = json.loads((state / "agents/main/sessions/sessions.json").read_text(encoding="utf-8"))
    assert list(rows) == [old_talk]


def test_maintenance_lists_its_steps_in_order_and_does_them(reverie, old_talk, state):
    ran = reverie("sessions", "maintain", "--json")
    assert ran.data["applied"] is True
    assert ran.data["steps"] == [
        "prune stale",
        "cap count",
        "archive transcripts",
        "purge archives",
        "rotate store",
        "enforce disk budget",
    ]
    assert [deed["act"] for deed in ran.data["deeds"]] == ["remove row", "archive file"]
    assert json.loads((state / "agents/main/sessions/sessions.json").read_text(encoding="utf-8")) == {}


def test_forget_06_an_archived_transcript_is_no_longer_found_and_the_command_says_so(reverie, old_talk):
    found = ("search", "ferry", "--corpus", "sessions", "--json")
    assert reverie(*found).data["hits"] != []
    assert "no longer searched" in reverie("sessions", "maintain").out
    assert reverie(*found).data["hits"] == []


def test_the_configuration_can_make_it_warn_only(reverie, old_talk):
    assert reverie("config", "set", "session.maintenance.mode", "warn").status == 0
    ran = reverie("sessions", "maintain", "--json")
    assert (ran.data["applied"], ran.data["mode"], len(ran.data["deeds"])) == (False, "warn", 2)
    assert reverie("config", "set", "session.maintenance.pruneAfter", "365d").status == 0
    assert reverie("sessions", "maintain", "--json").data["deeds"] == []


def test_a_session_is_exported_by_its_key_and_all_without_one(reverie, old_talk, tmp_path):
    ran = reverie("sessions", "export", old_talk, str(tmp_path / "out"))
    assert ran.status == 0
    assert len([path for path in (tmp_path / "out").rglob("*") if path.is_file()]) == 2
    assert len(reverie("sessions", "export", "--all", str(tmp_path / "all"), "--json").data["written"]) == 2
    assert reverie("sessions", "export", str(tmp_path / "out")).status == 2
