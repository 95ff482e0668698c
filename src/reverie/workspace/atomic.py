"""Writing workspace files: whole files, in one step, only over what the writer has seen.

A temporary file in the same folder, flushed to disk, is moved over the old one after the content hash of the old one
has been checked again. So a kill at any instruction leaves the old or the new file, and a change made by someone else
is never overwritten unseen. Appending does the same rather than use ``O_APPEND``: an append that is killed half way
leaves half a line, and notes are small.

An editor takes no lock. Between the last check and the move lie some microseconds in which its save could be lost;
no portable call closes that gap.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from reverie.core.errors import FileUnreadable, WriteConflict, WriteRefused
from reverie.core.text import sha256
from reverie.workspace.locks import WAIT_SECONDS, locked
from reverie.workspace.reading import FileText, as_text, kind_of, opened, read_bytes, reason_of

#: How the name of every temporary file begins.
TEMP_PREFIX = ".reverie-tmp-"

_STALE_SECONDS = 600
_TRIES = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Appended:
    """Where appended lines stand: 1-based, inclusive; ``hash`` is the sha256 of the whole file afterwards."""

    start_line: int
    end_line: int
    hash: str


def replace(path: Path, data: bytes, *, expected: str | None, lock_dir: Path, timeout: float = WAIT_SECONDS) -> str:
    """Replace a file as one step, if it still is what the caller read. Returns the sha256 of ``data``.

    Args:
        path: the file, already checked with :func:`contained`. Missing folders are made.
        data: the whole new content.
        expected: sha256 of the content that is replaced, or ``None`` if there must be no such file yet.
        lock_dir: folder of the lock files, the same for every writer of the workspace.
        timeout: seconds to wait for another writer.

    Raises:
        WriteConflict: the file is not what was expected; nothing was written.
        WriteRefused: the file or its folder cannot be written; ``path`` and ``reason`` say why.
        StoreBusy: another writer held the file too long.
    """
    with locked(lock_dir, path, timeout=timeout), _refusing(path):
        found = _writable(path)
        if _hash_of(path) != expected:
            raise WriteConflict(path=str(path))
        if found is None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = _write_temporary(path, data, found)
        try:
            _publish(temporary, path, expected)
        finally:
            with suppress(OSError):
                temporary.unlink()
        _remove_stale(path)
        _flush_folder(path.parent)
    return sha256(data)


def append(path: Path, data: bytes, *, lock_dir: Path, timeout: float = WAIT_SECONDS) -> Appended:
    """Add whole lines at the end of a file, which is made if it is not there.

    An unfinished last line is finished first; ``data`` gets a line ending if it has none. Two writers never lose a
    line: each append waits for the lock, and is repeated if somebody without the lock got in between.

    Raises:
        WriteConflict: the file kept changing under the writer.
        WriteRefused: see :func:`replace`.
        FileUnreadable: what is there is no regular file.
        StoreBusy: another writer held the file too long.
    """

    def grown(before: bytes | None) -> tuple[bytes, tuple[int, int]]:
        body = before or b""
        newline = b"\r\n" if body.count(b"\r\n") * 2 > body.count(b"\n") else b"\n"
        if body and not body.endswith(b"\n"):
            body += newline
        after = body + (data if data.endswith(b"\n") else data + newline)
        return after, (body.count(b"\n") + 1, after.count(b"\n"))

    _, after, (start, end) = _cycle(path, grown, lock_dir, timeout)
    return Appended(start, end, after)


def edit(
    path: Path,
    change: Callable[[FileText | None], tuple[bytes, T]],
    *,
    lock_dir: Path,
    timeout: float = WAIT_SECONDS,
) -> tuple[str | None, str, T]:
    """Read, change and replace a text file under its lock, whatever its size.

    ``change`` gets the file (``None`` if there is none) and returns the new bytes and a value to hand back; it is
    called again if somebody without the lock changed the file meanwhile.

    Returns:
        The sha256 before (``None`` for a new file), the sha256 after, and the value of ``change``.

    Raises:
        WriteConflict, WriteRefused, FileUnreadable, StoreBusy: as :func:`append`, and what ``change`` raises.
    """

    def changed(before: bytes | None) -> tuple[bytes, T]:
        return change(None if before is None else as_text(before, path))

    return _cycle(path, changed, lock_dir, timeout)


def _cycle(
    path: Path, change: Callable[[bytes | None], tuple[bytes, T]], lock_dir: Path, timeout: float
) -> tuple[str | None, str, T]:
    with locked(lock_dir, path, timeout=timeout):
        for attempt in range(1, _TRIES + 1):
            before = _bytes_if_there(path)
            expected = None if before is None else sha256(before)
            data, value = change(before)
            try:
                return expected, replace(path, data, expected=expected, lock_dir=lock_dir, timeout=timeout), value
            except WriteConflict:
                if attempt == _TRIES:
                    raise
    raise AssertionError("unreachable")


def _bytes_if_there(path: Path) -> bytes | None:
    try:
        return read_bytes(path, None)
    except FileUnreadable as error:
        if error.fields["reason"] == "vanished":
            return None
        raise


def _writable(path: Path) -> os.stat_result | None:
    """Return what stands at the path, or ``None``; refuse what must not be replaced."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise WriteRefused("This is not a regular file", path=str(path), reason=kind_of(found.st_mode))
    # The move over the file needs no right to the file itself, so its owner's wish is checked here.
    if not found.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise WriteRefused("The file is write-protected", path=str(path), reason="read-only file")
    return found


def _hash_of(path: Path) -> str | None:
    try:
        with opened(path) as (file, _):
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _temporary_prefix(path: Path) -> str:
    return f"{TEMP_PREFIX}{sha256(os.fsencode(path.name))[:16]}-"


def _write_temporary(path: Path, data: bytes, found: os.stat_result | None) -> Path:
    temporary = path.with_name(f"{_temporary_prefix(path)}{os.urandom(6).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if found is not None and hasattr(os, "fchmod"):
                # Run as another user (a service), keep the file its owner's; where that is forbidden, go on.
                with suppress(OSError):
                    os.fchown(descriptor, found.st_uid, found.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _publish(temporary: Path, path: Path, expected: str | None) -> None:
    if expected is None:
        try:
            # A link, unlike a move, fails when somebody has made the file meanwhile.
            os.link(temporary, path)
        except FileExistsError as error:
            raise WriteConflict(path=str(path)) from error
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
        else:
            return
    if _hash_of(path) != expected:
        raise WriteConflict(path=str(path))
    temporary.replace(path)


def _remove_stale(path: Path) -> None:
    """Remove what killed writers left: of this file at once (its lock is ours), of others after ten minutes.

    Age is measured against the file just written, so that the clock of the file system is the only one.
    """
    own, newest = _temporary_prefix(path), path.stat().st_mtime
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if not entry.name.startswith(TEMP_PREFIX):
                continue
            with suppress(OSError):
                age = newest - entry.stat(follow_symlinks=False).st_mtime
                if entry.name.startswith(own) or age > _STALE_SECONDS:
                    Path(entry.path).unlink()


def _flush_folder(folder: Path) -> None:
    # The file itself is on disk and complete; a folder that cannot be flushed (Windows, some network file systems)
    # only means that a power failure may bring the old file back.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "check the permissions"
        raise WriteRefused(
            "The file cannot be written; nothing was changed", path=str(path), reason=reason_of(error), hint=hint
        ) from error
