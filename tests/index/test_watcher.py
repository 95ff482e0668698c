from __future__ import annotations

import threading
from pathlib import Path

import pytest

from reverie.index.watcher import Watcher

PATIENCE = 30.0


class Calls:
    """Counts calls and lets a test wait for one more."""

    def __init__(self, work=lambda: None):
        self.count = 0
        self._work = work
        self._changed = threading.Condition()

    def __call__(self):
        self._work()
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait_until(self, reached):
        """Say whether it was reached before the patience ends."""
        with self._changed:
            return self._changed.wait_for(reached, PATIENCE)


@pytest.fixture
def watch():
    watchers = []

    def start(*roots, on_change, **options):
        watcher = Watcher(roots, on_change, debounce_ms=50, quiet_ms=10, **options)
        watchers.append(watcher)
        watcher.start()
        return watcher

    yield start
    for watcher in watchers:
        watcher.stop()
        assert not watcher.watching


def test_idx_04_what_is_there_at_the_start_is_indexed(world, watch):
    for number in range(5):
        world.notes.write(f"memory/n{number}.md", f"about topic{number}\n")
    index = world.index()
    calls = Calls(lambda: index.sync([world.notes]))
    watch(world.notes.root, on_change=calls)
    assert calls.wait_until(lambda: calls.count >= 1)
    assert [world.found(index, f"topic{number}") for number in range(5)] == [
        [f"memory/n{number}.md"] for number in range(5)
    ]


def test_files_written_changed_and_removed_later_are_noticed(world, watch):
    world.notes.write("memory/a.md", "about topic1\n")
    index = world.index()
    calls = Calls(lambda: index.sync([world.notes]))
    watch(world.notes.root, on_change=calls)
    # The first call is the look at the start, the second the one after the watch has begun.
    assert calls.wait_until(lambda: calls.count >= 2)
    world.notes.write("memory/b.md", "about topic2\n")
    assert calls.wait_until(lambda: world.found(index, "topic2") == ["memory/b.md"])
    (world.notes.root / "memory/a.md").unlink()
    assert calls.wait_until(lambda: world.found(index, "topic1") == [])
    world.notes.write("memory/new/deep/c.md", "about topic3\n")
    assert calls.wait_until(lambda: world.found(index, "topic3") == ["memory/new/deep/c.md"])
    world.notes.write("memory/new/deep/d.md", "about topic4\n")
    assert calls.wait_until(lambda: world.found(index, "topic4") == ["memory/new/deep/d.md"])


def test_a_root_that_appears_later_is_watched(world, watch):
    calls = Calls()
    root = world.folder / "later"
    watch(root, on_change=calls)
    assert calls.wait_until(lambda: calls.count >= 1)
    root.mkdir()
    assert calls.wait_until(lambda: calls.count >= 2)
    (root / "a.md").write_text("x", encoding="utf-8")
    assert calls.wait_until(lambda: calls.count >= 3)


def test_idx_06_ignored_folders_are_not_watched(world):
    world.notes.write("memory/a.md", "x")
    for name in ("node_modules/pkg", ".venv/lib", ".git/objects", "memory/sub"):
        (world.notes.root / name).mkdir(parents=True)
    outside = world.folder / "outside"
    outside.mkdir()
    (world.notes.root / "memory/link").symlink_to(outside)
    root = world.notes.root
    assert Watcher([root], lambda: None).folders() == [root, root / "memory", root / "memory/sub"]
    assert Watcher([root / "memory"], lambda: None, flat=[root]).folders() == [
        root,
        root / "memory",
        root / "memory/sub",
    ]


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors where the system lists them")
@pytest.mark.slow
def test_idx_05_two_thousand_files_cost_few_descriptors(world, watch):
    for number in range(2_000):
        world.notes.write(f"memory/{number // 100}/{number // 10}/n{number}.md", f"about topic{number}\n")
    index = world.index()
    index.sync([world.notes])
    before = descriptors()
    calls = Calls()
    watch(world.notes.root, on_change=calls)
    assert calls.wait_until(lambda: calls.count >= 2)
    while_watching = descriptors()
    for number in range(10):
        assert world.found(index, f"topic{number}") == [f"memory/0/{number // 10}/n{number}.md"]
    assert while_watching - before < 12
    assert descriptors() == while_watching


def test_a_failing_sync_ends_the_watch_and_is_kept(world):
    def fail():
        raise ValueError("no more")

    watcher = Watcher([world.notes.root], fail)
    watcher.start()
    watcher.stop()
    assert not watcher.watching and str(watcher.failure) == "no more"
