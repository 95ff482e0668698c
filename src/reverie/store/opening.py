"""How a database file is opened, with every pragma and its reason; and how one is removed or replaced whole."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import apsw

from reverie.core.errors import StoreError, StoreUnwritable

#: What SQLite keeps beside a database, in the order in which they may be removed once the database is gone.
SIDE_FILES = ("-journal", "-wal", "-shm")


def check_place(path: Path, *, readonly: bool) -> None:
    """Make the folder of a database that is to be written; see that one to be read is there."""
    if readonly:
        if not path.is_file():
            raise StoreError("The database is not there", path=str(path), hint="it is made by the first write")
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable("The folder cannot be made", path=str(path.parent), reason=error.strerror) from error


def connect(path: Path, *, readonly: bool, busy_ms: int) -> apsw.Connection:
    """Return a connection that waits ``busy_ms`` for others. Nothing has been read unless ``readonly``."""
    # Opening reads nothing; the first statement does.
    flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(busy_ms)
    if readonly:
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # Trigger: a folder that cannot be written, so that the shared memory of the log cannot be made.
            # Why: without a log the file is whole by itself. Outcome: it is read as one that never changes.
            connection.close(True)
            log = path.with_name(path.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise
            flags |= apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
    return connection


def set_journal(connection: apsw.Connection, *, local: bool) -> None:
    """Switch to the write-ahead log, or on shared mounts to the rollback journal."""
    if local:
        # Readers and a writer do not wait for each other.
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        return
    # Exclusive locking first: a database that still has a log is then read without shared memory.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.execute("PRAGMA locking_mode = NORMAL").fetchall()
    # The lock is given back by the next read.
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def set_pragmas(connection: apsw.Connection, *, durable: bool, readonly: bool) -> None:
    """Set everything about a connection except its journal."""
    settings = {
        # Rows of a child table may not outlive their parent.
        "foreign_keys": "ON",
        # A schema that came from elsewhere may not call functions with side effects.
        "trusted_schema": "OFF",
        # Sorts and temporary tables leave no copies of memory text in /tmp.
        "temp_store": "MEMORY",
        # Kibibytes. The durable store is small; searches read much of the index again and again.
        "cache_size": "-2000" if durable else "-16000",
        # Mapped pages count as resident memory (120 MB for 100,000 chunks) and were no faster.
        "mmap_size": "0",
    }
    if not readonly:
        settings |= {
            # FULL: an acknowledged commit survives a power cut. NORMAL: the last ones may be lost, never half.
            "synchronous": "FULL" if durable else "NORMAL",
            # On macOS an ordinary flush stops at the cache of the drive.
            "fullfsync": "ON" if durable else "OFF",
            # ON overwrites what is deleted; FAST does so where it costs no extra writing.
            "secure_delete": "ON" if durable else "FAST",
            # Bytes. One large transaction may not leave a large log behind.
            "journal_size_limit": str(32 * 1024 * 1024),
        }
    for name, value in settings.items():
        connection.execute(f"PRAGMA {name} = {value}").fetchall()


def remove_database(path: Path) -> None:
    """Remove a database that nobody has open, with everything that SQLite keeps beside it.

    The database goes first: a journal without one is ignored, a database without its journal is damaged.
    """
    for suffix in ("", *SIDE_FILES):
        try:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnwritable("The database cannot be removed", path=str(path), reason=error.strerror) from error


def replace_database(source: Path, target: Path) -> None:
    """Put the closed database ``source`` in the place of ``target``, which nobody may have open.

    A journal left beside the target belongs to the old content and would be rolled into the new one (list A,
    IDX-09), so the target goes with all its side files first. For derived databases: a crash in between leaves
    none.
    """
    remove_database(target)
    try:
        source.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise StoreUnwritable("The database cannot be replaced", path=str(target), reason=error.strerror) from error
    remove_database(source)


def _sync_folder(folder: Path) -> None:
    with suppress(PermissionError):  # Windows cannot open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
