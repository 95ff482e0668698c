"""Whose word each line of a file in the workspace is: the pure rule of the store, given the files around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.store.durable import DurableStore
from reverie.store.lines import FileTrust, judge, missing
from reverie.workspace import files
from reverie.writing.recording import lines_of


class LineJudge:
    """Judges lines of workspace files. What it knows of other files is as old as the last :meth:`refresh`."""

    def __init__(self, root: Path, durable: DurableStore) -> None:
        self._root = root
        self._durable = durable
        self._strays: dict[str, frozenset[str]] | None = None

    def judge(self, relative: str, lines: Sequence[str], *, observed_at: datetime | None = None) -> FileTrust:
        """Return the provenance of each line of a file and whether the file as a whole is lowered.

        Args:
            relative: The path in the workspace, with ``/``.
            lines: The lines as they stand, without endings.
            observed_at: The moment for handwritten lines, usually when the file changed.
        """
        if self._strays is None:
            self.refresh()
        strays = frozenset().union(*(found for path, found in (self._strays or {}).items() if path != relative))
        history = self._durable.history(relative)
        return judge(relative, lines, history, strays=strays, observed_at=observed_at)

    def refresh(self) -> None:
        """Look again for untrusted lines that have left their files, as after a renaming by hand.

        Call it before a round of judgements; it reads the files to which something untrusted was ever written.
        """
        strays = {}
        for path in self._durable.doubtful_paths():
            gone = missing(self._lines(path), self._durable.history(path))
            if gone:
                strays[path] = gone
        self._strays = strays

    def _lines(self, relative: str) -> list[str]:
        try:
            return lines_of(files.read(files.contained(self._root, relative), max_bytes=None).text)
        except (FileUnreadable, PathNotAllowed):
            # Gone, or no text any more: wherever its lines are now, they are not here.
            return []
