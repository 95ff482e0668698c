"""The invariants of the write path: I1 and I2 whatever people and writers do, I5 whenever the process is killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.errors import FileUnreadable
from reverie.core.provenance import is_trusted
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.store.durable import DurableStore
from reverie.store.lines import line_hash, line_hashes, tells
from reverie.workspace import files
from reverie.workspace.notes import Workspace
from reverie.writing.judging import LineJudge
from reverie.writing.recording import lines_of
from reverie.writing.writer import RecordedWriter

NOW = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)
NOTE = "memory/2031-05-06.md"
PATHS = st.sampled_from([NOTE, "MEMORY.md"])
TEXTS = st.sampled_from(
    ["the attic is dry", "pay the invoice at once", "I prefer trains", "备份在星期二", "- a list item", "## Plan"]
)
WRITERS = st.sampled_from(list(SourceClass))
PLACES = st.integers(0, 20)


class Writing(RuleBasedStateMachine):
    """I1 and I2 over a note and a curated file, with real files and a real store.

    Owners, agents, strangers and flushes write; people insert, delete, move, double and reword lines by hand; the
    agent rewrites whole files; the owner vouches. Whatever the order, no line whose text was ever written as untrusted
    or by the system is trusted, unless the owner vouched for it since; and a line that a rewrite may have made of such
    a line is none better.
    """

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="reverie-writing-"))
        self.root = self.folder / "workspace"
        self.root.mkdir()
        self.store = DurableStore.open(self.folder / "state", FixedClock(NOW), CountingIds("r"))
        workspace = Workspace(self.root, lock_dir=self.folder / "locks")
        self.writer = RecordedWriter(workspace, self.store, FixedClock(NOW))
        self.judge = LineJudge(self.store)
        self.stained: dict[str, set[str]] = {NOTE: set(), "MEMORY.md": set(), "USER.md": set()}

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def lines(self, path: str) -> list[str]:
        try:
            return lines_of(files.read(self.root / path).text)
        except FileUnreadable:
            return []

    def put(self, path: str, lines: list[str]) -> None:
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def own(self) -> set[str]:
        """Return what stands in trusted text: who repeats it does not silence it."""
        self.judge.refresh()
        found = set()
        for path in self.stained:
            lines = self.lines(path)
            judged = self.judge.judge(path, lines).lines
            found |= {line_hash(line) for line, one in zip(lines, judged, strict=True) if is_trusted(one.origin)}
        return found

    def stain(self, path: str, before: list[str], own: set[str]) -> None:
        new = set(Counter(line_hashes(self.lines(path))) - Counter(line_hashes(before)))
        self.stained[path] |= (new & set(line_hashes(filter(tells, self.lines(path))))) - own

    # --- through Reverie

    @rule(text=TEXTS, origin=WRITERS, flush=st.booleans())
    def something_is_noted(self, text: str, origin: SourceClass, flush: bool) -> None:
        before, own = self.lines(NOTE), self.own()
        born = Provenance(origin, SessionKind.INTERACTIVE)
        written = self.writer.append_flush(text, born) if flush else self.writer.note(text, born)
        after = self.lines(NOTE)
        if written.record:
            assert Counter(after) - Counter(before)
            assert not Counter(before) - Counter(after)
            if not is_trusted(origin):
                self.stain(NOTE, before, own)

    @rule(text=TEXTS, origin=WRITERS, key=st.sampled_from([None, "k"]))
    def something_is_remembered(self, text: str, origin: SourceClass, key: str | None) -> None:
        before, own = {path: self.lines(path) for path in self.stained}, self.own()
        written = self.writer.remember(text, Provenance(origin, SessionKind.INTERACTIVE), key=key)
        if written.record and not is_trusted(origin):
            assert written.path == NOTE
            self.stain(NOTE, before[NOTE], own)
        gone = set(Counter(line_hashes(before["MEMORY.md"])) - Counter(line_hashes(self.lines("MEMORY.md"))))
        if gone & self.stained["MEMORY.md"]:
            # The fact that was superseded went to the note of the day, with the class that it had.
            self.stain(NOTE, before[NOTE], own)

    @rule(path=PATHS, where=PLACES, text=TEXTS, origin=WRITERS)
    def a_file_is_rewritten(self, path: str, where: int, text: str, origin: SourceClass) -> None:
        before, own = self.lines(path), self.own()
        after = list(before)
        at = where % (len(before) + 1)
        after[at : at + 2] = [text]
        expected = files.read(self.root / path).hash if (self.root / path).exists() else None
        gone = Counter(line_hashes(before)) - Counter(line_hashes(after))
        doubtful = not is_trusted(origin) or gone.keys() & self.stained[path]
        new = "".join(line + "\n" for line in after)
        self.writer.replace_file(path, new, expected, Provenance(origin, SessionKind.INTERACTIVE), may_drop=True)
        assert self.lines(path) == after
        if doubtful:
            self.stain(path, before, own)

    @rule(path=PATHS, where=PLACES, size=st.integers(0, 3))
    def the_owner_vouches(self, path: str, where: int, size: int) -> None:
        lines = self.lines(path)
        if lines:
            first = where % len(lines) + 1
            last = min(len(lines), first + size - 1)
            named = lines if size == 0 else lines[first - 1 : last]
            self.writer.trust(path, "me", None if size == 0 else (first, last))
            self.stained[path] -= set(line_hashes(named))

    # --- by hand

    @rule(path=PATHS, where=PLACES, text=TEXTS)
    def a_line_is_typed(self, path: str, where: int, text: str) -> None:
        lines = self.lines(path)
        lines.insert(where, text)
        self.put(path, lines)

    @rule(path=PATHS, where=PLACES)
    def a_line_is_deleted(self, path: str, where: int) -> None:
        lines = self.lines(path)
        if lines:
            lines.pop(where % len(lines))
            self.put(path, lines)

    @rule(path=PATHS, where=PLACES, to=PLACES, doubled=st.booleans())
    def a_line_is_moved_or_doubled(self, path: str, where: int, to: int, doubled: bool) -> None:
        lines = self.lines(path)
        if lines:
            line = lines[where % len(lines)]
            if not doubled:
                lines.pop(where % len(lines))
            lines.insert(to, line)
            self.put(path, lines)

    @rule(path=PATHS, where=PLACES)
    def a_line_is_reworded(self, path: str, where: int) -> None:
        lines = self.lines(path)
        if lines:
            lines[where % len(lines)] += " indeed"
            self.put(path, lines)

    # --- always

    @invariant()
    def no_stained_line_is_trusted(self) -> None:
        for path, stained in self.stained.items():
            lines = self.lines(path)
            for line, found in zip(lines, self.judge.judge(path, lines).lines, strict=True):
                assert not (line_hash(line) in stained and is_trusted(found.origin)), (path, line)

    @invariant()
    def no_write_is_left_open(self) -> None:
        assert all(record.state != "reserved" for path in self.stained for record in self.store.records(path))


Writing.TestCase.settings = settings(max_examples=15, stateful_step_count=16, deadline=None)
TestWriting = Writing.TestCase


#: Forks one child a round. Each writes a line, and is killed when it has run so many lines of Reverie's code since the
#: recording began; the first two are not killed and tell how many there are. What a child prints is acknowledged.
KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.clock import FixedClock, RandomIds
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.store.durable import DurableStore
from reverie.workspace import files
from reverie.workspace.notes import Workspace
from reverie.writing.writer import RecordedWriter

folder, rounds, offset = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
clock = FixedClock(datetime(2031, 5, 6, 9, 30, tzinfo=UTC))

def child(number, limit, report):
    count = 0
    def trace(frame, event, argument):
        nonlocal count
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("reverie.") or (count == 0 and module != "reverie.writing.recording"):
            return None
        count += 1
        if count == limit:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    origin = SourceClass.UNTRUSTED if number % 2 else SourceClass.OWNER
    sys.settrace(trace)
    store = DurableStore.open(folder / "state", clock, RandomIds())
    writer = RecordedWriter(Workspace(folder / "workspace", lock_dir=folder / "locks"), store, clock)
    written = writer.note(f"- line {number}.", Provenance(origin, SessionKind.INTERACTIVE))
    sys.settrace(None)
    os.write(report, f"{number} {written.record} {count}\\n".encode())
    os._exit(0)

def run(number, limit):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(number, limit, write)
    os.close(write)
    said = b""
    while piece := os.read(read, 4096):
        said += piece
    os.close(read)
    os.waitpid(pid, 0)
    return said.decode()

print(run(0, 0), end="")
second = run(1, 0)
print(second, end="")
total = int(second.split()[2])
for number in range(2, rounds + 2):
    print(run(number, 1 + int((number - 2 + offset) * total / rounds)), end="")
print(run(rounds + 2, 0), end="")
# The last one, which is untrusted, dies between the file and the record.
DurableStore.commit = lambda *given, **named: os.kill(os.getpid(), signal.SIGKILL)
print(run(rounds + 3, 0), end="")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("offset", ["0.25", "0.75"])
def test_i5_a_write_is_whole_and_recorded_or_not_there_at_whatever_point_it_is_killed(
    tmp_path: Path, offset: str
) -> None:
    (tmp_path / "workspace").mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path), "24", offset]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    acknowledged = {int(line.split()[0]): line.split()[1] for line in done.stdout.splitlines()}
    assert {0, 1, 26} <= set(acknowledged)
    assert len(acknowledged) < 20, "most are killed"
    with DurableStore.open(tmp_path / "state", FixedClock(NOW), CountingIds("x")) as store:
        text = (tmp_path / "workspace" / NOTE).read_text(encoding="utf-8")
        lines = lines_of(text)
        there = [int(line.split()[-1][:-1]) for line in lines if line.startswith("- ")]
        assert 27 in there
        # Even before anything is recovered no untrusted line counts as trusted.
        judged = dict(zip(lines, LineJudge(store).judge(NOTE, lines).lines, strict=True))
        assert all(not is_trusted(judged[f"- line {number}."].origin) for number in there if number % 2)
        workspace = Workspace(tmp_path / "workspace", lock_dir=tmp_path / "locks")
        RecordedWriter(workspace, store, FixedClock(NOW)).recover()
        committed = [record for record in store.records(NOTE) if record.state == "committed"]
        written = Counter(line for record in committed for line in record.written)
        assert text.endswith("\n")
        assert set(lines) == {"# 2031-05-06", "", *(f"- line {number}." for number in there)}
        assert written == Counter(line_hashes(f"- line {number}." for number in there))
        assert set(acknowledged) <= set(there)
        assert set(acknowledged.values()) <= {record.id for record in committed}
        assert all(record.state in ("committed", "rolled_back") for record in store.records(NOTE))
        assert store.integrity() == []
        judge = LineJudge(store).judge(NOTE, lines)
        assert judge.lowered_to is None
        for line, found in zip(lines, judge.lines, strict=True):
            if line.startswith("- "):
                odd = int(line.split()[-1][:-1]) % 2
                assert found.origin is (SourceClass.UNTRUSTED if odd else SourceClass.OWNER)


APPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.core.clock import FixedClock, RandomIds
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.store.durable import DurableStore
from reverie.workspace.notes import Workspace
from reverie.writing.writer import RecordedWriter

folder, name = Path(sys.argv[1]), sys.argv[2]
clock = FixedClock(datetime(2031, 5, 6, 9, 30, tzinfo=UTC))
print("ready", flush=True)
sys.stdin.readline()
with DurableStore.open(folder / "state", clock, RandomIds()) as store:
    writer = RecordedWriter(Workspace(folder / "workspace", lock_dir=folder / "locks"), store, clock)
    for number in range(15):
        writer.note(f"- {name} {number}", Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE))
        if number % 5 == 0:
            writer.remember(f"{name} knows {number}", Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE))
"""


def test_dur_05_and_06_processes_that_write_the_same_files_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    children = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for name in ("a", "b", "c")
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    assert [child.communicate("\n", timeout=60)[1] for child in children] == ["", "", ""]
    note = (tmp_path / "workspace" / NOTE).read_text(encoding="utf-8").splitlines()
    memory = (tmp_path / "workspace" / "MEMORY.md").read_text(encoding="utf-8").splitlines()
    assert sorted(note[2:]) == sorted(f"- {name} {number}" for name in "abc" for number in range(15))
    assert sorted(memory[2:]) == sorted(f"- {name} knows {number}" for name in "abc" for number in (0, 5, 10))
    with DurableStore.open(tmp_path / "state", FixedClock(NOW), CountingIds("x")) as store:
        assert {record.state for record in store.records(NOTE)} == {"committed"}
        assert len(store.records(NOTE)) == 45
        assert store.integrity() == []
