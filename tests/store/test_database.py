"""The one way to open a database."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from reverie.core.errors import StoreError, StoreUnwritable
from reverie.store.database import Database, Migration

STEPS = (Migration.script("0001_item", "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT UNIQUE); CREATE TABLE more (x)"),)


def test_rows_written_are_read_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.sqlite"
    with Database.open(path, migrations=STEPS, durable=True) as database:
        database.execute("INSERT INTO item (text) VALUES (?)", ("one",))
        assert database.journal_mode == "wal"
        assert database.integrity() == []
    with Database.open(path, migrations=STEPS, readonly=True) as database:
        assert database.rows("SELECT text FROM item") == [("one",)]
        with pytest.raises(StoreUnwritable):
            database.execute("DELETE FROM item")


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


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    Database.open(tmp_path / "a.sqlite", migrations=STEPS).close()
    with pytest.raises(StoreError, match="newer"):
        Database.open(tmp_path / "a.sqlite", migrations=())
