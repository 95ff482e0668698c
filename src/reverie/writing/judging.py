"""Whose word each line of a file in the workspace is: the pure rule of the store, given the files around it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.store.durable import DurableStore
from reverie.store.lines import Act, FileTrust, judge, missing
from reverie.workspace import files
from reverie.writing.recording import lines_of


class LineJudge:
    """Judges lines of workspace files. What it knows of other files is as old as the last :meth:`refresh`."""

    def __init__(self, root: Path, durable: DurableStore) -> None:
        self._root = root
        self._durable = durable
        self._strays: dict[str, frozenset[str]] | None = None
        self._looked: dict[str, tuple[object, frozenset[str]]] = {}
        self._known: tuple[tuple[object, ...], dict[str, int]] | None = None
        self._place = f"{root}{os.sep}"

    def judge(
        self,
        relative: str,
        lines: Sequence[str],
        *,
        observed_at: datetime | None = None,
        more: Sequence[Act] = (),
    ) -> FileTrust:
        """Return the provenance of each line of a file and whether the file as a whole is lowered.

        Args:
            relative: The path in the workspace, with ``/``.
            lines: The lines as they stand, without endings.
            observed_at: The moment for handwritten lines, usually when the file changed.
            more: Acts to be taken for done although they are not recorded, to see what they would change.
        """
        strays = frozenset().union(*self.strays(relative).values())
        history = [*self._durable.history(relative), *more]
        return judge(relative, lines, history, strays=strays, observed_at=observed_at)

    def doubtful(self) -> list[str]:
        """Return the files to which something untrusted was ever written."""
        return self._durable.doubtful_paths()

    def strays(self, relative: str) -> dict[str, frozenset[str]]:
        """Return the hashes of untrusted lines that have left other files, by the file that they were written to."""
        if self._strays is None:
            self.refresh()
        return {path: gone for path, gone in (self._strays or {}).items() if path != relative}

    def refresh(self) -> None:
        """Look again for untrusted lines that have left their files, as after a renaming by hand.

        Call it before a round of judgements. It reads the files to which something untrusted was ever written, and of
        those only the ones that changed, or of which something was recorded, since the last look.
        """
        stamp = self._durable.stamp()
        if self._known is None or self._known[0] != stamp:
            revisions = self._durable.revisions()
            self._known = stamp, {path: revisions.get(path, 0) for path in self._durable.doubtful_paths()}
        looked: dict[str, tuple[object, frozenset[str]]] = {}
        for path, revision in self._known[1].items():
            state = (revision, self._state(path))
            known = self._looked.get(path)
            gone = known[1] if known and known[0] == state else missing(self._lines(path), self._durable.history(path))
            looked[path] = (state, gone)
        self._looked = looked
        self._strays = {path: gone for path, (_, gone) in looked.items() if gone}

    def _state(self, relative: str) -> tuple[int, int, int] | None:
        """Return what changes with the file; ``None`` if it is not there."""
        try:
            # Not by pathlib: this is asked of every such file in every turn.
            found = os.lstat(f"{self._place}{relative}")
        except (OSError, ValueError):
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _lines(self, relative: str) -> list[str]:
        try:
            return lines_of(files.read(files.contained(self._root, relative), max_bytes=None).text)
        except (FileUnreadable, PathNotAllowed):
            # Gone, or no text any more: wherever its lines are now, they are not here.
            return []
