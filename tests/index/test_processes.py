from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture
def start(world):
    running = []

    def run(*arguments):
        process = subprocess.Popen(
            [sys.executable, str(WORKER), str(world.folder), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.communicate()


def test_dur_16_three_processes_index_into_one_store_at_once(world, start):
    workers = [start("write", name) for name in ("ada", "bob", "cyd")]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    reports = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    embedder = world.embedder()
    index = world.index(embedder)
    last = index.sync([world.notes])
    assert sum(int(added) for added, _ in reports) + last.added == 60
    assert index.integrity() == []
    assert (index.counts().files, index.counts().chunks, index.counts().vectors) == (60, 60, 60)
    for name in ("ada", "bob", "cyd"):
        assert sorted(world.found(index, name)) == sorted(f"memory/{name}-{number}.md" for number in range(20))
    assert len(world.near(index, embedder, "note of bob on topic3")) == 50


def test_two_syncs_of_the_same_new_files_write_them_once(world, start):
    for number in range(40):
        world.notes.write(f"memory/n{number}.md", f"note on topic{number}\n")
    workers = [start("sync"), start("sync")]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    added = [int(worker.communicate(timeout=60)[0].split()[0]) for worker in workers]
    assert sorted(added) == [0, 40]
    index = world.index(world.embedder())
    assert index.sync([world.notes]).unchanged == 40
    assert index.counts().chunks == 40 and index.integrity() == []


def test_a_killed_sync_goes_on_where_it_stopped(world, start):
    for number in range(200):
        world.notes.write(f"memory/n{number:03d}.md", f"note number {number} on topic{number}\n")
    worker = start("stuck")
    word, done = worker.stdout.readline().split()
    assert word == "stuck" and 64 <= int(done) < 200
    worker.kill()
    worker.wait()
    embedder = world.embedder()
    index = world.index(embedder)
    assert index.integrity() == []
    report = index.sync([world.notes])
    assert report.embedded == len(embedder.seen) == 200 - int(done)
    assert (index.counts().files, index.counts().vectors) == (200, 200)
    assert world.near(index, embedder, "note number 7 on topic7")[0] == "memory/n007.md"


def test_a_reader_sees_old_or_new_documents_while_another_process_writes(world, start):
    for number in range(300):
        world.notes.write(f"memory/n{number}.md", f"## one\nside{number} left\n## two\nside{number} right\n")
    worker = start("sync")
    assert worker.stdout.readline() == "ready\n"
    index = world.index()
    worker.stdin.write("go\n")
    worker.stdin.flush()
    seen = []
    while not seen or seen[-1] < 300:
        counts = index.counts()
        assert counts.chunks == 2 * counts.files
        seen.append(counts.files)
        assert worker.poll() is None or index.counts().files == 300
    assert seen == sorted(seen)
