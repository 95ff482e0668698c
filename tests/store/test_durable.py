"""The durable store: what files cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.errors import FileUnreadable, StoreError
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.store.durable import DurableStore
from reverie.store.ends import SessionEnds
from reverie.store.lines import Removal, Trust, Write, judge, line_hashes
from reverie.store.records import EntryOrigin, Present
from reverie.store.usage import ModelUsage

START = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)
OWNER = Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE, START, "s1", "me", "drink")
UNTRUSTED = Provenance(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE, START, "s2", "guest")
NOTE = "memory/2031-05-06.md"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def store(tmp_path: Path, clock: FixedClock) -> Iterator[DurableStore]:
    with DurableStore.open(tmp_path, clock, CountingIds("r")) as opened:
        yield opened


def free(path: str) -> AbstractContextManager[None]:
    return nullcontext()


def reserve(
    store: DurableStore, *lines: str, path: str = NOTE, who: Provenance = OWNER, before: str | None = None
) -> str:
    return store.reserve(
        path,
        who,
        before_hash=before,
        after_hash="after",
        start_line=1,
        end_line=len(lines),
        written=line_hashes(lines),
        tool="memory_note",
        reason="asked to",
    )


def test_a_committed_record_tells_who_wrote_which_lines(store: DurableStore) -> None:
    ident = reserve(store, "- tea", "- milk")
    store.commit(ident, after_hash="final", start_line=3, end_line=4)
    record = store.record(ident)
    assert record == store.records(NOTE)[0]
    assert (record.provenance, record.state, record.tool, record.reason) == (
        OWNER,
        "committed",
        "memory_note",
        "asked to",
    )
    assert (record.start_line, record.end_line, record.after_hash) == (3, 4, "final")
    assert record.written == line_hashes(["- tea", "- milk"])
    assert store.history(NOTE) == [Write(OWNER, record.written)]


def test_a_write_is_settled_once(store: DurableStore) -> None:
    ident = reserve(store, "- tea")
    store.roll_back(ident)
    with pytest.raises(StoreError, match="settled"):
        store.commit(ident)
    with pytest.raises(StoreError, match="no such"):
        store.commit("unheard of")
    assert store.history(NOTE) == []
    assert store.records(NOTE)[0].state == "rolled_back"


def test_what_was_written_may_be_corrected_at_the_commit(store: DurableStore) -> None:
    ident = reserve(store, "- tea")
    store.commit(ident, written=line_hashes(["- green tea"]))
    assert store.record(ident).written == line_hashes(["- green tea"])


def test_the_closed_sets_are_closed(store: DurableStore) -> None:
    ident = reserve(store, "- tea")
    for column in ("origin", "session_kind", "state"):
        with pytest.raises(apsw.ConstraintError):
            store.database.execute(f"UPDATE write_record SET {column} = 'Owner' WHERE id = ?", (ident,))


def test_acts_come_back_in_their_order_with_a_clock_that_stands_still(store: DurableStore) -> None:
    store.commit(reserve(store, "- one", who=UNTRUSTED))
    store.trust(NOTE, (1, 1), "after", line_hashes(["- one"]), "me")
    store.trust(NOTE, None, "after", line_hashes(["- one"]), "me")
    store.removed(NOTE, "after")
    reserve(store, "- one", who=UNTRUSTED)
    hashes = line_hashes(["- one"])
    assert store.history(NOTE) == [
        Write(UNTRUSTED, hashes),
        Trust(frozenset(hashes)),
        Trust(frozenset(hashes), whole=True),
        Removal(),
        Write(UNTRUSTED, hashes, pending=True),
    ]


def test_a_renamed_file_keeps_its_history(store: DurableStore) -> None:
    store.commit(reserve(store, "- one", who=UNTRUSTED))
    store.renamed(NOTE, "memory/new.md", "after")
    assert store.history(NOTE) == []
    assert judge("memory/new.md", ["- 1"], store.history("memory/new.md")).lowered_to is SourceClass.UNTRUSTED
    assert (store.last_hash(NOTE), store.last_hash("memory/new.md")) == (None, "after")
    assert store.doubtful_paths() == ["memory/new.md"]


def test_the_revision_of_a_file_grows_with_everything_that_changes_a_judgement(store: DurableStore) -> None:
    seen = [store.revisions().get(NOTE, 0)]
    for act in (
        lambda: store.commit(reserve(store, "- one")),
        lambda: store.roll_back(reserve(store, "- two")),
        lambda: store.trust(NOTE, None, "after", (), "me"),
        lambda: store.removed(NOTE, "after"),
        lambda: store.renamed(NOTE, "memory/new.md", "after"),
    ):
        act()
        seen.append(store.revisions()[NOTE])
    assert seen == sorted(set(seen))
    assert store.revisions().keys() == {NOTE, "memory/new.md"}


def test_edits_made_outside_are_told_by_the_hash(store: DurableStore) -> None:
    store.commit(reserve(store, "- one"), after_hash="h1")
    store.commit(reserve(store, "- one", path="MEMORY.md"), after_hash="h2")
    store.trust("memory/never-written.md", None, "x", (), "me")
    assert store.paths_changed_outside({NOTE: "h1", "MEMORY.md": "h2", "memory/by-hand.md": "h3"}) == []
    assert store.paths_changed_outside({NOTE: "h9"}) == ["MEMORY.md", NOTE]
    store.removed("MEMORY.md", "h2")
    assert store.paths_changed_outside({NOTE: "h1"}) == []


@pytest.mark.parametrize(
    ("who", "before", "present", "state"),
    [
        (OWNER, "b", Present("after", ()), "committed"),
        (OWNER, "b", Present("b", ()), "rolled_back"),
        (OWNER, None, None, "rolled_back"),
        (OWNER, "b", None, "rolled_back"),
        (OWNER, "b", Present("edited", line_hashes(["- one", "- two", "- more"])), "committed"),
        (OWNER, "b", Present("edited", line_hashes(["- one", "- more"])), "rolled_back"),
        (UNTRUSTED, "b", Present("edited", line_hashes(["- one", "- more"])), "committed"),
        (UNTRUSTED, "b", Present("edited", line_hashes(["- more"])), "rolled_back"),
        (UNTRUSTED, "b", Present("b", line_hashes(["- one"])), "rolled_back"),
    ],
)
def test_a_killed_writers_reservation_is_settled_by_what_the_file_holds(
    store: DurableStore, who: Provenance, before: str | None, present: Present | None, state: str
) -> None:
    ident = reserve(store, "- one", "- two", who=who, before=before)
    found = store.recover(lambda path: present, free)
    assert store.record(ident).state == state
    assert (found.committed, found.rolled_back) == (((ident,), ()) if state == "committed" else ((), (ident,)))
    assert store.recover(lambda path: present, free).committed == ()


def test_recovery_leaves_for_later_what_cannot_be_read(store: DurableStore) -> None:
    first, second = reserve(store, "- one"), reserve(store, "- two", path="MEMORY.md")

    def present(path: str) -> Present | None:
        if path == NOTE:
            raise FileUnreadable(path=path, reason="permission denied")
        return None

    found = store.recover(present, free)
    assert (found.rolled_back, found.left) == ((second,), (first,))
    assert store.record(first).state == "reserved"


def test_recovery_may_be_of_one_file_only(store: DurableStore) -> None:
    first, second = reserve(store, "- one"), reserve(store, "- two", path="MEMORY.md")
    assert store.recover(lambda path: None, free, path="MEMORY.md").rolled_back == (second,)
    assert store.record(first).state == "reserved"


def test_recovery_leaves_alone_what_its_writer_settled_in_the_meantime(store: DurableStore) -> None:
    ident = reserve(store, "- one")

    def settled_while_waiting(path: str) -> AbstractContextManager[None]:
        store.commit(ident)
        return nullcontext()

    found = store.recover(lambda path: None, settled_while_waiting)
    assert (found.committed, found.rolled_back) == ((), ())
    assert store.record(ident).state == "committed"


def test_dur_22_five_records_are_five_after_every_restart(tmp_path: Path, clock: FixedClock) -> None:
    for number in range(5):
        with DurableStore.open(tmp_path, clock, CountingIds(f"r{number}")) as store:
            store.commit(reserve(store, f"- {number}"))
    for _ in range(3):
        with DurableStore.open(tmp_path, clock, CountingIds("x")) as store:
            assert len(store.records(NOTE)) == 5


def test_the_first_tombstone_of_a_session_stays(store: DurableStore, clock: FixedClock) -> None:
    store.bury("s1", "forgotten")
    store.bury("s1", "something else")
    assert store.tombstones() == {"s1": "forgotten"}


def test_origins_of_an_entry_keep_the_latest_moment(store: DurableStore) -> None:
    later = EntryOrigin("s1", "agent:main:cli:direct:me", SourceClass.OWNER, START + timedelta(days=1))
    store.add_origins("e1", [later, EntryOrigin("s0", None, SourceClass.AGENT, START)])
    store.add_origins("e1", [EntryOrigin("s1", later.session_key, SourceClass.OWNER, START)])
    assert store.origins("e1") == [EntryOrigin("s0", None, SourceClass.AGENT, START), later]
    assert store.origins("e2") == []


def test_an_export_holds_every_row_of_every_table(store: DurableStore) -> None:
    store.commit(reserve(store, "- one"))
    store.trust(NOTE, None, "after", line_hashes(["- one"]), "me")
    store.bury("s1", "forgotten")
    store.add_origins("e1", [EntryOrigin("s1", None, SourceClass.OWNER, START)])
    store.set_setting("zone", "Asia/Tokyo")
    SessionEnds(store.database, FixedClock(START)).queue("s1", "agent:main:main", "new")
    ModelUsage(store.database, FixedClock(START)).add("flush", "home/small", 12, 5)
    assert store.setting("zone") == "Asia/Tokyo"
    assert store.setting("none") is None
    store.reserve(
        "memory/b.md",
        Provenance(SourceClass.UNTRUSTED),
        before_hash=None,
        after_hash="c",
        start_line=1,
        end_line=1,
        written=["d"],
        echoed=["d"],
    )
    exported = list(store.export())
    tables = {
        name
        for (name,) in store.database.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    }
    assert {table for table, _ in exported} == tables - {"migration"}
    assert ("setting", {"key": "zone", "value": "Asia/Tokyo"}) in exported
    assert [row["origin"] for table, row in exported if table == "write_record"] == ["owner", "untrusted"]
