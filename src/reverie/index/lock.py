"""The lock of those who write an index: across processes, gone with the process that held it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reverie.core.errors import StoreUnwritable

if TYPE_CHECKING:
    from filelock import FileLock


def acquire(path: Path, seconds: float) -> FileLock | None:
    """Return the held lock, to be released by the caller; ``None`` if another keeps it for longer than ``seconds``.

    Raises:
        StoreUnwritable: The lock file cannot be made.
    """
    # Loaded here because it is slow to load, and a search that finds nothing new takes no lock.
    from filelock import FileLock, Timeout

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
