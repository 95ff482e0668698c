"""Copies of conversations: byte for byte, with a page to read beside them."""

from __future__ import annotations

import pytest

from reverie.core.errors import UsageError
from reverie.core.types import Sender
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.export import export_sessions, folder_of
from reverie.sessions.turns import TurnRecorder

KEY = "agent:main:telegram:direct:7"


@pytest.fixture
def directory(folder):
    return SessionDirectory(folder)


@pytest.fixture
def talk(directory, clock, ids):
    recorder = TurnRecorder(directory, clock, ids)
    turn = recorder.open(KEY, Sender.owner("me"), "Wann fährt die Fähre?\n# no heading")
    turn.tool_result("timetable", "```\n07:10\n", "local", arguments={"quay": "北"})
    turn.reply("Um 07:10.")
    return turn.session


def test_an_export_is_the_transcript_byte_for_byte_and_a_page(directory, talk, tmp_path):
    report = export_sessions(directory, tmp_path / "out", key=KEY)
    place = tmp_path / "out" / folder_of(KEY)
    assert report.written == (str(place / talk.file), str(place / f"{talk.id}.md"))
    assert (place / talk.file).read_bytes() == (directory.folder / talk.file).read_bytes()
    page = (place / f"{talk.id}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {KEY}\n")
    for words in (
        "Wann fährt die Fähre?",
        "\\# no heading",
        "    07:10",
        'calls timetable {"quay": "北"}',
        "Um 07:10.",
    ):
        assert words in page
    assert "## User (owner), 2026-03-02T12:00:00.000Z" in page
    assert (place / talk.file).stat().st_mode & 0o077 == 0


def test_all_exports_every_conversation_with_what_it_had_before(directory, talk, clock, ids, tmp_path):
    directory.rotate(KEY, clock, ids)
    other = directory.get_or_create("agent:main:main", clock, ids)
    report = export_sessions(directory, tmp_path / "out")
    names = {path.rsplit("/", 1)[1] for path in report.written}
    assert {talk.file, other.file} <= names
    assert len(report.written) == 6
    assert export_sessions(directory, tmp_path / "out").written == report.written


def test_forgotten_sessions_are_not_exported(directory, talk, tmp_path):
    report = export_sessions(directory, tmp_path / "out", forgotten={talk.id})
    assert report.written == ()
    assert [one.reason for one in report.skipped] == ["this session was forgotten"]


def test_a_missing_transcript_is_named_and_leaves_no_empty_copy(directory, talk, tmp_path):
    (directory.folder / talk.file).unlink()
    report = export_sessions(directory, tmp_path / "out", key=KEY)
    assert [one.path for one in report.skipped] == [talk.file]
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_an_unknown_session_or_a_file_as_target_is_refused(directory, talk, tmp_path):
    with pytest.raises(UsageError):
        export_sessions(directory, tmp_path / "out", key="agent:main:explicit:none")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError):
        export_sessions(directory, tmp_path / "file")


def test_keys_that_look_alike_get_folders_of_their_own():
    keys = ["agent:main:direct:a-b", "agent:main:direct:a:b", "agent:main:direct:a/b", "agent:main:direct:%2e%2e"]
    assert len({folder_of(key) for key in keys}) == len(keys)
    assert all("/" not in folder_of(key) and ".." not in folder_of(key) for key in keys)
