"""The file ``index.sqlite`` on the disk: opened, and where it is damaged, moved aside with all that lies beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.core.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from reverie.index.lock import acquire
from reverie.index.rows import revision
from reverie.index.schema import MIGRATIONS
from reverie.store.database import Database
from reverie.store.opening import remove_database

NAME = "index.sqlite"
LOCK_NAME = "index.lock"
#: How long to wait for a process that is indexing before the file itself is changed, in seconds.
PATIENCE = 10.0
#: How many damaged files are kept to be looked at.
DAMAGED_KEPT = 2


class IndexFile:
    """Opens one index and knows whether the file at its path is still the one that was opened."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.lock_path = folder / LOCK_NAME
        self.notices: list[str] = []

    @contextmanager
    def locked(self, seconds: float) -> Iterator[None]:
        """Hold the writers' lock.

        Raises:
            StoreBusy: Another process holds it for longer than ``seconds``.
            StoreUnwritable: The lock file cannot be made.
        """
        lock = acquire(self.lock_path, seconds)
        if lock is None:
            raise StoreBusy("Another process is indexing", path=str(self.path))
        try:
            yield
        finally:
            lock.release()

    def identity(self) -> tuple[int, int] | None:
        """Return what tells the file at the path from another one there before; ``None`` if there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def connect(self, *, writer: bool = False) -> Database:
        """Open the index, made anew where it is missing or damaged.

        A reader of an index that cannot be written gets it as it is; a writer gets the error.

        Raises:
            StoreBusy: Another process holds the damaged file.
            StoreUnwritable: There is no index and none can be made, or ``writer`` and it cannot be written.
            StoreError: A newer Reverie made it.
        """
        self._clear_leftovers()
        try:
            return self._checked(readonly=False)
        except StoreDamaged as error:
            self.move_aside(self.identity(), error)
            return self._checked(readonly=False)
        except StoreUnwritable as error:
            if writer or not self.path.is_file():
                raise
            self.notices.append(f"the index cannot be written and is searched as it is: {error}")
            return self._checked(readonly=True)

    def connect_to_check(self) -> Database:
        """Open the index as it is, for reading.

        Raises:
            StoreDamaged: It cannot be read at all.
            StoreError: It is not there.
        """
        return self._checked(readonly=True)

    def _checked(self, *, readonly: bool) -> Database:
        database = Database.open(self.path, migrations=MIGRATIONS, readonly=readonly)
        try:
            revision(database)
        except StoreError:
            database.close()
            raise
        return database

    def _clear_leftovers(self) -> None:
        """Remove what lies beside an index that is gone: SQLite would roll it into the new one (list A, IDX-09)."""
        beside = [self.path.with_name(NAME + suffix) for suffix in ("-journal", "-wal", "-shm")]
        if self.path.exists() or not any(one.exists() for one in beside):
            return
        with self.locked(PATIENCE):
            if not self.path.exists():
                remove_database(self.path)

    def move_aside(self, damaged: tuple[int, int] | None, error: StoreDamaged) -> None:
        """Move the damaged file away, unless somebody else did; nobody in this process may have it open.

        Raises:
            StoreBusy: Another process is indexing into it.
            StoreUnwritable: It cannot be moved.
        """
        with self.locked(PATIENCE):
            if damaged is None or self.identity() != damaged:
                return
            number = 1 + max(self._damaged(), default=0)
            aside = self.path.with_name(f"{NAME}.damaged-{number}")
            try:
                self.path.replace(aside)
                remove_database(self.path)
                for old in sorted(self._damaged())[:-DAMAGED_KEPT]:
                    self.path.with_name(f"{NAME}.damaged-{old}").unlink(missing_ok=True)
            except OSError as reason:
                raise StoreUnwritable(path=str(self.path), reason=reason.strerror) from error
        self.notices.append(f"the index was damaged; it lies in {aside.name} now and is made again from the files")

    def _damaged(self) -> list[int]:
        endings = [found.name.removeprefix(f"{NAME}.damaged-") for found in self.path.parent.glob(f"{NAME}.damaged-*")]
        return [int(ending) for ending in endings if ending.isascii() and ending.isdigit()]
