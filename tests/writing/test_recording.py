"""A write leaves a record, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.errors import StoreError, WriteConflict
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.store.durable import DurableStore
from reverie.store.lines import Write, judge, line_hashes
from reverie.workspace import files
from reverie.writing.recording import Recording, compare, lines_of

CLOCK = FixedClock(datetime(2031, 5, 6, 9, 30, tzinfo=UTC))
OWNER = Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE)
UNTRUSTED = Provenance(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE)
NOTE = "memory/2031-05-06.md"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DurableStore]:
    with DurableStore.open(tmp_path / "state", CLOCK, CountingIds("r")) as opened:
        yield opened


def put(store: DurableStore, path: Path, text: str, who: Provenance, *, derived: bool = False) -> Recording:
    recording = Recording(store, NOTE, who, tool="test", reason="", derived=derived)
    recording.edit(path, lambda found: (text.encode(), None), lock_dir=path.parent / "locks")
    return recording


def test_a_write_is_recorded_with_both_hashes_and_its_lines(store: DurableStore, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    put(store, path, "# Day\n\n- one\n", OWNER)
    before = files.read(path).hash
    recording = put(store, path, "# Day\n\n- one\n\n- two\n- three\n", UNTRUSTED)
    record = store.record(recording.ident)
    assert (record.before_hash, record.after_hash, record.state) == (before, files.read(path).hash, "committed")
    assert (record.start_line, record.end_line) == (5, 6)
    assert record.written == line_hashes(["- two", "- three"])
    assert record.dropped == ()
    assert store.last_hash(NOTE) == record.after_hash


def test_a_failing_change_leaves_no_file_and_no_open_reservation(store: DurableStore, tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    recording = Recording(store, NOTE, OWNER, tool="test", reason="")
    with pytest.raises(Exception, match="folder"):
        recording.edit(path, lambda found: (b"- one\n", None), lock_dir=tmp_path / "locks")
    with pytest.raises(ZeroDivisionError):
        recording.edit(tmp_path / "new.md", lambda found: (b"- one\n", 1 // 0), lock_dir=tmp_path / "locks")
    assert not (tmp_path / "new.md").exists()
    assert all(record.state == "rolled_back" for record in store.records(NOTE))


def test_a_write_that_keeps_meeting_conflicts_is_rolled_back(store: DurableStore, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("- 0\n", encoding="utf-8")
    turns = iter(range(1, 100))

    def change(found: files.FileText | None) -> tuple[bytes, None]:
        path.write_text(f"- {next(turns)}\n", encoding="utf-8")  # an editor that takes no lock
        return b"- mine\n", None

    with pytest.raises(WriteConflict):
        Recording(store, NOTE, OWNER, tool="test", reason="").edit(path, change, lock_dir=tmp_path / "locks")
    assert "mine" not in path.read_text(encoding="utf-8")
    assert {record.state for record in store.records(NOTE)} == {"rolled_back"}


def test_a_write_repeated_after_a_conflict_has_one_record(store: DurableStore, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("- 0\n", encoding="utf-8")
    interruptions = [True]

    def change(found: files.FileText | None) -> tuple[bytes, None]:
        assert found is not None
        if interruptions:
            interruptions.pop()
            path.write_text("- 0\n- from an editor\n", encoding="utf-8")
        return (found.text + "- mine\n").encode(), None

    recording = Recording(store, NOTE, OWNER, tool="test", reason="")
    recording.edit(path, change, lock_dir=tmp_path / "locks")
    assert path.read_text(encoding="utf-8") == "- 0\n- from an editor\n- mine\n"
    assert [record.state for record in store.records(NOTE)] == ["rolled_back", "committed"]
    assert store.history(NOTE) == [Write(store.record(recording.ident).provenance, line_hashes(["- mine"]))]


def test_a_write_that_reached_the_file_before_it_failed_stays_recorded(
    store: DurableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.md"
    real = files.edit

    def edit_and_fail(*args: object, **kwargs: object) -> object:
        real(*args, **kwargs)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "edit", edit_and_fail)
    with pytest.raises(KeyboardInterrupt):
        put(store, path, "- one\n", UNTRUSTED)
    assert [record.state for record in store.records(NOTE)] == ["committed"]


def test_a_rewrite_of_untrusted_lines_is_untrusted_and_one_of_others_is_not(
    store: DurableStore, tmp_path: Path
) -> None:
    path = tmp_path / "note.md"
    put(store, path, "- mine\n", OWNER)
    put(store, path, "- mine\n- theirs\n", UNTRUSTED)
    assert put(store, path, "- mine, in other words\n- theirs\n", OWNER, derived=True).origin is SourceClass.OWNER
    assert (
        put(store, path, "- mine, in other words\n- theirs, in other words\n", OWNER, derived=True).origin
        is SourceClass.UNTRUSTED
    )
    judged = judge(NOTE, lines_of(path.read_text(encoding="utf-8")), store.history(NOTE))
    assert [line.origin for line in judged.lines] == [SourceClass.OWNER, SourceClass.UNTRUSTED]


def test_an_untrusted_line_deleted_through_reverie_is_not_missed(store: DurableStore, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    put(store, path, "- theirs\n- hand\n", UNTRUSTED)
    put(store, path, "- hand\n", OWNER, derived=True)
    judged = judge(NOTE, ["- hand", "- new by hand"], store.history(NOTE))
    assert [str(line.origin) for line in judged.lines] == ["untrusted", "agent"]
    assert judged.lowered_to is None


def test_a_closed_store_changes_no_file(store: DurableStore, tmp_path: Path) -> None:
    store.close()
    with pytest.raises(StoreError):
        put(store, tmp_path / "note.md", "- one\n", OWNER)
    assert not (tmp_path / "note.md").exists()


LINES = st.lists(st.sampled_from(["- a", "- b", "- c", "", "# Title"]), max_size=9)


@given(LINES, LINES)
def test_what_is_written_and_dropped_turns_the_old_lines_into_the_new(before: list[str], after: list[str]) -> None:
    diff = compare(before, after)
    old, new = sorted(line_hashes(before)), sorted(line_hashes(after))
    for line in diff.dropped:
        old.remove(line)
    assert sorted([*old, *diff.written]) == new
    assert 1 <= diff.start_line <= diff.end_line <= max(1, len(after))
    assert set(diff.written) <= set(line_hashes(after[diff.start_line - 1 : diff.end_line]))


@given(st.text(alphabet="ab\r\n\u2028\x0c", max_size=20))
def test_lines_are_counted_as_an_editor_does(text: str) -> None:
    assert len(lines_of(text)) == text.count("\n") + (not text.endswith("\n") and text != "")
