"""Transcripts reach the index as the lines that were spoken, each with its place and provenance."""

import json
import os
import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.types import Corpus, Sender, SessionKind, Skipped, SourceClass, SourceDocument, SourceProvider
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.messages import Message, Stamp
from reverie.sessions.source import TranscriptSource, rendered_lines, session_in
from reverie.sessions.transcript import FsyncPolicy
from reverie.sessions.turns import TurnRecorder

KEY = "agent:main:cli:direct:me"
ME, BEA = Sender.owner("me"), Sender.guest("bea", channel="irc")


@pytest.fixture
def recorder(folder, clock, ids):
    return TurnRecorder(SessionDirectory(folder), clock, ids, fsync=FsyncPolicy.NEVER)


@pytest.fixture
def source(folder):
    return TranscriptSource(folder)


def path_of(turn):
    return f"sessions/main/{turn.session.id}.jsonl"


def test_a_conversation_becomes_lines_with_their_place(recorder, source, clock, noon):
    turn = recorder.open(KEY, ME, "Where is\n\n the   spare key?")
    turn.tool_result("web", "a page about keys", "network")
    clock.advance(timedelta(minutes=1))
    turn.reply("In the blue pot, a page says.")
    provider: SourceProvider = source
    (stat,) = provider.scan().stats
    assert stat.path == path_of(turn)
    assert stat.size == turn.transcript.path.stat().st_size
    document = provider.read(stat.path)
    assert (document.path, document.curated, document.date, document.notices) == (stat.path, False, clock.now(), ())
    assert [(line.number, line.text) for line in document.lines] == [
        (2, "User: Where is the spare key?"),
        (5, "Assistant: In the blue pot, a page says."),
    ]
    user, assistant = (line.provenance for line in document.lines)
    assert (user.origin, user.kind, user.observed_at, user.session, user.sender) == (
        SourceClass.OWNER,
        SessionKind.INTERACTIVE,
        noon,
        turn.session.id,
        "me",
    )
    assert (assistant.origin, assistant.observed_at) == (SourceClass.UNTRUSTED, clock.now())
    raw = turn.transcript.path.read_text(encoding="utf-8").split("\n")
    assert "In the blue pot" in raw[5 - 1]
    assert source.corpus is Corpus.SESSIONS


def test_iso_06_the_path_names_the_agent_in_its_one_spelling(folder, clock, ids):
    recorder = TurnRecorder(SessionDirectory(folder, "Main-1"), clock, ids)
    turn = recorder.open("agent:MAIN-1:main", ME, "hello")
    source = TranscriptSource(folder, "main 1")
    assert [stat.path for stat in source.scan().stats] == [f"sessions/main-1/{turn.session.id}.jsonl"]
    assert isinstance(source.read(f"sessions/main/{turn.session.id}.jsonl"), Skipped)


def test_a_long_message_is_cut_between_words_and_keeps_its_place(recorder, source):
    text = "a plan of many words " * 120
    turn = recorder.open(KEY, ME, text)
    lines = source.read(path_of(turn)).lines
    assert len(lines) == 4
    assert all(len(line.text) <= 800 and line.number == 2 and line.text.startswith("User: ") for line in lines)
    assert " ".join(line.text.removeprefix("User: ") for line in lines) == text.strip()


@given(st.text(max_size=200), st.integers(8, 60))
def test_cutting_loses_no_character_but_spaces(text, limit):
    lines = rendered_lines("User", text, limit)
    assert all(len(line) <= limit for line in lines)
    assert "".join("".join(line.removeprefix("User: ").split()) for line in lines) == "".join(text.split())


@pytest.mark.parametrize(
    "key",
    [
        "agent:main:cron:nightly:run:1",
        "agent:main:main:heartbeat",
        "agent:main:dreaming-narrative-2",
        "agent:main:main:active-memory:3",
    ],
)
def test_sessions_of_programs_are_skipped_with_the_reason(recorder, source, key):
    turn = recorder.open(key, ME, "go through the inbox")
    turn.reply("I did")
    found = source.read(path_of(turn))
    assert isinstance(found, Skipped)
    assert "which is not searched" in found.reason


def test_noise_02_sub_agents_of_a_cron_job_are_skipped_like_it(recorder, source):
    cron = recorder.open("agent:main:cron:nightly", ME, "go")
    child = recorder.open("agent:main:subagent:a", Sender.unknown(), "a fact", spawned_by=cron.session.key)
    grandchild = recorder.open("agent:main:subagent:b", Sender.unknown(), "a fact", spawned_by=child.session.key)
    assert [type(source.read(path_of(turn))) for turn in (cron, child, grandchild)] == [Skipped] * 3


def test_a_sub_agent_of_a_person_is_searched_but_known_as_one(recorder, source):
    main = recorder.open(KEY, ME, "find it")
    turn = recorder.open("agent:main:subagent:a", ME, "look", spawned_by=main.session.key)
    (line,) = source.read(path_of(turn)).lines
    assert line.provenance.kind is SessionKind.SUBAGENT


def test_a_session_in_which_only_programs_spoke_is_skipped(recorder, source):
    turn = recorder.open(KEY, ME, "System: [12:00] restarted")
    assert source.read(path_of(turn)) == Skipped(path_of(turn), "every line was said by a program")


def test_a_session_that_was_forgotten_does_not_come_back(folder, recorder):
    turn = recorder.open(KEY, ME, "my code is 0000")
    source = TranscriptSource(folder, forgotten=lambda session: session == turn.session.id)
    gone = Skipped(path_of(turn), "this session was forgotten")
    assert source.scan().stats == ()
    assert source.scan().skipped == (gone,)
    assert source.read(path_of(turn)) == gone


def test_only_transcripts_are_listed(folder, source, recorder, tmp_path):
    turn = recorder.open(KEY, ME, "hello")
    header = turn.transcript.path.read_bytes()
    for name in ("old.jsonl.reset.2026-01-01T00-00-00.000Z", "a-topic-%2F7.jsonl"):
        (folder / name).write_bytes(header)
    for name in (
        "x.jsonl.deleted.2026-01-01T00-00-00.000Z",
        "x.jsonl.bak.2026-01-01T00-00-00.000Z",
        "x.trajectory.jsonl",
        "x.checkpoint.0a1b.jsonl",
        "x.jsonl.lock",
        ".reverie-tmp-1.jsonl",
        "notes.md",
    ):
        (folder / name).write_bytes(header)
    (folder / "linked.jsonl").symlink_to(turn.transcript.path)
    os.mkfifo(folder / "pipe.jsonl")
    scan = source.scan()
    assert [stat.path.removeprefix("sessions/main/") for stat in scan.stats] == sorted(
        ["a-topic-%2F7.jsonl", f"{turn.session.id}.jsonl", "old.jsonl.reset.2026-01-01T00-00-00.000Z"]
    )
    assert [(skip.path.removeprefix("sessions/main/"), skip.reason) for skip in scan.skipped] == [
        ("linked.jsonl", "not a file but a symbolic link"),
        ("pipe.jsonl", "not a file but a named pipe"),
    ]
    assert all(isinstance(source.read(stat.path), SourceDocument) for stat in scan.stats)


@pytest.mark.parametrize(
    "path",
    [
        "sessions/main/../x.jsonl",
        "sessions/main/a/b.jsonl",
        "sessions/other/s.jsonl",
        "memory/x.md",
        "",
        "sessions/main/\0.jsonl",
    ],
)
def test_no_path_leads_elsewhere(source, path):
    assert isinstance(source.read(path), Skipped)


def test_files_that_cannot_be_read_are_skipped_by_reason(folder, source, recorder):
    turn = recorder.open(KEY, ME, "hello")
    (folder / "linked.jsonl").symlink_to(turn.transcript.path)
    assert source.read("sessions/main/gone.jsonl") == Skipped("sessions/main/gone.jsonl", "vanished")
    assert source.read("sessions/main/linked.jsonl").reason == "symbolic link"


def test_a_folder_that_is_not_there_is_said_so(source):
    assert "vanished" in source.scan().missing_root


def test_a_new_session_is_an_empty_document(folder, source, clock, ids):
    entry = SessionDirectory(folder).get_or_create(KEY, clock, ids)
    assert source.read(f"sessions/main/{entry.file}").lines == ()


def test_the_hash_changes_with_what_was_said_only(recorder, source):
    turn = recorder.open(KEY, ME, "hello")
    first = source.read(path_of(turn)).hash
    turn.tool_result("read", "x" * 1000, "local")
    assert source.read(path_of(turn)).hash == first
    turn.reply("hi")
    assert source.read(path_of(turn)).hash != first


def test_trans_04_lines_that_cannot_be_read_are_noticed_once(recorder, source):
    turn = recorder.open(KEY, ME, "hello")
    with turn.transcript.path.open("ab") as file:
        file.write(b"{broken\n[]\n")
    turn.reply("still here")
    document = source.read(path_of(turn))
    assert [line.text for line in document.lines] == ["User: hello", "Assistant: still here"]
    assert [line.number for line in document.lines] == [2, 5]
    name = turn.transcript.path.name
    assert document.notices == (f"{name}: skipped 2 lines that cannot be read (lines 3, 4)",)


def test_trans_02_a_transcript_without_its_header_is_known_by_the_directory(recorder, source, folder):
    turn = recorder.open(KEY, ME, "hello")
    damaged = turn.transcript.path.read_bytes()[12:]
    turn.transcript.path.write_bytes(damaged)
    (line,) = source.read(path_of(turn)).lines
    assert line.provenance.kind is SessionKind.INTERACTIVE
    (folder / "sessions.json").unlink()
    (line,) = TranscriptSource(folder).read(path_of(turn)).lines
    assert (line.provenance.kind, line.provenance.origin) == (SessionKind.UNKNOWN, SourceClass.OWNER)
    assert turn.transcript.path.read_bytes() == damaged


def test_a_directory_that_cannot_be_read_makes_nobody_a_person(recorder, source, folder):
    turn = recorder.open(KEY, ME, "hello")
    (folder / "sessions.json").unlink()
    (folder / "sessions.json").mkdir()
    document = TranscriptSource(folder).read(path_of(turn))
    assert document.lines[0].provenance.kind is SessionKind.UNKNOWN
    assert "session directory cannot be read" in document.notices[0]


def test_a_transcript_of_openclaw_is_read_as_it_stands(folder, source):
    folder.mkdir(parents=True)
    rows = [
        {"type": "session", "version": 3, "id": "oc-1", "timestamp": "2026-02-11T19:00:00.000Z", "cwd": "/home/ada"},
        {"type": "model_change", "id": "00000001", "parentId": None, "timestamp": "2026-02-11T19:00:00.000Z", "provider": "p", "modelId": "m"},
        {"type": "message", "id": "00000002", "parentId": "00000001", "timestamp": "2026-02-11T19:04:07.000Z",
         "message": {"role": "user", "content": "Sender (untrusted metadata):\n```json\n{\"id\": 7}\n```\nThe boiler is serviced in May", "timestamp": 1770836647000, "__openclaw": {"senderId": "u7", "senderIsOwner": True}}},
        {"type": "message", "id": "00000003", "parentId": "00000002", "timestamp": "2026-02-11T19:04:09.000Z",
         "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}], "timestamp": 1770836649000}},
    ]  # fmt: skip
    (folder / "oc-1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "oc-1"}}), encoding="utf-8")
    document = source.read("sessions/main/oc-1.jsonl")
    assert [(line.number, line.text, line.provenance.origin) for line in document.lines] == [
        (3, "User: The boiler is serviced in May", SourceClass.OWNER),
        (4, "Assistant: Noted.", SourceClass.AGENT),
    ]
    assert document.lines[0].provenance.kind is SessionKind.INTERACTIVE
    assert document.date == datetime(2026, 2, 11, 19, 4, 9, tzinfo=UTC)


def test_act_07_a_transcript_is_read_line_by_line(transcript, noon):
    stamp = Stamp(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE)
    output = "x" * 500_000
    for number in range(40):  # 20 MB of tool output between a few words
        transcript.append(Message.tool_result("t", f"c{number}", output, noon, stamp))
    transcript.append(Message.user("only this", noon, Stamp(SourceClass.OWNER, sender=ME)))
    source = TranscriptSource(transcript.path.parent)
    tracemalloc.start()
    document = source.read("sessions/main/s1.jsonl")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [line.text for line in document.lines] == ["User: only this"]
    assert peak < 6_000_000


def test_a_scan_looks_at_no_content(folder, source, recorder, monkeypatch):
    for number in range(5):
        recorder.open(f"agent:main:explicit:{number}", ME, "hello")

    def refused(*_, **__):
        raise AssertionError("a scan must not open files")

    monkeypatch.setattr(os, "open", refused)
    assert len(source.scan().stats) == 5


def test_iso_01_lines_of_two_peers_come_from_two_documents(recorder, source):
    ann = recorder.open("agent:main:irc:direct:ann", Sender.guest("ann", channel="irc"), "I take pills for my heart")
    bob = recorder.open("agent:main:irc:direct:bob", Sender.guest("bob", channel="irc"), "which pills?")
    assert [line.provenance.sender for line in source.read(path_of(ann)).lines] == ["ann"]
    assert [line.text for line in source.read(path_of(bob)).lines] == ["User: which pills?"]


def test_names_are_transcripts_or_not():
    assert session_in("a.b.jsonl") == "a.b"
    assert session_in("s.jsonl.reset.2026-01-01T00-00-00.000Z") == "s"
    assert session_in("s.jsonl.reset.") is None
    assert session_in(".jsonl") is None
