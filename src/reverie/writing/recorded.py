"""The way of every write to a memory file.

It happens under the lock of the file: reservations that a killed writer left there are settled, the record is
reserved, the file is replaced if it still is what was read, the record is committed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date

from reverie.core.errors import FileUnreadable
from reverie.core.provenance import least
from reverie.core.types import Provenance, Written
from reverie.store.durable import DurableStore
from reverie.store.records import Present, Recovery
from reverie.workspace import files, paths
from reverie.workspace.notes import Edit, Workspace
from reverie.writing.judging import LineJudge
from reverie.writing.recording import Recording, lines_of, present
from reverie.writing.standing import Standing


class RecordedFiles:
    """Memory files that are changed only with a record of it."""

    def __init__(self, workspace: Workspace, durable: DurableStore) -> None:
        self.workspace = workspace
        self.durable = durable
        self.judge = LineJudge(durable)
        self.standing = Standing(workspace, self.judge)

    def write(
        self,
        path: str,
        provenance: Provenance,
        act: Callable[[Workspace], Edit],
        *,
        tool: str,
        reason: str,
        note: str = "",
    ) -> Written:
        """Do one change of the workspace with a record of it; ``note`` is what the receipt says."""
        with self.locked(path):
            self.settle(path)
            recording = self.recording(path, provenance, tool=tool, reason=reason)
            placed = act(self.workspace.through(recording.edit))
            return self.receipt(path, recording, (placed.start_line, placed.end_line), note)

    def recording(
        self, path: str, provenance: Provenance, *, tool: str, reason: str, derived: bool = False
    ) -> Recording:
        """Return a record of a write that is to come; see :class:`Recording`."""
        echoes = self.standing.trusted
        return Recording(self.durable, path, provenance, tool=tool, reason=reason, echoes=echoes, derived=derived)

    def note(
        self, text: str, provenance: Provenance, day: date, *, heading: str | None = None, tool: str, reason: str = ""
    ) -> Written:
        """Append to the note of a day."""

        def act(workspace: Workspace) -> Edit:
            return workspace.append_note(day, text, heading)

        return self.write(paths.daily_path(day), provenance, act, tool=tool, reason=reason)

    def receipt(self, path: str, recording: Recording, lines: tuple[int, int], note: str = "") -> Written:
        """Return the receipt of a write, with the class that its lines have now."""
        start, end = lines
        judged = self.judge.judge(path, self.lines(path))
        origin = least(line.origin for line in judged.lines[start - 1 : end]) if judged.lines else recording.origin
        if judged.lowered_to is not None:
            lowering = f"{path} counts as {judged.lowered_to} as a whole until `reverie trust {path}`"
            note = f"{note}; {lowering}" if note else lowering
        return Written(path, start, end, recording.ident, origin, note)

    def nothing(self, path: str, provenance: Provenance, note: str) -> Written:
        """Return the receipt of a write that was not needed: it has no record."""
        last = max(1, len(self.lines(path)))
        return Written(path, last, last, "", provenance.origin, note)

    def locked(self, path: str) -> AbstractContextManager[None]:
        """Hold the lock of a file; it may be taken again inside."""
        return files.locked(self.workspace.lock_dir, self.workspace.path(path))

    def settle(self, path: str) -> None:
        """Settle what killed writers left on a file whose lock is held: under it no other writer is alive."""
        self.durable.recover(self._present, self.locked, path=path)

    def recover(self) -> Recovery:
        """Settle what killed writers left on any file."""
        return self.durable.recover(self._present, self.locked)

    def _present(self, path: str) -> Present | None:
        return present(self.workspace.path(path))

    def read(self, path: str) -> files.FileText | None:
        """Return a file whatever its size; a note too large to be indexed still takes another line."""
        try:
            return files.read(self.workspace.path(path), max_bytes=None)
        except FileUnreadable as error:
            if error.fields["reason"] == "vanished":
                return None
            raise

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file, none if it is not there."""
        found = self.read(path)
        return [] if found is None else lines_of(found.text)
