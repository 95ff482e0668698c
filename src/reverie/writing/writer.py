"""The recorded writer: the one way by which Reverie changes a memory file, one method a verb."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date

from reverie.core.clock import today
from reverie.core.errors import UsageError, WorkspaceMissing, WriteConflict, WriteRefused
from reverie.core.redaction import redact
from reverie.core.types import Clock, Provenance, SourceClass, Written
from reverie.store.durable import DurableStore
from reverie.store.records import Recovery
from reverie.workspace import files, paths
from reverie.workspace.notes import Workspace
from reverie.writing import vouching
from reverie.writing.curating import Curation
from reverie.writing.flush import new_part
from reverie.writing.recorded import RecordedFiles
from reverie.writing.recording import compare, lines_of
from reverie.writing.vouching import Vouching

#: Notes of a day, also those with a name behind the date: only ever added to.
_DAILY = re.compile(r"memory/\d{4}-\d{2}-\d{2}[^/]*\.md")


class RecordedWriter:
    """Writes memory files of one agent.

    Args:
        workspace: the files, opened for writing.
        durable: where the records are kept.
        clock: tells the day.
        budgets: the most characters that a curated file may come to by our hand; a file not named has no limit.
        redacted: replace secrets in what others than the owner write; the owner's own words stay as they are.
    """

    def __init__(
        self,
        workspace: Workspace,
        durable: DurableStore,
        clock: Clock,
        *,
        budgets: Mapping[str, int] | None = None,
        redacted: bool = True,
    ) -> None:
        self._clock = clock
        self._redacted = redacted
        self._durable = durable
        self._files = RecordedFiles(workspace, durable)
        self._curation = Curation(self._files, clock, dict(budgets or {}))

    def recover(self) -> Recovery:
        """Settle what killed writers left; to be called when the store is opened."""
        return self._files.recover()

    # --- adding ---

    def note(
        self,
        text: str,
        provenance: Provenance,
        *,
        day: date | None = None,
        heading: str | None = None,
        tool: str = "note",
        reason: str = "",
    ) -> Written:
        """Append to the note of a day, today's by default.

        Raises:
            UsageError: there is nothing to write.
            WorkspaceError, StoreError: nothing was written.
        """
        on = day or today(self._clock)
        clean, remark = self._clean(text, provenance)
        title, _ = self._clean(heading or "", provenance)
        written = self._files.note(clean, provenance, on, heading=title or None, tool=tool, reason=reason)
        return _remarked(written, remark)

    def append_flush(self, text: str, provenance: Provenance, *, day: date | None = None) -> Written:
        """Append what a flush before compaction has to say to the note of the day.

        Lines by which the text repeats the head or the end of the note are left out; if nothing else is there,
        nothing is written.
        """
        on = day or today(self._clock)
        path = paths.daily_path(on)
        clean, remark = self._clean(text, provenance)
        with self._files.locked(path):
            new = new_part(self._files.lines(path), lines_of(clean.replace("\r", "")))
            if not any(line.strip() for line in new):
                return self._files.nothing(path, provenance, "the note of the day holds all of it already")
            written = self.note("\n".join(new), provenance, day=on, tool="flush", reason="before compaction")
            return _remarked(written, remark)

    def remember(
        self,
        text: str,
        provenance: Provenance,
        *,
        target: str | None = None,
        key: str | None = None,
        importance: int | None = None,
        triggers: Sequence[str] = (),
        tool: str = "remember",
    ) -> Written:
        """Write something the owner asked to remember to a curated file.

        Preferences and standing requests go to USER.md as directives, everything else to MEMORY.md; ``target`` names
        the file instead. What stands there already is not written again. A fact with the ``key`` of an older one
        takes its place; the older one stays readable: in USER.md marked superseded, from MEMORY.md moved to the note
        of the day. What nobody trusted says goes to the note of the day, out of curated memory.

        Raises:
            UsageError: the text is empty, or an annotation cannot be written.
            PathNotAllowed: ``target`` is no curated file.
            WorkspaceError, StoreError: nothing was written.
        """
        clean, remark = self._clean(text, provenance)
        written = self._curation.remember(
            clean,
            provenance,
            target=target,
            key=key,
            importance=importance,
            triggers=[self._clean(trigger, provenance)[0] for trigger in triggers],
            tool=tool,
        )
        return _remarked(written, remark)

    def _clean(self, text: str, provenance: Provenance) -> tuple[str, str]:
        """Return the text as it may be written, and what is to be said about that."""
        if not self._redacted or provenance.origin is SourceClass.OWNER:
            return text, ""
        clean, kinds = redact(text)
        return clean, f"a secret was replaced: {', '.join(kinds)}" if kinds else ""

    # --- replacing ---

    def replace_file(
        self,
        relative: str,
        new_text: str,
        expected_hash: str | None,
        provenance: Provenance,
        *,
        tool: str = "replace",
        reason: str = "",
        may_drop: bool = False,
    ) -> Written:
        """Replace a whole memory file, if it still is what the caller read.

        New lines are never above the least trusted line that goes: they may be made of it. The note of a day loses
        no line, unless ``may_drop`` (for what the owner wants forgotten).

        Args:
            relative: The file.
            new_text: Its new content. Line endings and BOM stay those of the file.
            expected_hash: sha256 of the file as the caller read it; ``None`` if there must be none.
            provenance: Who writes.
            tool: What the record names as the writer.
            reason: Why, in words.
            may_drop: Lines of a day's note may go.

        Raises:
            WriteConflict: The file is not what was expected.
            WriteRefused: A line of a day's note would go.
            WorkspaceError, StoreError: Nothing was written.
        """

        def change(found: files.FileText | None) -> tuple[bytes, None]:
            if (None if found is None else found.hash) != expected_hash:
                raise WriteConflict(path=relative)
            if found is not None and not may_drop and _DAILY.fullmatch(relative):
                _refuse_loss(relative, found, new_text)
            return _encoded(found, new_text), None

        if not self._files.workspace.root.is_dir():
            raise WorkspaceMissing(path=str(self._files.workspace.root))
        with self._files.locked(relative):
            self._files.settle(relative)
            recording = self._files.recording(relative, provenance, tool=tool, reason=reason, derived=True)
            recording.edit(self._files.workspace.path(relative), change, lock_dir=self._files.workspace.lock_dir)
            return self._files.receipt(relative, recording, (recording.diff.start_line, recording.diff.end_line))

    def many(self) -> AbstractContextManager[None]:
        """Look at the memory files once for all writes inside the block."""
        return self._files.standing.held()

    def import_file(self, relative: str, text: str, provenance: Provenance) -> Written:
        """Write a file that was brought in from elsewhere; doing it again with the same text writes nothing.

        Raises:
            WriteConflict: The file was edited here since it was imported; the import does not overwrite that.
            WorkspaceError, StoreError: Nothing was written.
        """
        with self._files.locked(relative):
            self._files.settle(relative)
            found = self._files.read(relative)
            if found is not None and lines_of(found.text) == lines_of(text):
                return self._files.nothing(relative, provenance, "imported before, unchanged")
            if found is not None and self._durable.last_hash(relative) != found.hash:
                raise WriteConflict("The copy was edited since it was imported; it was left as it is", path=relative)
            expected = None if found is None else found.hash
            return self.replace_file(relative, text, expected, provenance, tool="import", may_drop=True)

    # --- trust ---

    def trust(self, relative: str, by: str, lines: tuple[int, int] | None = None) -> int:
        """Record that the owner vouches for lines, and return how many are raised by it; see :meth:`vouch`."""
        return len(self.vouch(relative, by, lines).raised)

    def vouch(
        self, relative: str, by: str, lines: tuple[int, int] | None = None, *, expected_hash: str | None = None
    ) -> Vouching:
        """Record that the owner vouches for a file, or for some lines; see :func:`reverie.writing.vouching.vouch`."""
        return vouching.vouch(self._files, relative, by, lines, expected_hash=expected_hash)

    def preview_trust(self, relative: str, lines: tuple[int, int] | None = None) -> Vouching:
        """Return what :meth:`vouch` would do; nothing is recorded."""
        return vouching.preview(self._files, relative, lines)


def _remarked(written: Written, remark: str) -> Written:
    return replace(written, note=f"{written.note}; {remark}" if written.note else remark) if remark else written


def _refuse_loss(path: str, found: files.FileText, new_text: str) -> None:
    diff = compare(lines_of(found.text), lines_of(new_text))
    lost = Counter(diff.dropped) - Counter(diff.written)
    if lost:
        raise WriteRefused(
            "Notes of a day are only added to; this would drop lines",
            path=path,
            lines=lost.total(),
            hint="append what is new",
        )


def _encoded(found: files.FileText | None, text: str) -> bytes:
    if found is not None and found.newline == "\r\n":
        text = re.sub(r"\r?\n", "\r\n", text)
    try:
        return text.encode("utf-8") if found is None else found.encode(text)
    except UnicodeEncodeError as error:
        raise UsageError("The text holds half a character", position=error.start) from error
