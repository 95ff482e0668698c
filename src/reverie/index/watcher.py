"""Notices edits made outside: one thread, one descriptor for all folders, ignored folders not watched at all.

Each folder is watched by itself instead of its whole tree, so that a ``node_modules`` inside costs nothing; when
folders come or go the set is made anew. The watch only says that something changed. What changed is found by the
next sync, so an event that is lost or comes twice does no harm.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

#: Folders that hold no notes wherever they stand, besides those whose name begins with a dot.
IGNORED = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "target", "dist", "build"})
#: How long to gather events, in milliseconds, and how long no event may come before they are reported.
DEBOUNCE_MS = 1_500
QUIET_MS = 100
#: How often to look for a root that was missing, in milliseconds.
LOOK_MS = 1_000


def is_ignored(name: str) -> bool:
    """Say whether a folder of this name is not watched."""
    return name.startswith(".") or name in IGNORED


class Watcher:
    """Calls ``on_change`` from its own thread: once at the start, and after each quiet that follows a change.

    Args:
        roots: Folders to watch with all that is in them.
        on_change: What to do; usually a sync. An exception in it ends the watch and is found in ``failure``.
        flat: Folders of which only the files right inside are watched.
        ignored: Says of a folder's name whether it is left out.
        debounce_ms: How long to gather events before they are reported.
        quiet_ms: How long no event may have come before they are reported.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        on_change: Callable[[], object],
        *,
        flat: Sequence[Path] = (),
        ignored: Callable[[str], bool] = is_ignored,
        debounce_ms: int = DEBOUNCE_MS,
        quiet_ms: int = QUIET_MS,
    ) -> None:
        self._roots = tuple(roots)
        self._flat = tuple(flat)
        self._on_change = on_change
        self._ignored = ignored
        self._debounce_ms = debounce_ms
        self._quiet_ms = quiet_ms
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reverie-watch", daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begin; what is there already is reported at once."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the thread."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def watching(self) -> bool:
        """Say whether changes are noticed; ``False`` after a failure, for instance when no watch is left to have."""
        return self._thread.is_alive()

    def folders(self) -> list[Path]:
        """Return the folders that are watched, those that exist now. Links are not followed (choice C15)."""
        found = [path for path in self._flat if path.is_dir()]
        for root in self._roots:
            found.extend(self._tree(root))
        return list(dict.fromkeys(found))

    def _tree(self, root: Path) -> Iterator[Path]:
        if root.is_symlink() or not root.is_dir():
            return
        for folder, names, _ in os.walk(root):
            names[:] = sorted(name for name in names if not self._ignored(name))
            yield Path(folder)

    def _run(self) -> None:
        try:
            self._on_change()
            while not self._stop.is_set():
                self._watch(self.folders())
        except Exception as error:
            # Trigger: the system refuses more watches, or the sync failed. Why: nobody waits for this thread.
            # Outcome: the watch ends, `watching` is false, and whoever searches looks at the files by itself.
            self.failure = error

    def _watch(self, folders: list[Path]) -> None:
        """Report changes until the set of folders is another one."""
        if not folders:
            self._stop.wait(LOOK_MS / 1000)
            return
        # Loaded here because only a watch needs it, and every command loads this module.
        import watchfiles

        events = watchfiles.watch(
            *folders,
            watch_filter=None,
            debounce=self._debounce_ms,
            step=self._quiet_ms,
            stop_event=self._stop,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            recursive=False,
            raise_interrupt=False,
        )
        # What changed between the look at the folders and the beginning of the watch is reported by its first word,
        # which comes after a second at most.
        first = True
        try:
            for changes in events:
                if changes or first:
                    first = False
                    self._on_change()
                if (changes or self._has_new_root(folders)) and self.folders() != folders:
                    return
        except FileNotFoundError:
            # A folder went away before its watch began; the next look does not see it any more.
            if all(folder.is_dir() for folder in folders):
                raise

    def _has_new_root(self, folders: Sequence[Path]) -> bool:
        return any(root not in folders and root.is_dir() for root in (*self._roots, *self._flat))
