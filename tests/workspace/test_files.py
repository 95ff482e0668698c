from __future__ import annotations

import errno
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import FileUnreadable, PathNotAllowed, StoreBusy, StoreUnwritable, WriteConflict, WriteRefused
from reverie.core.text import sha256
from reverie.workspace import atomic, files

WRITERS = Path(__file__).with_name("writers.py")


def start(job: str, locks: Path, path: Path, *rest: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITERS), job, str(locks), str(path), *rest]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")


def temporaries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(files.TEMP_PREFIX))


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    return tmp_path / "state" / "locks"


# --- containment


@pytest.mark.parametrize(
    "relative",
    [
        "",
        "..",
        "../secret.md",
        "memory/../../secret.md",
        "memory/..",
        "/etc/passwd",
        "\\\\host\\share",
        "\\etc\\passwd",
        "memory\\..\\..\\secret.md",
        "C:\\secret.md",
        "c:/secret.md",
        "memory/a\0.md",
        "\ud800.md",
        "out/secret.md",
        "out-file.md",
        "loop/x.md",
        ".",
    ],
)
def test_a_path_that_leaves_the_root_is_refused(tmp_path: Path, relative: str) -> None:
    root = tmp_path / "root"
    (root / "memory").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("x", encoding="utf-8")
    (root / "out").symlink_to(tmp_path)
    (root / "out-file.md").symlink_to(tmp_path / "secret.md")
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(PathNotAllowed):
        files.contained(root, relative)


@pytest.mark.parametrize(
    "relative", ["MEMORY.md", "memory/🦊 [old] #7.md", "memory/new/deep.md", "a:b.md", "..x/..y.md"]
)
def test_a_path_inside_the_root_is_resolved_whether_or_not_it_exists(tmp_path: Path, relative: str) -> None:
    assert files.contained(tmp_path, relative) == tmp_path.resolve() / relative


def test_a_root_that_is_itself_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    assert files.contained(tmp_path / "alias", "a.md") == (tmp_path / "real" / "a.md").resolve()


# --- reading


@given(st.binary(max_size=400))
def test_every_byte_survives_decoding_and_encoding(data: bytes) -> None:
    found = files.decode(data)
    assert found.encode(found.exact) == data
    assert found.hash == sha256(data)
    found.text.encode("utf-8")


def test_a_byte_order_mark_and_crlf_are_kept_beside_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbf# Title\r\nbody\r\nodd\n")
    found = files.read(path)
    assert (found.text, found.bom, found.newline, found.lossy) == ("# Title\r\nbody\r\nodd\n", True, "\r\n", False)
    assert found.encode(found.exact) == path.read_bytes()


def test_enc_04_odd_bytes_are_read_with_a_named_notice(tmp_path: Path) -> None:
    latin = tmp_path / "latin.md"
    latin.write_bytes("Käse für Zoë".encode("latin-1"))
    odd = tmp_path / "odd.md"
    odd.write_bytes(b"a \xc3\x28 b")
    assert files.read(latin).text == "Käse für Zoë"
    found = files.read(odd)
    assert found.lossy
    assert "(" in found.text
    assert found.notices == ("odd.md: not valid UTF-8; 1 bytes were read as Latin-1",)


def test_what_is_no_text_file_is_named_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "binary.md").write_bytes(b"text\0more")
    (tmp_path / "wide.md").write_bytes("text".encode("utf-16"))
    (tmp_path / "link.md").symlink_to(tmp_path / "binary.md")
    reasons = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "sock.md"))
        for name in ("pipe.md", "folder.md", "binary.md", "wide.md", "link.md", "sock.md", "gone.md", "binary.md/x.md"):
            with pytest.raises(FileUnreadable) as caught:
                files.read(tmp_path / name)
            reasons[name] = caught.value.fields["reason"]
    assert reasons == {
        "pipe.md": "named pipe",
        "folder.md": "folder",
        "binary.md": "binary",
        "wide.md": "UTF-16 text",
        "link.md": "symbolic link",
        "sock.md": "socket",
        "gone.md": "vanished",
        "binary.md/x.md": "vanished",
    }
    with pytest.raises(FileUnreadable) as caught:
        files.read(Path("/dev/null"))
    assert caught.value.fields["reason"] == "device"


def test_a_note_of_40_mb_on_one_line_is_skipped_by_name_and_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    with path.open("wb") as file:
        file.truncate(40 * 1024 * 1024)
    with pytest.raises(FileUnreadable) as caught:
        files.read(path)
    assert caught.value.fields["reason"] == "too large"
    assert str(path) in str(caught.value)
    assert path.stat().st_size == 40 * 1024 * 1024


# --- replacing


def test_a_replacement_needs_the_hash_of_what_is_there(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "MEMORY.md"
    first = files.replace(path, b"one\n", expected=None, lock_dir=locks)
    second = files.replace(path, b"two\n", expected=first, lock_dir=locks)
    assert (first, second) == (sha256(b"one\n"), sha256(b"two\n"))
    for stale in (first, None):
        with pytest.raises(WriteConflict):
            files.replace(path, b"three\n", expected=stale, lock_dir=locks)
    path.unlink()
    with pytest.raises(WriteConflict):
        files.replace(path, b"three\n", expected=second, lock_dir=locks)
    assert temporaries(tmp_path) == []


def test_a_save_by_an_editor_during_the_write_is_a_conflict_and_is_kept(
    tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    first = files.replace(path, b"one\n", expected=None, lock_dir=locks)
    flush = os.fsync

    def edited_meanwhile(descriptor: int) -> None:
        flush(descriptor)
        path.write_bytes(b"typed by hand\n")

    monkeypatch.setattr(os, "fsync", edited_meanwhile)
    with pytest.raises(WriteConflict):
        files.replace(path, b"two\n", expected=first, lock_dir=locks)
    fresh = tmp_path / "USER.md"
    monkeypatch.setattr(os, "fsync", lambda descriptor: fresh.write_bytes(b"by hand\n"))
    with pytest.raises(WriteConflict):
        files.replace(fresh, b"ours\n", expected=None, lock_dir=locks)
    assert (path.read_bytes(), fresh.read_bytes()) == (b"typed by hand\n", b"by hand\n")
    assert temporaries(tmp_path) == []


def test_the_mode_of_a_file_is_kept_and_a_new_one_is_private(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "memory" / "new.md"
    before = files.replace(path, b"1\n", expected=None, lock_dir=locks)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o664)
    files.replace(path, b"2\n", expected=before, lock_dir=locks)
    assert path.stat().st_mode & 0o777 == 0o664


def test_links_folders_and_write_protected_files_are_never_replaced(tmp_path: Path, locks: Path) -> None:
    target = tmp_path / "target.md"
    target.write_bytes(b"x\n")
    link = tmp_path / "link.md"
    link.symlink_to(target)
    protected = tmp_path / "protected.md"
    protected.write_bytes(b"y\n")
    protected.chmod(0o444)
    (tmp_path / "folder.md").mkdir()
    for name, expected in (("link.md", b"x\n"), ("protected.md", b"y\n"), ("folder.md", b"")):
        with pytest.raises(WriteRefused):
            files.replace(tmp_path / name, b"z\n", expected=sha256(expected), lock_dir=locks)
    assert (target.read_bytes(), protected.read_bytes(), link.is_symlink()) == (b"x\n", b"y\n", True)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_dur_07_a_failed_write_names_the_path_and_leaves_the_old_file(
    tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    for name in ("MEMORY.md", "USER.md", "2026-09-01.md"):
        path = tmp_path / name
        before = files.replace(path, b"old\n", expected=None, lock_dir=locks)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(WriteRefused) as caught:
                files.replace(path, b"new\n", expected=before, lock_dir=locks)
        assert caught.value.fields["path"] == str(path)
        assert path.read_bytes() == b"old\n"
    assert temporaries(tmp_path) == []


def test_dur_07_a_kill_at_any_moment_leaves_the_old_or_the_new_file(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "memory" / "2026-09-01.md"
    size = 300_000
    whole = {letter * size + b"\n" for letter in (b"A", b"B")}
    files.replace(path, b"A" * size + b"\n", expected=None, lock_dir=locks)
    moments = random.Random(7)
    leftovers = 0
    writers = start("nursery", locks, path, str(size))
    assert writers.stdin is not None
    assert writers.stdout is not None
    for _ in range(100):
        writers.stdin.write("another\n")
        writers.stdin.flush()
        number = int(writers.stdout.readline())
        # A busy wait of a random length: the test is about where in a write the signal lands.
        until = time.perf_counter() + moments.random() * 0.03
        while time.perf_counter() < until:
            pass
        os.kill(number, signal.SIGKILL)
        assert writers.stdout.readline() == "gone\n"
        assert path.read_bytes() in whole
        leftovers = max(leftovers, len(temporaries(path.parent)))
    writers.communicate()
    assert leftovers > 0, "no kill landed inside a write; the test proves nothing"
    files.replace(path, b"end\n", expected=files.read(path).hash, lock_dir=locks)
    assert temporaries(path.parent) == []


def test_a_stale_temporary_file_of_another_note_goes_once_it_is_old(tmp_path: Path, locks: Path) -> None:
    young, old = (tmp_path / f"{files.TEMP_PREFIX}{name}" for name in ("0000-young", "0000-old"))
    for path in (young, old):
        path.write_bytes(b"half")
    aged = young.stat().st_mtime - 3600
    os.utime(old, (aged, aged))
    files.append(tmp_path / "a.md", b"line", lock_dir=locks)
    assert temporaries(tmp_path) == [young.name]


# --- appending


def test_appended_lines_are_whole_and_their_numbers_are_those_of_an_editor(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "memory" / "a.md"
    first = files.append(path, b"one", lock_dir=locks)
    second = files.append(path, b"two\nthree\n", lock_dir=locks)
    assert (first.start_line, first.end_line, second.start_line, second.end_line) == (1, 1, 2, 3)
    assert second.hash == sha256(b"one\ntwo\nthree\n") == sha256(path.read_bytes())


def test_an_append_finishes_the_last_line_in_the_way_of_the_file(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one\r\ntwo")
    found = files.append(path, b"three", lock_dir=locks)
    assert path.read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert (found.start_line, found.end_line) == (3, 3)


def test_dur_05_threads_and_then_processes_append_without_losing_a_line(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "memory" / "2026-09-01.md"
    files.replace(path, b"# earlier\n\ntext without end", expected=None, lock_dir=locks)
    lines = [f"thread {number}" for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda line: files.append(path, line.encode(), lock_dir=locks), lines))
    assert sorted(one.start_line for one in found) == list(range(4, 24))
    processes = [start("append", locks, path, f"process {number}") for number in range(8)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    text = path.read_text(encoding="utf-8").splitlines()
    assert text[:3] == ["# earlier", "", "text without end"]
    assert sorted(text[3:]) == sorted(lines + [f"process {number}" for number in range(8)])


def test_an_append_is_repeated_when_an_editor_saves_in_between(
    tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one\n")
    flush, saved = os.fsync, []

    def edited_once(descriptor: int) -> None:
        flush(descriptor)
        if not saved:
            saved.append(path.write_bytes(b"one\nby hand\n"))

    monkeypatch.setattr(os, "fsync", edited_once)
    found = files.append(path, b"ours", lock_dir=locks)
    assert path.read_bytes() == b"one\nby hand\nours\n"
    assert found.start_line == 3


def test_an_edit_that_keeps_being_overtaken_tells_the_writer(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"0")
    rounds = []

    def change(before: files.FileText | None) -> tuple[bytes, None]:
        rounds.append(before)
        path.write_bytes(b"%d" % len(rounds))
        return b"ours", None

    with pytest.raises(WriteConflict):
        files.edit(path, change, lock_dir=locks)
    assert len(rounds) > 1
    assert path.read_bytes() == b"%d" % len(rounds)


# --- locks


def test_a_second_process_that_holds_the_file_makes_the_writer_give_up_in_time(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "a.md"
    holder = start("hold", locks, path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StoreBusy):
        files.append(path, b"x", lock_dir=locks, timeout=0.05)
    holder.communicate()
    files.append(path, b"x", lock_dir=locks)
    assert path.read_bytes() == b"x\n"


def test_a_killed_holder_frees_the_file_at_once(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "a.md"
    holder = start("hold", locks, path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    files.append(path, b"x", lock_dir=locks, timeout=5)


def test_a_thread_waits_for_another_one_but_not_for_itself(tmp_path: Path, locks: Path) -> None:
    path = tmp_path / "a.md"
    caught: list[Exception] = []

    def intrude() -> None:
        try:
            files.append(path, b"x", lock_dir=locks, timeout=0.05)
        except StoreBusy as error:
            caught.append(error)

    with files.locked(locks, path), files.locked(locks, tmp_path / "." / "a.md"):
        other = threading.Thread(target=intrude)
        other.start()
        other.join()
        files.append(path, b"mine", lock_dir=locks)
    assert len(caught) == 1
    assert path.read_bytes() == b"mine\n"


def test_an_unusable_lock_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file")
    with pytest.raises(StoreUnwritable) as caught:
        files.append(tmp_path / "a.md", b"x", lock_dir=tmp_path / "state")
    assert str(tmp_path / "state") in str(caught.value)
    assert not (tmp_path / "a.md").exists()


def test_creating_works_where_links_are_not_supported(
    tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: object, target: object) -> None:
        raise OSError(errno.EPERM, "not permitted")

    monkeypatch.setattr(atomic.os, "link", no_links)
    files.replace(tmp_path / "a.md", b"x\n", expected=None, lock_dir=locks)
    assert (tmp_path / "a.md").read_bytes() == b"x\n"
    assert temporaries(tmp_path) == []
