"""One writer at a time for a file: across processes by a lock file, across threads by a mutex.

The lock files live in a folder that the caller gives (the state folder), never beside the notes. Every process that
writes to one workspace must be given the same folder. Lock files are empty and are kept: removing a lock file while
somebody waits for it would let two writers in.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from reverie.core.errors import StoreBusy, StoreUnwritable
from reverie.core.text import sha256

if TYPE_CHECKING:
    from filelock import BaseFileLock

#: Seconds that a writer waits for another one. A write takes milliseconds; a stuck one must not hang a reply.
WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.005


class _Lock:
    """A lock as this process holds it: ``mutex`` queues its threads, ``file`` excludes other processes."""

    def __init__(self, path: Path) -> None:
        # Loading filelock takes some 60 ms, which a process that only reads (a search) must not pay.
        from filelock import FileLock

        self.mutex = threading.RLock()
        self.file: BaseFileLock = FileLock(path, thread_local=False)
        self.depth = 0


_open: weakref.WeakValueDictionary[str, _Lock] = weakref.WeakValueDictionary()
_registry = threading.Lock()


def lock_path(lock_dir: Path, path: Path) -> Path:
    """Return the lock file of ``path``: its name is the sha256 of the real path, so that aliases share it."""
    return lock_dir / f"{sha256(os.fsencode(os.path.realpath(path)))}.lock"


@contextmanager
def locked(lock_dir: Path, path: Path, *, timeout: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of a file. The same thread may take it again inside.

    Args:
        lock_dir: folder of the lock files; it is made if needed.
        path: the file to be written; it need not exist.
        timeout: seconds to wait for another writer.

    Raises:
        StoreBusy: another writer held the file for longer than ``timeout``.
        StoreUnwritable: the lock file cannot be made.
    """
    place = lock_path(lock_dir, path)
    lock = _lock_at(place)
    deadline = monotonic() + timeout
    if not lock.mutex.acquire(timeout=timeout):
        raise StoreBusy("Another writer holds this file", path=str(path), waited=timeout)
    try:
        if lock.depth == 0:
            _acquire(lock, place, path, max(0.0, deadline - monotonic()), timeout)
        lock.depth += 1
        try:
            yield
        finally:
            lock.depth -= 1
            if lock.depth == 0:
                lock.file.release()
    finally:
        lock.mutex.release()


def _lock_at(place: Path) -> _Lock:
    key = os.path.realpath(place)
    with _registry:
        lock = _open.get(key)
        if lock is None:
            lock = _open[key] = _Lock(place)
        return lock


def _acquire(lock: _Lock, place: Path, path: Path, left: float, timeout: float) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock.file.acquire(timeout=left, poll_interval=_POLL_SECONDS)
    except TimeoutError as error:
        raise StoreBusy("Another process is writing this file", path=str(path), waited=timeout) from error
    except OSError as error:
        raise StoreUnwritable(
            "The lock file cannot be made", path=str(place), reason=error.strerror or str(error)
        ) from error
