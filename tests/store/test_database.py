"""The one way to open a database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from reverie.core.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from reverie.store.database import Database, Migration
from reverie.store.mounts import file_system
from reverie.store.opening import remove_database, replace_database

STEPS = (
    Migration.script("0001_item", "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"),
    Migration.script("0002_blob", "CREATE TABLE vector (item INTEGER PRIMARY KEY REFERENCES item, data BLOB)"),
)

#: How every child process below begins; it waits for a line on its input, so that several start together.
CHILD = """
import sys
from pathlib import Path
from reverie.store.database import Database, Migration
STEPS = (
    Migration.script("0001_item", "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"),
    Migration.script("0002_blob", "CREATE TABLE vector (item INTEGER PRIMARY KEY REFERENCES item, data BLOB)"),
)
path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
"""


def start(code: str, path: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + code, str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def run_together(codes: list[str], path: Path) -> list[str]:
    """Run the programs at the same time and return what they say on stderr."""
    children = [start(code, path, f"p{number}") for number, code in enumerate(codes)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    return [child.communicate(timeout=60)[1] for child in children]


def test_rows_written_are_read_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.sqlite"
    with Database.open(path, migrations=STEPS, durable=True) as database:
        database.execute("INSERT INTO item (text) VALUES (?)", ("one",))
        assert database.integrity() == []
        assert database.size_bytes > 4096
    with Database.open(path, migrations=STEPS, readonly=True) as database:
        assert database.rows("SELECT text FROM item") == [("one",)]
        assert list(database.execute("SELECT text FROM item")) == [("one",)]
        with pytest.raises(StoreUnwritable):
            database.execute("DELETE FROM item")


def test_durable_data_is_flushed_and_overwritten_and_derived_data_is_not(tmp_path: Path) -> None:
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS, durable=True) as durable:
        assert [durable.value(f"PRAGMA {name}") for name in ("synchronous", "secure_delete", "foreign_keys")] == [
            2,
            1,
            1,
        ]
        durable.execute("INSERT INTO item (text) VALUES ('a passage that nobody else holds')")
        durable.execute("DELETE FROM item")
        durable.compact()
        assert b"nobody else holds" not in (tmp_path / "a.sqlite").read_bytes()
    with Database.open(tmp_path / "b.sqlite", migrations=STEPS) as derived:
        assert derived.value("PRAGMA synchronous") == 1


def test_a_failed_block_leaves_nothing_and_shows_its_own_error(tmp_path: Path) -> None:
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS) as database:
        with pytest.raises(apsw.ConstraintError), database.transaction():
            database.execute("INSERT INTO item (text) VALUES ('one')")
            with pytest.raises(ZeroDivisionError), database.transaction():
                database.execute("INSERT INTO item (text) VALUES ('two')")
                raise ZeroDivisionError
            assert database.value("SELECT count(*) FROM item") == 1
            database.execute("INSERT INTO item (text) VALUES ('one')")
        assert database.value("SELECT count(*) FROM item") == 0


def test_the_first_error_is_shown_even_when_nothing_is_left_to_roll_back(tmp_path: Path) -> None:
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS) as database:
        with pytest.raises(ZeroDivisionError), database.transaction():
            database.execute("ROLLBACK")
            raise ZeroDivisionError
        with database.transaction():
            database.execute("INSERT INTO item (text) VALUES ('after')")
        assert database.value("SELECT count(*) FROM item") == 1


def test_a_foreign_key_that_points_nowhere_fails_at_the_commit(tmp_path: Path) -> None:
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS) as database:
        with pytest.raises(apsw.ConstraintError):
            database.execute("INSERT INTO vector (item, data) VALUES (7, x'00')")
        assert database.value("SELECT count(*) FROM vector") == 0


def test_a_step_that_fails_is_not_recorded_and_runs_again(tmp_path: Path) -> None:
    attempts = []

    def flaky(database: Database) -> None:
        database.execute("CREATE TABLE late (x)")
        attempts.append(1)
        if len(attempts) == 1:
            raise ZeroDivisionError

    steps = (*STEPS, Migration("0003_late", flaky))
    with pytest.raises(ZeroDivisionError):
        Database.open(tmp_path / "a.sqlite", migrations=steps)
    with Database.open(tmp_path / "a.sqlite", migrations=steps) as database:
        assert database.rows("SELECT name FROM migration ORDER BY name") == [(step.name,) for step in steps]
    Database.open(tmp_path / "a.sqlite", migrations=steps).close()
    assert len(attempts) == 2


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    Database.open(tmp_path / "a.sqlite", migrations=STEPS).close()
    with pytest.raises(StoreError, match="newer"):
        Database.open(tmp_path / "a.sqlite", migrations=STEPS[:1])


def test_threads_share_one_connection_and_lose_nothing(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(database: Database, name: str) -> None:
        try:
            for number in range(25):
                with database.transaction(), database.transaction():
                    database.execute("INSERT INTO item (text) VALUES (?)", (f"{name}-{number}",))
                assert sum(1 for _ in database.execute("SELECT text FROM item")) > number
        except BaseException as error:
            errors.append(error)

    with Database.open(tmp_path / "a.sqlite", migrations=STEPS) as database:
        threads = [threading.Thread(target=work, args=(database, f"t{number}")) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert database.value("SELECT count(*) FROM item") == 150


# --- several processes ---

OPEN = "Database.open(path, migrations=STEPS, durable=True).close()"
WRITE = """
with Database.open(path, migrations=STEPS) as database:
    for number in range(300):
        with database.transaction():
            count = database.value("SELECT count(*) FROM item")
            database.execute("INSERT INTO item (text) VALUES (?)", (f"{name}-{number}",))
            assert database.value("SELECT count(*) FROM item") == count + 1
"""
SEARCH_AND_APPEND = """
for number in range(60):
    with Database.open(path, migrations=STEPS) as database:
        database.rows("SELECT text FROM item WHERE text LIKE '%9'")
        database.execute("INSERT INTO item (text) VALUES (?)", (f"{name}-{number}",))
"""
VECTORS = """
with Database.open(path, migrations=STEPS) as database:
    for number in range(60):
        with database.transaction():
            database.execute("INSERT INTO item (text) VALUES (?)", (f"{name}-{number}",))
            database.execute("INSERT INTO vector (item, data) VALUES (?, ?)", (database.last_id, bytes(1536)))
"""


@pytest.mark.parametrize("attempt", range(3))
def test_processes_that_open_a_new_database_together_all_succeed(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / f"made-{attempt}" / "a.sqlite"
    assert run_together([OPEN] * 4, path) == [""] * 4
    with Database.open(path, migrations=STEPS) as database:
        assert database.value("SELECT count(*) FROM migration") == 2


def test_dur_01_one_process_writes_in_a_loop_while_another_searches_and_appends(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    assert run_together([WRITE, SEARCH_AND_APPEND], path) == ["", ""]
    with Database.open(path, migrations=STEPS) as database:
        assert database.value("SELECT count(*) FROM item") == 360
        assert database.integrity() == []


def test_dur_16_three_processes_write_vectors_into_one_store(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    assert run_together([VECTORS] * 3, path) == [""] * 3
    with Database.open(path, migrations=STEPS) as database:
        assert database.value("SELECT count(*) FROM item JOIN vector ON item.id = vector.item") == 180
        assert database.integrity() == []


def test_a_database_held_too_long_is_busy_and_says_which(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with Database.open(path, migrations=STEPS) as holder, Database.open(path, migrations=STEPS, busy_ms=1) as other:
        with holder.transaction(), pytest.raises(StoreBusy, match="sqlite"):
            other.execute("INSERT INTO item (text) VALUES ('x')")
        other.execute("INSERT INTO item (text) VALUES ('x')")


def test_opening_waits_where_sqlite_itself_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = apsw.Connection(str(tmp_path / "a.sqlite"))
    holder.execute("CREATE TABLE other (x); BEGIN IMMEDIATE")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        holder.execute("ROLLBACK")

    monkeypatch.setattr("reverie.store.database.time.sleep", wait)
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS) as database:
        assert database.journal_mode == "wal"
    assert len(waits) == 1
    holder.close()


# --- places and damage ---

MOUNTS = """\
/dev/root / ext4 rw 0 0
server:/home /far/nfs nfs4 rw 0 0
//server/share /far/cifs cifs rw 0 0
share /far/vm virtiofs rw 0 0
share /far/nine 9p rw 0 0
sshfs /far/ssh\\040home fuse.sshfs rw 0 0
/dev/sdb /far/nfs/inside ext4 rw 0 0
"""


def test_the_longest_and_latest_mount_point_names_the_file_system() -> None:
    assert file_system(Path("/far/nfs/a"), MOUNTS) == "nfs4"
    assert file_system(Path("/far/nfs/inside/a"), MOUNTS) == "ext4"
    assert file_system(Path("/far/nfsx"), MOUNTS) == "ext4"
    assert file_system(Path("/far/ssh home/a"), MOUNTS) == "fuse.sshfs"
    assert file_system(Path("/a"), MOUNTS + "tmpfs / tmpfs rw 0 0\n") == "tmpfs"
    assert file_system(Path("/a"), "") == ""


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("nfs4", "delete"),
        ("cifs", "delete"),
        ("virtiofs", "delete"),
        ("9p", "delete"),
        ("fuse.sshfs", "delete"),
        ("ext4", "wal"),
    ],
)
def test_dur_04_the_journal_fits_the_mount(tmp_path: Path, kind: str, mode: str) -> None:
    table = f"/dev/root / ext4 rw 0 0\nthere {tmp_path} {kind} rw 0 0\n"
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS, mounts=table) as database:
        database.execute("INSERT INTO item (text) VALUES ('x')")
        assert database.journal_mode == mode
        assert (tmp_path / "a.sqlite-wal").exists() == (mode == "wal")


def test_dur_04_a_database_with_a_log_that_was_moved_to_a_share_is_read_without_shared_memory(tmp_path: Path) -> None:
    code = """
import os, signal
database = Database.open(path, migrations=STEPS, mounts="")
database.execute("INSERT INTO item (text) VALUES ('in the log')")
os.kill(os.getpid(), signal.SIGKILL)
"""
    run_together([code], tmp_path / "a.sqlite")
    (tmp_path / "a.sqlite-shm").unlink()
    (tmp_path / "a.sqlite-shm").mkdir()  # a place where no shared memory can be made
    table = f"there {tmp_path} nfs rw 0 0\n"
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS, mounts=table) as database:
        assert database.journal_mode == "delete"
        assert database.rows("SELECT text FROM item") == [("in the log",)]
        with Database.open(tmp_path / "a.sqlite", migrations=STEPS, mounts=table) as second:
            second.execute("INSERT INTO item (text) VALUES ('from a second one')")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreUnwritable, match="file"):
        Database.open(tmp_path / "file" / "inner" / "a.sqlite", migrations=STEPS)
    with pytest.raises(StoreUnwritable, match="proc"):
        Database.open(Path("/proc/reverie/a.sqlite"), migrations=STEPS)
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(StoreUnwritable, match="folder"):
        Database.open(tmp_path / "folder.sqlite", migrations=STEPS)


def test_reading_a_missing_database_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not there"):
        Database.open(tmp_path / "new" / "a.sqlite", migrations=STEPS, readonly=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_damaged_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"not a database at all " * 400)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="sqlite"):
        Database.open(path, migrations=STEPS)
    assert path.read_bytes() == before


def test_a_torn_page_is_found_by_the_integrity_check(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with Database.open(path, migrations=STEPS) as database:
        database.executemany("INSERT INTO item (text) VALUES (?)", [(f"row {number} " * 30,) for number in range(300)])
        database.compact()
    data = bytearray(path.read_bytes())
    data[4096 * 5 : 4096 * 6] = os.urandom(4096)
    path.write_bytes(data)
    with Database.open(path, migrations=STEPS) as database:
        assert database.integrity() != []


def test_a_closed_database_says_so_and_closes_twice(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "a.sqlite", migrations=STEPS)
    database.close()
    database.close()
    with pytest.raises(StoreError, match="closed"):
        database.rows("SELECT 1")


def test_dur_18_compacting_gives_the_space_back(tmp_path: Path) -> None:
    with Database.open(tmp_path / "a.sqlite", migrations=STEPS) as database:
        database.executemany("INSERT INTO item (text) VALUES (?)", [(f"{number} " * 60,) for number in range(3000)])
        database.execute("DELETE FROM item WHERE id > 300")
        database.compact()
        raw = database.value("SELECT sum(length(text)) FROM item")
        assert database.size_bytes < 4 * raw


def test_idx_09_a_hot_journal_beside_the_target_cannot_bring_old_rows_back(tmp_path: Path) -> None:
    target, source = tmp_path / "index.sqlite", tmp_path / "new.sqlite"
    killed = """
import os, signal
table = f"there {path.parent} nfs rw 0 0"
with Database.open(path, migrations=STEPS, mounts=table) as database:
    database.executemany("INSERT INTO item (text) VALUES (?)", [(f"old {n}",) for n in range(2000)])
database = Database.open(path, migrations=STEPS, mounts=table)
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN IMMEDIATE")
database.execute("UPDATE item SET text = 'x' || text")
os.kill(os.getpid(), signal.SIGKILL)
"""
    run_together([killed], target)
    assert (tmp_path / "index.sqlite-journal").stat().st_size > 0
    with Database.open(source, migrations=STEPS) as database:
        database.execute("INSERT INTO item (text) VALUES ('new')")
    replace_database(source, target)
    assert [path.name for path in tmp_path.iterdir()] == ["index.sqlite"]
    with Database.open(target, migrations=STEPS) as database:
        assert database.rows("SELECT text FROM item") == [("new",)]
        assert database.integrity() == []


def test_idx_11_removing_the_index_leaves_the_durable_store_alone(tmp_path: Path) -> None:
    for name in ("memory.sqlite", "index.sqlite"):
        with Database.open(tmp_path / name, migrations=STEPS) as database:
            database.execute("INSERT INTO item (text) VALUES (?)", (name,))
    remove_database(tmp_path / "index.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["memory.sqlite"]
    with Database.open(tmp_path / "memory.sqlite", migrations=STEPS) as database:
        assert database.rows("SELECT text FROM item") == [("memory.sqlite",)]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_i5_rows_committed_before_a_kill_are_there_and_the_open_transaction_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    code = """
database = Database.open(path, migrations=STEPS, durable=True)
number = 0
while True:
    with database.transaction():
        database.execute("INSERT INTO item (text) VALUES (?)", (f"a{number}",))
        database.execute("INSERT INTO item (text) VALUES (?)", (f"b{number}",))
    print(number, flush=True)
    number += 1
"""
    child = start(code, path, "killed")
    assert child.stdout is not None
    assert child.stdin is not None
    child.stdout.readline()
    child.stdin.write("\n")
    child.stdin.flush()
    for _ in range(20):
        acknowledged = int(child.stdout.readline())
    child.send_signal(signal.SIGKILL)
    child.communicate()
    with Database.open(path, migrations=STEPS) as database:
        texts = {text for (text,) in database.rows("SELECT text FROM item")}
        assert {f"{side}{number}" for number in range(acknowledged + 1) for side in "ab"} <= texts
        assert {text[1:] for text in texts if text[0] == "a"} == {text[1:] for text in texts if text[0] == "b"}
