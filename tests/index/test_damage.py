from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from reverie.core.errors import StoreError, StoreUnwritable
from reverie.index.lock import acquire


def built(world, count=3):
    for number in range(count):
        world.notes.write(f"memory/n{number}.md", f"note {number} on topic{number}\n")
    index = world.index()
    index.sync([world.notes])
    return index


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[:64] = b"\xa5" * 64
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100, b"\0" * 8192])
def test_a_damaged_index_is_moved_aside_and_made_again(world, content):
    built(world)
    world.close()
    (world.agent / "index.sqlite").write_bytes(content)
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "topic1") == ["memory/n1.md"]
    aside = sorted(found.name for found in world.agent.glob("*.damaged-*"))
    if content:
        assert aside == ["index.sqlite.damaged-1"]
        assert any("was damaged" in notice for notice in index.notices())
    else:
        assert aside == []


def test_damage_found_while_searching_is_repaired_by_the_next_sync(world):
    index = built(world)
    index.compact()
    for page in (world.agent / "index.sqlite", world.agent / "index.sqlite-wal"):
        if page.exists() and page.stat().st_size:
            page.write_bytes(b"\xa5" * page.stat().st_size)
    world.found(index, "topic1")
    index.sync([world.notes])
    assert world.found(index, "topic1") == ["memory/n1.md"]
    assert list(world.agent.glob("*.damaged-*")) and index.integrity() == []


def test_only_the_last_damaged_files_are_kept(world):
    built(world)
    for _ in range(4):
        world.close()
        damage(world.agent / "index.sqlite")
        world.index()
    assert sorted(found.name for found in world.agent.glob("*.damaged-*")) == [
        "index.sqlite.damaged-3",
        "index.sqlite.damaged-4",
    ]


@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
def test_idx_09_side_files_of_an_index_that_is_gone_are_not_rolled_into_the_new_one(world, suffix):
    built(world)
    world.close()
    path = world.agent / "index.sqlite"
    other = world.folder / "other.sqlite"
    with sqlite3.connect(other) as old:
        old.execute("PRAGMA journal_mode = WAL" if suffix == "-wal" else "PRAGMA journal_mode = DELETE")
        old.execute("CREATE TABLE stale (x)")
        old.execute("INSERT INTO stale VALUES (1)")
        old.commit()
        old.execute("BEGIN IMMEDIATE")
        old.execute("INSERT INTO stale SELECT randomblob(5000) FROM stale")
        side = Path(f"{other}{suffix}")
        data = side.read_bytes() if side.exists() else b"\xd9\xd5\x05\xf9 \xa1c\xd7" + b"\0" * 4096
        old.rollback()
    old.close()
    path.unlink()
    Path(f"{path}{suffix}").write_bytes(data)
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "topic2") == ["memory/n2.md"]
    assert index.integrity() == []
    assert world.table(index, "SELECT count(*) FROM sqlite_schema WHERE name = 'stale'") == [(0,)]


def test_idx_09_a_damaged_index_takes_its_journal_along(world):
    built(world)
    world.close()
    path = world.agent / "index.sqlite"
    damage(path)
    Path(f"{path}-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + b"\xff" * 4096)
    index = world.index()
    index.sync([world.notes])
    assert not Path(f"{path}-journal").exists()
    assert world.found(index, "topic2") == ["memory/n2.md"]


def test_an_index_deleted_while_it_is_open_is_made_again(world):
    index = built(world)
    for found in world.agent.glob("index.sqlite*"):
        found.unlink()
    assert world.found(index, "topic1") == []
    index.sync([world.notes])
    assert world.found(index, "topic1") == ["memory/n1.md"]


def test_an_index_replaced_by_another_process_is_followed(world):
    index = built(world)
    world.notes.write("memory/n9.md", "late topic9\n")
    other = world.index(agent="other")
    other.sync([world.notes])
    other.compact()
    for found in world.agent.glob("index.sqlite-*"):
        found.unlink()
    (world.folder / "other/index.sqlite").replace(world.agent / "index.sqlite")
    assert world.found(index, "topic9") == ["memory/n9.md"]


def test_idx_11_a_reset_empties_the_index_and_nothing_else(world):
    index = built(world)
    kept = {}
    for name in ("memory.sqlite", "sessions/sessions.json", "sessions/a.jsonl"):
        path = world.agent / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
        kept[path] = name.encode()
    index.reset()
    assert index.counts().chunks == index.counts().files == 0
    assert world.found(index, "topic1") == [] and index.integrity() == []
    assert {path: path.read_bytes() for path in kept} == kept
    index.sync([world.notes])
    assert world.found(index, "topic1") == ["memory/n1.md"]


def test_dur_18_deleting_most_of_the_notes_makes_the_file_small(world):
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "glade", "haven", "inlet", "joker"]
    text = 0

    def write(count):
        lines = [f"- {number} {' '.join(words[(number * 7 + at) % 10] for at in range(12))}" for number in range(count)]
        world.notes.write("MEMORY.md", "\n".join(lines) + "\n")
        return sum(map(len, lines))

    embedder = world.embedder()
    index = world.index(embedder)
    for count in (2_500, 5_000, 7_500, 10_000):
        text = write(count)
        index.sync([world.notes])
    index.compact()
    large = index.size_bytes
    vectors = 10_000 * embedder.dimension * 2
    assert large < 8 * (text + vectors)
    write(1_000)
    index.sync([world.notes])
    index.compact()
    assert index.size_bytes < large / 5
    assert index.integrity() == []
    assert len(world.near(index, embedder, "amber")) == 50


def test_nothing_of_a_removed_note_is_left_after_compacting(world):
    built(world)
    secret = "xylophonist"
    world.notes.write("memory/secret.md", f"# {secret}\n\nabout the {secret}\n")
    index = world.index(world.embedder())
    index.sync([world.notes])
    (world.notes.root / "memory/secret.md").unlink()
    index.sync([world.notes])
    index.compact()
    raw = b"".join(found.read_bytes() for found in world.agent.glob("index.sqlite*"))
    assert b"xylophon" not in raw and b"topic1" in raw


def test_an_index_that_cannot_be_written_is_searched_as_it_is(world, monkeypatch):
    built(world).compact()
    world.close()
    from reverie.index.files import Database

    opened = Database.open

    def refuse(path, *, migrations, readonly=False):
        if not readonly:
            raise StoreUnwritable(path=str(path))
        return opened(path, migrations=migrations, readonly=True)

    monkeypatch.setattr(Database, "open", refuse)
    index = world.index()
    assert world.found(index, "topic1") == ["memory/n1.md"]
    assert any("cannot be written" in notice for notice in index.notices())
    with pytest.raises(StoreUnwritable):
        index.sync([world.notes])


def test_a_folder_that_cannot_be_made_is_one_clear_error(world):
    (world.folder / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreUnwritable):
        world.index(agent="file/agent")


def test_an_index_of_a_newer_version_is_left_alone(world):
    built(world)
    world.close()
    path = world.agent / "index.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO migration VALUES ('9999_future')")
    database.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version"):
        world.index()
    assert path.read_bytes() == before


def test_who_does_not_get_the_lock_says_so_and_can_search(world):
    index = built(world)
    world.notes.write("memory/n9.md", "late topic9\n")
    (world.notes.root / "memory/n0.md").unlink()
    lock = acquire(world.agent / "index.lock", 0)
    assert lock is not None
    try:
        report = index.sync([world.notes])
        assert report.pending == 2 and any("another process" in notice for notice in report.notices)
        assert world.found(index, "topic1") == ["memory/n1.md"]
    finally:
        lock.release()
    assert index.sync([world.notes]).added == 1
