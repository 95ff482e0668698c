"""The directory knows which transcript continues a conversation, and loses nothing that others wrote into it."""

import json
import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

import reverie
from reverie.core.clock import CountingIds, RandomIds
from reverie.core.errors import PathNotAllowed, TranscriptError, UsageError
from reverie.core.types import ChatType, SessionKind
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.keys import parse_key

KEY = "agent:main:main"


@pytest.fixture
def directory(folder):
    return SessionDirectory(folder)


def stored(folder):
    return json.loads((folder / "sessions.json").read_text(encoding="utf-8"))


def test_a_conversation_begins_once_and_is_found_again(directory, folder, clock, ids, noon):
    entry = directory.get_or_create(KEY, clock, ids)
    assert (entry.key, entry.file, entry.chat, entry.kind) == (
        KEY,
        f"{entry.id}.jsonl",
        ChatType.DIRECT,
        SessionKind.INTERACTIVE,
    )
    assert (entry.started_at, entry.updated_at) == (noon, noon)
    clock.advance(timedelta(hours=1))
    assert directory.get_or_create(KEY, clock, ids) == entry
    assert SessionDirectory(folder).get(KEY) == entry
    assert directory.transcript(entry, clock, ids).read().header.key == KEY
    assert (folder / "sessions.json").stat().st_mode & 0o777 == 0o600


def test_two_spellings_of_a_key_are_one_conversation(directory, clock, ids):
    one = directory.get_or_create("agent:Main:Telegram:DM:123", clock, ids)
    assert directory.get("agent:main:telegram:direct:123") == one
    assert len(directory.list()) == 1


def test_listing_begins_with_what_was_used_last(directory, clock, ids):
    for name in ("a", "b", "c"):
        directory.get_or_create(f"agent:main:explicit:{name}", clock, ids)
        clock.advance(timedelta(minutes=1))
    directory.touch("agent:main:explicit:a", clock)
    assert [entry.key[-1] for entry in directory.list()] == ["a", "c", "b"]
    assert directory.get("agent:main:explicit:a").last_interaction_at == clock.now()
    assert directory.get("agent:main:explicit:b").last_interaction_at is None


def test_a_rotation_goes_on_in_a_new_transcript_and_keeps_the_old_one(directory, folder, clock, ids):
    first = directory.get_or_create(KEY, clock, ids)
    clock.advance(timedelta(days=1))
    second = directory.rotate(KEY, clock, ids)
    third = directory.rotate(KEY, clock, ids)
    assert (second.older, third.older) == ((first.id,), (first.id, second.id))
    assert second.started_at == clock.now()
    assert sorted(path.name for path in folder.glob("*.jsonl")) == sorted(
        entry.file for entry in (first, second, third)
    )
    assert directory.get(KEY) == third
    assert {directory.key_of(entry.id) for entry in (first, second, third)} == {KEY}
    assert directory.key_of("nobody") == ""


def test_what_is_not_understood_is_written_back(directory, folder, clock, ids):
    folder.mkdir(parents=True)
    rows = {
        KEY: {
            "sessionId": "old",
            "sessionFile": "/elsewhere/old.jsonl",
            "novel": {"deep": [1]},
            "label": "Küche",
            "chatType": "dm",
        },
        "agent:other:main": {"sessionId": "x"},
        "odd": "not a row",
    }
    (folder / "sessions.json").write_text(json.dumps(rows), encoding="utf-8")
    directory.touch(KEY, clock)
    directory.get_or_create("agent:main:explicit:new", clock, ids)
    found = stored(folder)
    assert {name: found[KEY][name] for name in rows[KEY]} == rows[KEY]
    assert (found["agent:other:main"], found["odd"]) == (rows["agent:other:main"], "not a row")
    entry = directory.get(KEY)
    assert (entry.label, entry.file, entry.chat) == ("Küche", "old.jsonl", ChatType.DIRECT)
    assert (folder / "sessions.json").read_text(encoding="utf-8").startswith('{\n  "')


def test_a_row_cannot_point_out_of_its_folder(directory, folder, clock, ids):
    folder.mkdir(parents=True)
    (folder.parent / "evil.jsonl").write_text("{}\n", encoding="utf-8")
    (folder / "s.jsonl").symlink_to(folder.parent / "evil.jsonl")
    for named in ("../evil.jsonl", str(folder.parent / "evil.jsonl"), "a/../../evil.jsonl", "x\0y"):
        (folder / "sessions.json").write_text(
            json.dumps({KEY: {"sessionId": "s", "sessionFile": named}}), encoding="utf-8"
        )
        entry = directory.get(KEY)
        assert entry.file == "s.jsonl"
        with pytest.raises(PathNotAllowed):
            directory.transcript(entry, clock, ids)


@pytest.mark.parametrize("damage", [b'{"agent:main:main": {"sess', b"[]", b"null", b"\0\0\0", b"\xff\xfe{}", b"", None])
def test_a_damaged_directory_is_kept_aside_and_made_again_from_the_transcripts(directory, folder, clock, ids, damage):
    first = directory.get_or_create(KEY, clock, ids)
    clock.advance(timedelta(days=1))
    second = directory.rotate(KEY, clock, ids)
    if damage is None:
        (folder / "sessions.json").unlink()
    else:
        (folder / "sessions.json").write_bytes(damage)
    found = SessionDirectory(folder).get(KEY)
    assert (found.id, found.older) == (second.id, (first.id,))
    directory.get_or_create("agent:main:explicit:new", clock, ids)
    assert [copy.read_bytes() for copy in folder.glob("sessions.json.corrupt-*")] == ([damage] if damage else [])
    assert set(stored(folder)) == {KEY, "agent:main:explicit:new"}
    assert directory.get(KEY).id == second.id


def test_a_lost_transcript_begins_anew_and_is_remembered(directory, folder, clock, ids):
    first = directory.get_or_create(KEY, clock, ids)
    (folder / first.file).unlink()
    second = directory.get_or_create(KEY, clock, ids)
    assert second.id != first.id
    assert second.older == (first.id,)


def test_ids_that_repeat_never_overwrite_a_transcript(directory, folder, clock):
    for name in "abc":
        directory.get_or_create(f"agent:main:explicit:{name}", clock, CountingIds())
    assert len({entry.id for entry in directory.list()}) == 3
    assert len(list(folder.glob("*.jsonl"))) == 3


def test_a_session_that_a_group_has_read_stays_a_groups(directory, clock, ids):
    assert directory.get_or_create(KEY, clock, ids).chat is ChatType.DIRECT
    assert directory.get_or_create(KEY, clock, ids, chat=ChatType.GROUP).chat is ChatType.GROUP
    assert directory.get_or_create(KEY, clock, ids, chat=ChatType.DIRECT).chat is ChatType.GROUP
    group = directory.get_or_create("agent:main:irc:group:#tea", clock, ids, chat=ChatType.DIRECT)
    assert group.chat is ChatType.GROUP


def test_noise_02_what_a_cron_job_starts_is_cron_however_deep(directory, clock, ids):
    cron = directory.get_or_create("agent:main:cron:nightly:run:1", clock, ids)
    child = directory.get_or_create("agent:main:subagent:a", clock, ids, spawned_by=cron.key)
    grandchild = directory.get_or_create("agent:main:subagent:b", clock, ids, spawned_by=child.key)
    assert [entry.kind for entry in (cron, child, grandchild)] == [SessionKind.CRON] * 3
    assert directory.kind_of(parse_key("agent:main:subagent:b")) is SessionKind.CRON
    main = directory.get_or_create(KEY, clock, ids)
    assert (
        directory.get_or_create("agent:main:subagent:c", clock, ids, spawned_by=main.key).kind is SessionKind.SUBAGENT
    )
    disguised = directory.get_or_create("agent:main:explicit:d", clock, ids, spawned_by=cron.key)
    assert disguised.kind is SessionKind.CRON


def test_ancestors_in_a_circle_end(directory, clock, ids):
    directory.get_or_create("agent:main:explicit:a", clock, ids, spawned_by="agent:main:explicit:b")
    entry = directory.get_or_create("agent:main:explicit:b", clock, ids, spawned_by="agent:main:explicit:a")
    assert entry.kind is SessionKind.SUBAGENT


def test_a_row_cannot_raise_the_kind_of_its_session(directory, folder):
    folder.mkdir(parents=True)
    rows = {
        "agent:main:cron:x": {"sessionId": "a", "__reverie": {"kind": "interactive"}},
        "agent:main:explicit:y": {"sessionId": "b", "__reverie": {"kind": "cron"}},
        "agent:main:explicit:z": {"sessionId": "c", "__reverie": {"kind": "royal"}},
    }
    (folder / "sessions.json").write_text(json.dumps(rows), encoding="utf-8")
    assert {entry.id: entry.kind for entry in directory.list()} == {
        "a": SessionKind.CRON,
        "b": SessionKind.CRON,
        "c": SessionKind.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("agent:other:main", "another agent"),
        ("cron:nightly", "no agent"),
        ("nonsense", "no agent"),
        ("agent:main:dashboard:incognito-1", "incognito"),
    ],
)
def test_iso_13_what_belongs_to_nobody_here_is_not_kept(directory, folder, clock, ids, key, why):
    with pytest.raises(UsageError, match=why):
        directory.get_or_create(key, clock, ids)
    assert not folder.exists()


def test_iso_06_any_spelling_of_the_agent_reaches_its_sessions(folder, clock, ids):
    directory = SessionDirectory(folder, "Main-1")
    entry = directory.get_or_create("agent:MAIN-1:main", clock, ids)
    assert directory.get("agent:main-1:main") == entry
    directory.touch("agent:Main-1:Main", clock)
    assert directory.rotate("agent:main 1:main", clock, ids).older == (entry.id,)


def test_the_main_session_may_have_another_name(folder, clock, ids):
    directory = SessionDirectory(folder, main_key="home")
    assert directory.get_or_create("agent:main:home", clock, ids).chat is ChatType.DIRECT


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path, clock, ids):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "sessions.json").mkdir()
    for folder, reason in [(tmp_path / "file" / "sessions", "vanished|Not a directory"), (tmp_path, "folder")]:
        with pytest.raises(TranscriptError, match=reason):
            SessionDirectory(folder).get_or_create(KEY, clock, ids)


def test_threads_that_begin_the_same_conversation_share_it(folder, clock):
    found = []

    def begin(number):
        directory = SessionDirectory(folder)
        found.append(directory.get_or_create(KEY, clock, RandomIds()).id)
        directory.get_or_create(f"agent:main:explicit:{number}", clock, RandomIds())

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(SessionDirectory(folder).list()) == 7


CREATOR = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.clock import FixedClock, RandomIds
from reverie.sessions.directory import SessionDirectory

clock, directory = FixedClock(datetime(2026, 3, 2, tzinfo=UTC)), SessionDirectory(Path(sys.argv[1]))
for number in range(12):
    directory.get_or_create(f"agent:main:explicit:{sys.argv[2]}-{number}", clock, RandomIds())
    directory.get_or_create(f"agent:main:explicit:shared-{number}", clock, RandomIds())
"""


def test_two_processes_lose_no_row(folder):
    environment = os.environ | {"PYTHONPATH": str(Path(reverie.__file__).parents[1])}
    children = [subprocess.Popen([sys.executable, "-c", CREATOR, str(folder), name], env=environment) for name in "ab"]
    assert [child.wait(timeout=60) for child in children] == [0, 0]
    entries = SessionDirectory(folder).list()
    assert len(entries) == 36
    assert all((folder / entry.file).exists() for entry in entries)


def test_a_rotation_that_comes_second_does_nothing(folder, clock, ids):
    directory = SessionDirectory(folder)
    first = directory.get_or_create("agent:main:main", clock, ids)
    second = directory.rotate("agent:main:main", clock, ids, expected=first.id)
    again = SessionDirectory(folder).rotate("agent:main:main", clock, ids, expected=first.id)
    assert second.id != first.id
    assert (again.id, again.older) == (second.id, (first.id,))


def test_counters_of_a_transcript_end_with_it_and_everything_else_stays(folder, clock, ids):
    directory = SessionDirectory(folder)
    directory.get_or_create("agent:main:main", clock, ids, label="Attic")
    kept = {"compactionCount": 2, "memoryFlushAt": 5, "thinkingLevel": "low", "__reverie": {"kind": "cron", "cache": 1}}
    directory.update("agent:main:main", lambda row: row.update(kept))
    row = directory.rotate("agent:main:main", clock, ids).data
    assert {name: row.get(name) for name in kept} == {
        "compactionCount": None,
        "memoryFlushAt": None,
        "thinkingLevel": "low",
        "__reverie": {"kind": "cron"},
    }
    assert row["label"] == "Attic"


def test_a_row_that_is_not_there_cannot_be_changed(folder):
    with pytest.raises(UsageError):
        SessionDirectory(folder).update("agent:main:main", lambda row: row.update(a=1))
