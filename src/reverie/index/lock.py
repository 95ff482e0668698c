"""The lock of those who write an index: across processes, gone with the process that held it."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from reverie.core.errors import StoreUnwritable


def acquire(path: Path, seconds: float) -> FileLock | None:
    """Return the held lock, to be released by the caller; ``None`` if another keeps it for longer than ``seconds``.

    Raises:
        StoreUnwritable: The lock file cannot be made.
    """
    # Not bound to a thread: a sync may be started in one and ended in another.
    lock = FileLock(path, timeout=seconds, thread_local=False)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        return None
    except OSError as error:
        raise StoreUnwritable("The index cannot be locked", path=str(path), reason=error.strerror) from error
    return lock
