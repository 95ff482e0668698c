"""One way to use a SQLite database: its opening, its errors and the rule for threads in one place.

Both databases of an agent go through :meth:`Database.open`. SQLite comes bundled with apsw (choice C22), so that
every machine runs the same version. One connection is guarded by one re-entrant lock and may be used from several
threads; a transaction holds the lock from its beginning to its end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from reverie.core.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from reverie.store.mounts import mount_table, shares_memory
from reverie.store.opening import SIDE_FILES, check_place, connect, set_journal, set_pragmas

Params = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

_MIGRATIONS = "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) STRICT"
_APPLIED = "SELECT name FROM migration"
_RECORD = "INSERT INTO migration (name) VALUES (?)"
_HAS_MIGRATIONS = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migration'"

_BUSY = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
_UNWRITABLE = (
    *(apsw.ReadOnlyError, apsw.CantOpenError, apsw.FullError, apsw.IOError),
    *(apsw.PermissionsError, apsw.AuthError),
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of a schema, for example ``Migration("0001_start", create_tables)``.

    ``apply`` runs in the transaction that also records ``name``; it must not open one of its own except by
    :meth:`Database.transaction` (which nests).
    """

    name: str
    apply: Callable[[Database], None]

    @classmethod
    def script(cls, name: str, sql: str) -> Migration:
        """Return a step that runs ``sql``, which may hold several statements."""

        def apply(database: Database) -> None:
            database.execute(sql)

        return cls(name, apply)


class Database:
    """An open database. Made by :meth:`open`; closed by :meth:`close` or as a context manager."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self._depth = 0
        self.path = path

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        migrations: Sequence[Migration],
        readonly: bool = False,
        durable: bool = False,
        busy_ms: int = 10_000,
        mounts: str | None = None,
    ) -> Database:
        """Open (and unless ``readonly``, create) the database at ``path`` and bring its schema up to date.

        Args:
            path: The database file. Its folder is made if it can be.
            migrations: Every step of the schema, in order. Steps already recorded are not run again.
            readonly: Open for reading; the database must exist, and no step is run.
            durable: The database holds what cannot be rebuilt: every commit is flushed to the disk, and deleted
                content is overwritten.
            busy_ms: How long to wait for other processes, in milliseconds.
            mounts: Text of the mount table; the machine's own by default.

        Raises:
            StoreBusy: Another process held the database for longer than ``busy_ms``.
            StoreDamaged: The file is no database, or a damaged one.
            StoreUnwritable: The folder or the file cannot be made or written.
            StoreError: It is missing (``readonly``), or a newer Reverie made it.
        """
        local = shares_memory(path.parent, mount_table() if mounts is None else mounts)
        check_place(path, readonly=readonly)
        deadline = time.monotonic() + busy_ms / 1000
        while True:
            try:
                with _mapped(path):
                    connection = connect(path, readonly=readonly, busy_ms=busy_ms)
                    return cls._prepared(connection, path, migrations, readonly=readonly, durable=durable, local=local)
            except StoreBusy:
                # Trigger: two processes meet at the switch of the journal mode.
                # Why: SQLite does not call its busy handler there. Outcome: the whole opening is tried again.
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)

    @classmethod
    def _prepared(
        cls,
        connection: apsw.Connection,
        path: Path,
        migrations: Sequence[Migration],
        *,
        readonly: bool,
        durable: bool,
        local: bool,
    ) -> Database:
        database = cls(connection, path)
        try:
            if not readonly:
                set_journal(connection, local=local)
            set_pragmas(connection, durable=durable, readonly=readonly)
            database._migrate(migrations, readonly=readonly)
        except BaseException:
            with suppress(apsw.Error):
                connection.close(True)
            raise
        return database

    def _migrate(self, migrations: Sequence[Migration], *, readonly: bool) -> None:
        known = {migration.name for migration in migrations}
        applied = self._applied()
        if unknown := sorted(applied - known):
            raise StoreError(
                "The database was made by a newer version", path=str(self.path), step=unknown[0], hint="upgrade reverie"
            )
        if readonly or applied == known:
            return
        with self.transaction():
            self.execute(_MIGRATIONS)
        for migration in migrations:
            with self.transaction():
                # Looked up inside the write lock: a second process may have applied it in the meantime.
                if migration.name not in self._applied():
                    migration.apply(self)
                    self.execute(_RECORD, (migration.name,))

    def _applied(self) -> set[str]:
        return {name for (name,) in self.rows(_APPLIED)} if self.value(_HAS_MIGRATIONS) else set()

    # --- statements ---

    def execute(self, sql: str, params: Params = ()) -> Iterator[Row]:
        """Run ``sql`` and return its rows one by one.

        The statement has run up to its first row when this returns, so a caller that wants no rows may drop the
        result. An iterator left half read keeps a snapshot open: use :meth:`rows` unless the result is large.
        """
        with self._lock, _mapped(self.path):
            cursor = self._connection.execute(sql, params)
        return self._stream(cursor)

    def _stream(self, cursor: apsw.Cursor) -> Iterator[Row]:
        while True:
            with self._lock, _mapped(self.path):
                row = next(cursor, None)
            if row is None:
                return
            yield row

    def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Run ``sql`` and return all rows."""
        with self._lock, _mapped(self.path):
            return self._connection.execute(sql, params).fetchall()

    def row(self, sql: str, params: Params = ()) -> Row | None:
        """Run ``sql`` and return its first row, or ``None``."""
        with self._lock, _mapped(self.path):
            cursor = self._connection.execute(sql, params)
            found = cursor.fetchone()
            cursor.close(True)
            return found

    def value(self, sql: str, params: Params = ()) -> Any:
        """Run ``sql`` and return the first column of its first row, or ``None``."""
        found = self.row(sql, params)
        return found[0] if found else None

    def executemany(self, sql: str, params: Iterable[Params]) -> None:
        """Run ``sql`` once for each of ``params``; alone it is one transaction."""
        with self.transaction(), _mapped(self.path):
            self._connection.executemany(sql, params)

    @property
    def changes(self) -> int:
        """Return how many rows the last INSERT, UPDATE or DELETE touched."""
        return self._connection.changes()

    @property
    def last_id(self) -> int:
        """Return the row id of the last INSERT."""
        return self._connection.last_insert_rowid()

    # --- transactions ---

    @contextmanager
    def transaction(self, immediate: bool = True) -> Iterator[Database]:
        """Run the block as one transaction; inside another one, as a savepoint.

        ``immediate`` takes the write lock at once, which is what lets other writers wait instead of fail; give
        ``False`` for a block that only reads and wants one snapshot. Other threads wait until the block ends. The
        block's own exception is what the caller sees, whatever happens while it is rolled back.
        """
        with self._lock:
            outer = self._depth == 0
            name = f"nested_{self._depth}"
            begin = f"BEGIN {'IMMEDIATE' if immediate else 'DEFERRED'}" if outer else f"SAVEPOINT {name}"
            end = "COMMIT" if outer else f"RELEASE {name}"
            back = ("ROLLBACK",) if outer else (f"ROLLBACK TO {name}", f"RELEASE {name}")
            with _mapped(self.path):
                self._connection.execute(begin)
            self._depth += 1
            try:
                yield self
                with _mapped(self.path):
                    self._connection.execute(end)
            except BaseException:
                self._roll_back(back)
                raise
            finally:
                self._depth -= 1

    def _roll_back(self, statements: Sequence[str]) -> None:
        # A full disk or an I/O error makes SQLite roll back by itself; then there is nothing left to undo.
        with suppress(apsw.Error):
            for statement in statements:
                if self._connection.in_transaction:
                    self._connection.execute(statement)

    # --- the whole file ---

    @property
    def journal_mode(self) -> str:
        """Return ``wal`` or ``delete``."""
        return str(self.value("PRAGMA journal_mode"))

    @property
    def size_bytes(self) -> int:
        """Return the bytes on disk, with the log and the journal."""
        total = 0
        for suffix in ("", *SIDE_FILES):
            with suppress(OSError):
                # A stat and never an open: closing a second handle would drop this process's locks (POSIX).
                total += self.path.with_name(self.path.name + suffix).stat().st_size
        return total

    def integrity(self) -> list[str]:
        """Return what is wrong with the database, one sentence each; empty when nothing is."""
        try:
            problems = [str(text) for (text,) in self.rows("PRAGMA integrity_check") if text != "ok"]
            orphans = self.rows("PRAGMA foreign_key_check")
        except StoreDamaged as error:
            return [str(error)]
        return problems + [f"{table} row {rowid} points to nothing in {parent}" for table, rowid, parent, _ in orphans]

    def compact(self) -> None:
        """Give free pages back to the disk and empty the log, so that deleted content is in neither."""
        with self._lock, _mapped(self.path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the connection; closing twice does nothing."""
        with self._lock, _mapped(self.path):
            self._connection.close(True)

    def __enter__(self) -> Database:
        """Return the database itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


@contextmanager
def _mapped(path: Path) -> Iterator[None]:
    """Raise SQLite's errors about the file as those of the error tree; errors of the statement stay as they are."""
    try:
        yield
    except _BUSY as error:
        raise StoreBusy(path=str(path)) from error
    except _DAMAGED as error:
        raise StoreDamaged(path=str(path), reason=str(error)) from error
    except _UNWRITABLE as error:
        raise StoreUnwritable(path=str(path), reason=str(error)) from error
    except apsw.ConnectionClosedError as error:
        raise StoreError("The database is closed", path=str(path)) from error
