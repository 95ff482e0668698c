"""A transcript keeps every acknowledged word, and says what it could not read."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reverie
from reverie.core.clock import CountingIds, FixedClock, RandomIds
from reverie.core.errors import TranscriptError
from reverie.core.provenance import ContentSource
from reverie.core.types import Sender, SessionKind, SourceClass
from reverie.sessions.lines import last_lines, read_lines
from reverie.sessions.messages import Block, Message, MessageRole, Stamp, message_from_json, message_to_json
from reverie.sessions.transcript import FsyncPolicy, Transcript

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
OWNER = Stamp(SourceClass.OWNER, SessionKind.INTERACTIVE, Sender.owner("me"))


def said(text):
    return Message.user(text, NOON, OWNER)


def texts(messages):
    return [message.text for message in messages]


def lines_of(path):
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


# --- the format ------------------------------------------------------------------------------------------------


def test_a_transcript_begins_with_its_header_and_grows_by_lines(transcript, folder):
    first = transcript.append(said("Where is the spare key?"))
    second = transcript.append(Message.assistant("In the blue pot.", NOON, Stamp(SourceClass.AGENT)))
    header, one, two = (json.loads(line) for line in lines_of(folder / "s1.jsonl"))
    assert header == {
        "type": "session",
        "version": 3,
        "id": "s1",
        "timestamp": "2026-03-02T12:00:00.000Z",
        "cwd": "",
        "__reverie": {"sessionKey": "agent:main:main"},
    }
    assert (one["type"], one["id"], one["parentId"], one["timestamp"]) == (
        "message",
        first,
        None,
        "2026-03-02T12:00:00.000Z",
    )
    assert one["message"] == {
        "role": "user",
        "content": [{"type": "text", "text": "Where is the spare key?"}],
        "timestamp": 1772452800000,
        "__reverie": {
            "origin": "owner",
            "kind": "interactive",
            "sender": {"id": "me", "channel": "cli", "account": "default", "isOwner": True},
        },
    }
    assert (two["id"], two["parentId"]) == (second, first)
    assert two["message"]["stopReason"] == "stop"
    assert all(len(ident) == 8 and int(ident, 16) >= 0 for ident in (first, second))


def test_a_transcript_is_for_its_owner_only(transcript, folder):
    assert (folder / "s1.jsonl").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_tool_result_keeps_what_it_declared(transcript):
    stamp = Stamp(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE, source=ContentSource.NETWORK)
    transcript.append(Message.tool_result("fetch", "call-1", "<html>", NOON, stamp))
    (entry,) = transcript.read().messages
    assert (entry.message.tool, entry.message.fields["toolCallId"], entry.message.stamp) == ("fetch", "call-1", stamp)


def test_an_existing_transcript_is_never_made_anew(transcript, clock, ids):
    transcript.append(said("keep me"))
    with pytest.raises(TranscriptError, match="there already"):
        Transcript.create(transcript.path, session="s1", clock=clock, ids=ids)
    assert texts(transcript.branch()) == ["keep me"]


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 129, "naïve", "a\n"])
def test_only_a_session_id_names_a_transcript(folder, clock, ids, name):
    with pytest.raises(TranscriptError, match="session id"):
        Transcript.create(folder / "x.jsonl", session=name, clock=clock, ids=ids)


def test_a_missing_transcript_cannot_be_opened(folder, clock, ids):
    with pytest.raises(TranscriptError, match="vanished"):
        Transcript.open(folder / "none.jsonl", clock=clock, ids=ids)


def test_what_json_cannot_hold_is_refused_and_nothing_is_written(transcript):
    before = transcript.path.read_bytes()
    with pytest.raises(TranscriptError, match="not written"):
        transcript.append_entry("custom", {"customType": "x", "data": float("nan")})
    assert transcript.path.read_bytes() == before
    transcript.append(said("and on we go"))
    assert texts(transcript.branch()) == ["and on we go"]


def test_short_ids_do_not_repeat_even_when_the_source_of_ids_does(transcript, clock):
    for _ in range(5):
        again = Transcript.open(transcript.path, clock=clock, ids=CountingIds(), fsync=FsyncPolicy.NEVER)
        again.append(said("again"))
    found = [entry.id for entry in transcript.read().entries]
    assert len(set(found)) == 5
    assert len(transcript.branch()) == 5


# --- round trips -----------------------------------------------------------------------------------------------

words = st.text(max_size=60) | st.sampled_from(
    ["", "\u2028\u2029\x85", "\x00", "🦊" * 3, "line\r\nfeed\n", "\ud800", "null", "{}"]
)
moments = st.datetimes(
    min_value=NOON.replace(tzinfo=None, year=1990), max_value=NOON.replace(tzinfo=None, year=2200)
).map(lambda at: at.replace(tzinfo=UTC, microsecond=at.microsecond // 1000 * 1000))
senders = st.builds(
    Sender,
    id=words.filter(bool),
    channel=words.filter(bool),
    account=words.filter(bool),
    is_owner=st.booleans(),
    is_bot=st.booleans(),
    name=words,
)
stamps = st.builds(
    Stamp,
    origin=st.sampled_from(SourceClass),
    kind=st.sampled_from(SessionKind),
    sender=st.none() | senders,
    tainted=st.booleans(),
    source=st.none() | st.sampled_from(ContentSource),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    lambda name, given: Block("toolCall", {"id": "c", "name": name, "arguments": given}),
    words,
    st.dictionaries(words, values, max_size=2),
)
messages = st.one_of(
    st.builds(Message.user, words, moments, stamps),
    st.builds(Message.assistant, words, moments, stamps, model=words, calls=st.lists(calls, max_size=2).map(tuple)),
    st.builds(Message.tool_result, words, words, words, moments, stamps, failed=st.booleans()),
    st.builds(lambda text, at: Message(MessageRole.USER, (Block.of_text(text),), at, plain=True), words, moments),
    st.builds(
        lambda fields, at: Message(MessageRole.OTHER, (), at, fields=fields, named="oracle"),
        st.dictionaries(st.sampled_from(["a", "b"]), values),
        moments,
    ),
)


@given(messages)
def test_a_message_reads_back_from_json_as_it_was(message):
    assert message_from_json(json.loads(json.dumps(message_to_json(message)))) == message


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(messages, max_size=6))
def test_messages_read_back_from_a_transcript_as_they_were(tmp_path_factory, given_messages):
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    transcript = Transcript.create(
        path, session="s", clock=FixedClock(NOON), ids=CountingIds(), fsync=FsyncPolicy.NEVER
    )
    acknowledged = [transcript.append(message) for message in given_messages]
    found = transcript.read()
    assert [entry.message for entry in found.messages] == given_messages
    assert [entry.id for entry in found.messages] == acknowledged
    assert found.notices == ()
    assert [entry.id for entry in transcript.latest()] == acknowledged[::-1]
    assert transcript.branch() == tuple(given_messages)


@settings(max_examples=40)
@given(st.lists(st.binary(max_size=300) | st.just(b"x" * 70_000), max_size=8), st.booleans())
def test_a_file_read_from_either_end_has_the_same_lines(tmp_path_factory, raw, ended):
    path = tmp_path_factory.mktemp("t") / "lines"
    rows = [
        json.dumps({"n": n, "x": piece.decode("latin-1")}).encode() if n % 3 else piece for n, piece in enumerate(raw)
    ]
    path.write_bytes(b"\n".join(rows) + (b"\n" if ended else b""))
    forwards = [line.data for line in read_lines(path) if line.data is not None]
    assert list(last_lines(path)) == forwards[::-1]


def test_a_huge_message_reads_back(transcript):
    text = "长 text 🦊 " * 400_000
    transcript.append(said(text))
    assert texts(transcript.branch()) == [text]
    assert [entry.message.text for entry in transcript.latest()] == [text]


def test_fields_that_are_not_understood_are_kept(transcript):
    foreign = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}, {"type": "hologram", "x": 1}],
        "usage": {"input": 3},
        "novel": [1, 2],
        "timestamp": 1772452800000,
    }
    transcript.append(message_from_json(foreign))
    assert json.loads(lines_of(transcript.path)[1])["message"] == foreign


@pytest.mark.parametrize(
    "stamp",
    [
        {"origin": "emperor"},
        {"origin": 1, "kind": []},
        {"sender": {"isOwner": "yes"}, "tainted": "no"},
        {"origin": "owner", "kind": "Interactive "},
    ],
)
def test_a_stamp_that_cannot_be_read_counts_as_the_least(stamp):
    found = message_from_json({"role": "user", "content": "x", "__reverie": stamp}).stamp
    assert found.kind is SessionKind.UNKNOWN
    assert found.origin is SourceClass.UNTRUSTED or stamp["origin"] == "owner"
    assert found.sender is None or not found.sender.is_owner
    assert found.tainted == ("tainted" in stamp)


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-02T12:00:00+00:00",
        "2026-03-02 12:00:00",
        "2026-03-02T12:00:00Z",
        1772452800000,
        1772452800.0,
        "1772452800000",
        "2026-03-02T20:00:00+08:00",
    ],
)
def test_time_05_every_spelling_of_a_time_is_the_same_moment(value):
    assert message_from_json({"role": "user", "content": "x", "timestamp": value}).at == NOON


@pytest.mark.parametrize("value", ["soon", None, True, 1e300, [], float("inf")])
def test_time_05_what_is_no_time_is_none_and_is_kept(value):
    message = message_from_json({"role": "user", "content": "x", "timestamp": value})
    assert message.at is None
    assert message.fields["timestamp"] is value


# --- damage ----------------------------------------------------------------------------------------------------


def filled(transcript, count):
    transcript.append_all([said(f"message {number}") for number in range(count)])
    return [f"message {number}" for number in range(count)]


def test_trans_02_a_damaged_header_costs_no_message_and_no_byte(transcript, clock, ids):
    expected = filled(transcript, 50)
    header, rest = transcript.path.read_bytes().split(b"\n", 1)
    damaged = header[:12] + b"\n" + rest
    transcript.path.write_bytes(damaged)

    again = Transcript.open(transcript.path, clock=clock, ids=ids)
    found = again.read()
    assert [entry.message.text for entry in found.messages] == expected
    assert texts(again.branch()) == expected
    assert found.notices == ("s1.jsonl: the header is damaged; its messages were read all the same",)
    assert transcript.path.read_bytes() == damaged

    again.append(said("one more"))
    assert transcript.path.read_bytes().startswith(damaged)
    assert texts(again.branch()) == [*expected, "one more"]


def test_trans_02_a_repair_copies_the_file_first_and_keeps_every_other_line(transcript, clock, ids):
    filled(transcript, 50)
    header, rest = transcript.path.read_bytes().split(b"\n", 1)
    rest += b'{"torn": '
    damaged = header[:12] + b"\n" + rest
    transcript.path.write_bytes(damaged)
    again = Transcript.open(transcript.path, clock=clock, ids=ids)
    backup = again.repair()
    assert backup.name == "s1.jsonl.bak.2026-03-02T12-00-00.000Z"
    assert backup.read_bytes() == damaged
    new_header, new_rest = transcript.path.read_bytes().split(b"\n", 1)
    assert new_rest == rest
    assert json.loads(new_header)["id"] == "s1"
    assert again.read().header_fault == ""
    assert again.repair() is None


def test_a_missing_header_is_put_before_the_first_entry(transcript):
    expected = filled(transcript, 3)
    rest = transcript.path.read_bytes().split(b"\n", 1)[1]
    transcript.path.write_bytes(rest)
    assert [entry.message.text for entry in transcript.read().messages] == expected
    transcript.repair()
    assert transcript.path.read_bytes().split(b"\n", 1)[1] == rest
    assert [entry.message.text for entry in transcript.read().messages] == expected


def test_trans_03_a_repair_that_fails_leaves_the_original_and_names_the_copy(transcript, monkeypatch):
    filled(transcript, 10)
    damaged = b"{oops\n" + transcript.path.read_bytes().split(b"\n", 1)[1]
    transcript.path.write_bytes(damaged)
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 2:  # the first is of the copy, the second of the repaired file
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TranscriptError, match="could not be repaired") as raised:
        transcript.repair()
    assert transcript.path.read_bytes() == damaged
    assert Path(raised.value.fields["backup"]).read_bytes() == damaged
    assert "no space left" in str(raised.value)
    assert not [path for path in transcript.path.parent.iterdir() if path.name.startswith(".reverie-tmp")]


def test_trans_03_a_copy_that_fails_means_no_repair(transcript, monkeypatch):
    damaged = b"{oops\n" + transcript.path.read_bytes()
    transcript.path.write_bytes(damaged)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TranscriptError) as raised:
        transcript.repair()
    assert raised.value.fields["backup"] is None
    assert sorted(path.name for path in transcript.path.parent.glob("s1*")) == ["s1.jsonl"]
    assert transcript.path.read_bytes() == damaged


def test_trans_04_bad_lines_are_passed_over_counted_and_named_once(transcript, clock, ids):
    expected = filled(transcript, 144)
    assert transcript.read().notices == ()
    rows = transcript.path.read_bytes().split(b"\n")
    for number, junk in [(20, b'{"type":"mess'), (77, b"\x00\x00\x00"), (140, b"[1, 2]")]:
        rows[number] = junk
        expected[number - 1] = None
    transcript.path.write_bytes(b"\n".join(rows))
    found = transcript.read()
    assert found.skipped == 3
    assert found.notices == ("s1.jsonl: skipped 3 lines that cannot be read (lines 21, 78, 141)",)
    kept = [text for text in expected if text is not None]
    assert [entry.message.text for entry in found.messages] == kept
    resumed = Transcript.open(transcript.path, clock=clock, ids=ids)
    assert texts(resumed.branch()) == kept
    resumed.append(said("later"))
    assert texts(resumed.branch())[-2:] == ["message 143", "later"]


def test_an_unfinished_last_line_is_left_out_and_never_written_over(transcript, clock, ids):
    filled(transcript, 2)
    whole = transcript.path.read_bytes()
    torn = whole + b'{"type":"message","id":"dead'
    transcript.path.write_bytes(torn)
    found = transcript.read()
    assert (len(found.messages), found.torn, found.skipped, found.offset) == (2, True, 0, len(whole))
    Transcript.open(transcript.path, clock=clock, ids=ids).append(said("after the crash"))
    assert transcript.path.read_bytes().startswith(torn + b"\n")
    found = transcript.read()
    assert (found.torn, found.skipped) == (False, 1)
    assert texts(transcript.branch()) == ["message 0", "message 1", "after the crash"]


def test_a_last_line_that_lacks_only_its_line_feed_counts(transcript, clock, ids):
    filled(transcript, 2)
    transcript.path.write_bytes(transcript.path.read_bytes()[:-1])
    assert len(transcript.read().messages) == 2
    Transcript.open(transcript.path, clock=clock, ids=ids).append(said("next"))
    assert transcript.read().notices == ()
    assert texts(transcript.branch()) == ["message 0", "message 1", "next"]


def test_bytes_that_are_no_utf8_do_not_cost_the_message(transcript):
    transcript.append(said("caf# au lait"))
    transcript.path.write_bytes(transcript.path.read_bytes().replace(b"#", b"\xe9"))
    found = transcript.read()
    assert [entry.message.text for entry in found.messages] == ["caf\ufffd au lait"]
    assert found.notices == ("s1.jsonl: replaced bytes that are no UTF-8 (line 2)",)


def test_an_empty_file_is_a_transcript_without_a_header(folder, clock, ids):
    folder.mkdir(parents=True)
    path = folder / "s9.jsonl"
    path.write_bytes(b"")
    transcript = Transcript.open(path, clock=clock, ids=ids)
    assert transcript.read().header_fault == "missing"
    transcript.append(said("hello"))
    transcript.repair()
    assert (transcript.read().header.id, texts(transcript.branch())) == ("s9", ["hello"])


def test_a_line_of_any_nesting_or_length_does_no_harm(transcript, monkeypatch):
    filled(transcript, 1)
    with transcript.path.open("ab") as file:
        file.write(b"[" * 200_000 + b"\n" + b'{"type":"message","id":1e999}\n' + b"9" * 10_000 + b"\n")
    monkeypatch.setattr("reverie.sessions.lines.MAX_LINE_BYTES", 100_000)
    transcript.append(said("still here"))
    assert transcript.read().skipped == 3
    assert texts(transcript.branch())[-1] == "still here"


# --- the tree --------------------------------------------------------------------------------------------------


def written(path, *entries, version=3):
    rows = [
        {"type": "session", "version": version, "id": "t", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": ""},
        *entries,
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def entry(ident, parent, text=None, **more):
    data = {"type": "message", "id": ident, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z"}
    return data | ({"message": {"role": "user", "content": text}} if text is not None else {}) | more


def branch(path):
    return texts(Transcript.open(path, clock=FixedClock(NOON), ids=CountingIds()).branch())


def test_a_branch_leaves_out_what_was_said_on_the_other(folder):
    path = written(
        folder / "t.jsonl", entry("a", None, "A"), entry("b", "a", "B"), entry("c", "b", "C"), entry("d", "a", "D")
    )
    assert branch(path) == ["A", "D"]


def test_a_compaction_stands_for_what_it_did_not_keep(folder):
    compaction = entry("k", "c", type="compaction", summary="A and B were said", firstKeptEntryId="c", tokensBefore=9)
    path = written(
        folder / "t.jsonl",
        entry("a", None, "A"),
        entry("b", "a", "B"),
        entry("c", "b", "C"),
        compaction,
        entry("d", "k", "D"),
    )
    summary, *rest = branch(path)
    assert "<summary>\nA and B were said\n</summary>" in summary
    assert rest == ["C", "D"]


def test_a_compaction_that_keeps_an_entry_of_another_branch_keeps_nothing(folder):
    compaction = entry("k", "b", type="compaction", summary="S", firstKeptEntryId="elsewhere")
    path = written(folder / "t.jsonl", entry("a", None, "A"), entry("b", "a", "B"), compaction, entry("d", "k", "D"))
    assert len(branch(path)) == 2


def test_a_reset_is_a_boundary_without_a_summary(folder):
    path = written(
        folder / "t.jsonl", entry("a", None, "A"), entry("r", "a", type="reset", reason="new"), entry("b", "r", "B")
    )
    assert branch(path) == ["B"]


def test_only_what_belongs_to_the_context_is_in_it(folder):
    path = written(
        folder / "t.jsonl",
        entry("a", None, "A"),
        entry("b", "a", type="custom", customType="state", data={"x": 1}),
        entry("c", "b", type="custom_message", customType="note", content="shown though not displayed", display=False),
        entry("d", "c", type="label", targetId="a", label="start"),
        entry("e", "d", type="branch_summary", fromId="a", summary="went away"),
        entry("f", "e", message={"role": "bashExecution", "command": "ls", "output": "x", "excludeFromContext": True}),
        entry("g", "f", "on the side", appendMode="side"),
        entry("h", "f", type="from-the-future"),
    )
    found = branch(path)
    assert found[:2] == ["A", "shown though not displayed"]
    assert "went away" in found[2]
    assert len(found) == 3


def test_a_leaf_entry_moves_the_place_where_the_conversation_goes_on(folder, clock, ids):
    path = written(
        folder / "t.jsonl", entry("a", None, "A"), entry("b", "a", "B"), entry("l", "b", type="leaf", targetId="a")
    )
    assert branch(path) == ["A"]
    transcript = Transcript.open(path, clock=clock, ids=ids)
    transcript.append(said("C"))
    assert branch(path) == ["A", "C"]


def test_an_entry_on_the_side_does_not_move_it(transcript):
    first = transcript.append(said("A"))
    transcript.append_entry("label", {"targetId": first, "label": "x"}, side=True)
    transcript.append(said("B"))
    assert [found.parent for found in transcript.read().messages] == [None, first]


def test_the_first_version_has_no_ids_and_is_one_chain(folder, clock, ids):
    rows = [
        {"type": "message", "message": {"role": role, "content": text}}
        for role, text in [("user", "A"), ("hookMessage", "B")]
    ]
    path = written(folder / "t.jsonl", *rows, version=1)
    transcript = Transcript.open(path, clock=clock, ids=ids)
    assert texts(transcript.branch()) == ["A", "B"]
    assert [message.role for message in transcript.branch()] == [MessageRole.USER, MessageRole.CUSTOM]
    transcript.append(said("C"))
    assert texts(transcript.branch()) == ["A", "B", "C"]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.sampled_from("abcdx")), max_size=8))
def test_links_that_turn_in_a_circle_end(tmp_path_factory, links):
    path = written(tmp_path_factory.mktemp("t") / "t.jsonl", *(entry(ident, parent, ident) for ident, parent in links))
    assert len(branch(path)) <= len(links)


# --- many writers, and killed ones -------------------------------------------------------------------------------


def test_threads_and_objects_append_without_losing_a_line(transcript, clock):
    def write(number):
        mine = Transcript.open(transcript.path, clock=clock, ids=RandomIds(), fsync=FsyncPolicy.NEVER)
        for turn in range(10):
            mine.append(said(f"{number}.{turn}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = texts(transcript.branch())
    assert sorted(found) == sorted(f"{number}.{turn}" for number in range(6) for turn in range(10))
    for number in range(6):
        assert [text for text in found if text.startswith(f"{number}.")] == [f"{number}.{turn}" for turn in range(10)]


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.clock import FixedClock, RandomIds
from reverie.core.types import SourceClass
from reverie.sessions.messages import Message, Stamp
from reverie.sessions.transcript import FsyncPolicy, Transcript

at = datetime(2026, 3, 2, tzinfo=UTC)
transcript = Transcript.open(Path(sys.argv[1]), clock=FixedClock(at), ids=RandomIds(), fsync=FsyncPolicy(sys.argv[2]))
limit = int(sys.argv[3])
print("ready", flush=True)
for number in range(limit):
    ident = transcript.append(Message.user("x" * (number * 997 % 9000), at, Stamp(SourceClass.OWNER)))
    sys.stdout.write(ident + "\\n")
    sys.stdout.flush()
"""


def writer(path, fsync, limit):
    environment = os.environ | {"PYTHONPATH": str(Path(reverie.__file__).parents[1])}
    command = [sys.executable, "-c", WRITER, str(path), fsync, str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def test_processes_append_without_losing_a_line(transcript):
    children = [writer(transcript.path, "never", 20) for _ in range(2)]
    acknowledged = []
    for child in children:
        out, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (0, b"")
        acknowledged += out.decode("ascii").split()[1:]
    found = transcript.read()
    assert sorted(entry.id for entry in found.entries) == sorted(acknowledged)
    assert len(set(acknowledged)) == 40
    assert found.notices == ()
    assert len(transcript.branch()) == 40


# A process that starts fast: it forks a writer for every line that it is given, and says when that one is gone.
FORKING = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.clock import FixedClock, RandomIds
from reverie.core.types import SourceClass
from reverie.sessions.messages import Message, Stamp
from reverie.sessions.transcript import FsyncPolicy, Transcript

at = datetime(2026, 3, 2, tzinfo=UTC)

def write(policy):
    os.write(1, f"pid {os.getpid()}\\n".encode())
    transcript = Transcript.open(Path(sys.argv[1]), clock=FixedClock(at), ids=RandomIds(), fsync=policy)
    number = 0
    while True:
        size = 10 if number % 4 else 150_000
        ident = transcript.append(Message.user("x" * size, at, Stamp(SourceClass.OWNER)))
        os.write(1, f"ack {ident} {size}\\n".encode())
        number += 1

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        write(FsyncPolicy(line.strip()))
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""


def test_two_hundred_killed_writers_lose_no_acknowledged_line(transcript):
    environment = os.environ | {"PYTHONPATH": str(Path(reverie.__file__).parents[1])}
    command = [sys.executable, "-c", FORKING, str(transcript.path)]
    acknowledged = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as forking:
        for round_number in range(200):
            forking.stdin.write(b"always\n" if round_number % 3 == 0 else b"never\n")
            forking.stdin.flush()
            victim, left = 0, random.randrange(6)
            while (said_by := forking.stdout.readline().split())[0] != b"dead":
                if said_by[0] == b"pid":
                    victim = int(said_by[1])
                elif said_by[0] == b"ack":
                    acknowledged[said_by[1].decode()] = int(said_by[2])
                    left -= 1
                if left <= 0 and victim:
                    moment = datetime.now(UTC) + timedelta(microseconds=random.randrange(4000))
                    while datetime.now(UTC) < moment:  # somewhere in the middle of the next append
                        pass
                    os.kill(victim, signal.SIGKILL)
                    victim = 0
        forking.stdin.close()
    found = transcript.read()
    lengths = {entry.id: len(entry.message.text) for entry in found.messages}
    assert len(acknowledged) >= 200
    assert {ident: lengths.get(ident) for ident in acknowledged} == acknowledged
    assert found.header.id == "s1"
    transcript.append(said("the end"))
    conversation = transcript.branch()
    assert conversation[-1].text == "the end"
    assert len(conversation) >= len(acknowledged) + 1
