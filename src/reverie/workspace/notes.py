"""The workspace: the named files, looked at, read, and written without losing a line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol, TypeVar

from reverie.core.errors import FileUnreadable, PathNotAllowed, UsageError, WorkspaceMissing, WriteRefused
from reverie.core.types import Annotations, Passage, SourceScan
from reverie.workspace import paths
from reverie.workspace.changes import Draft, Splice, with_entry, with_note, with_replaced, with_superseded
from reverie.workspace.document import split_lines
from reverie.workspace.entries import Entry
from reverie.workspace.files import MAX_BYTES, FileText, contained, edit, read
from reverie.workspace.ignore import is_ignored
from reverie.workspace.scaffold import Created, create
from reverie.workspace.walk import load_rules, walk

#: What is read at once unless the caller says how much (``openclaw-memory.md``, 1.3).
DEFAULT_LINES = 120
DEFAULT_CHARS = 12_000

T = TypeVar("T")

_TITLES = {"MEMORY.md": "Long-term memory"}


@dataclass(frozen=True, slots=True)
class Edit:
    """A write that was done: where the text stands, the file's sha256 before (``None``: it is new) and after.

    ``splices`` tell how the lines below moved.
    """

    path: str
    start_line: int
    end_line: int
    before_hash: str | None
    after_hash: str
    splices: tuple[Splice, ...]


class Editor(Protocol):
    """A way to change one file: :func:`~reverie.workspace.files.edit`, or something that does it and more."""

    def __call__(
        self, path: Path, change: Callable[[FileText | None], tuple[bytes, T]], *, lock_dir: Path
    ) -> tuple[str | None, str, T]:
        """Return the sha256 before and after, and the value of ``change``."""
        ...


class Workspace:
    """A folder of memory files. Paths are relative to it and use ``/``.

    Args:
        root: the folder; it need not exist yet.
        lock_dir: folder of the lock files, the same for every process that writes here. Without it the workspace can
            only be read.
        max_bytes: larger files are skipped by scans and refused by reads.
    """

    def __init__(self, root: Path, *, lock_dir: Path | None = None, max_bytes: int = MAX_BYTES) -> None:
        self.root = root
        self._lock_dir = lock_dir
        self._editor: Editor = edit
        self.max_bytes = max_bytes

    @property
    def curated(self) -> tuple[str, ...]:
        """Return the curated files of the root, whether or not they exist."""
        return paths.CURATED

    @property
    def lock_dir(self) -> Path:
        """Return the folder of the lock files.

        Raises:
            UsageError: the workspace was opened for reading only.
        """
        if self._lock_dir is None:
            raise UsageError("This workspace was opened for reading only")
        return self._lock_dir

    # --- looking and reading

    def path(self, relative: str) -> Path:
        """Return the real path of a memory file.

        Raises:
            PathNotAllowed: it is no memory path, leaves the workspace, or a symbolic link stands on its way. Links are
                refused even inside: under another name a file would have another provenance.
        """
        if not paths.is_memory_path(relative):
            raise PathNotAllowed(path=relative.replace("\0", "\\0"))
        found = contained(self.root, relative)
        straight = self.root.resolve() / relative
        if os.path.normcase(found) != os.path.normcase(straight):
            raise PathNotAllowed(path=relative, reason="symbolic link")
        return found

    def scan(self, *, known: bool = False) -> SourceScan:
        """Look at all that is indexed, one ``stat`` a file; see :func:`~reverie.workspace.walk.walk`.

        With ``known`` the caller says that it has seen files under ``memory/``: then a missing folder is reported as
        ``missing_root``, and nothing may be taken for deleted.
        """
        return walk(self.root, known=known, max_bytes=self.max_bytes)

    def is_ignored(self, relative: str) -> bool:
        """Say whether scans leave a path out by rule (dot names, dependency folders, ``.reverieignore``)."""
        parts = relative.split("/")
        if any(paths.is_hidden(part) for part in parts):
            return True
        if relative in paths.CURATED:
            return False
        try:
            rules = load_rules(self.root)
        except FileUnreadable:
            # The scan reports it; a broken rule file must not hide notes.
            return False
        above = ("/".join(parts[:depth]) for depth in range(2, len(parts)))
        return is_ignored(rules, relative, folder=False) or any(is_ignored(rules, one, folder=True) for one in above)

    def read(self, relative: str) -> FileText:
        """Read a memory file whole.

        Raises:
            PathNotAllowed: see :meth:`path`.
            FileUnreadable: see :func:`~reverie.workspace.reading.read`.
        """
        return read(self.path(relative), max_bytes=self.max_bytes)

    def read_lines(
        self, relative: str, from_line: int = 1, lines: int | None = None, max_chars: int = DEFAULT_CHARS
    ) -> Passage:
        """Read a window of lines.

        ``next_from`` is set exactly when lines follow that were not returned. A text that was cut by a limit, rather
        than at the end of the window asked for, ends with a notice that names it. A file that is not there gives
        ``not_found``.

        Raises:
            UsageError: ``from_line``, ``lines`` or ``max_chars`` is below 1.
            PathNotAllowed, FileUnreadable, WorkspaceMissing.
        """
        if min(from_line, DEFAULT_LINES if lines is None else lines, max_chars) < 1:
            raise UsageError("Lines and limits count from 1", from_line=from_line, lines=lines)
        try:
            file = self.read(relative)
        except FileUnreadable as error:
            if error.fields["reason"] != "vanished":
                raise
            self._require_root()
            return Passage(relative, from_line, 0, "", status="not_found")
        return passage(relative, file.text, from_line, lines, max_chars)

    # --- writing

    def through(self, editor: Editor) -> Workspace:
        """Return this workspace with ``editor`` in the place of :func:`~reverie.workspace.files.edit`.

        The editor sees each new content before it is written, so that a record of the write can be made first.
        """
        other = Workspace(self.root, lock_dir=self._lock_dir, max_bytes=self.max_bytes)
        other._editor = editor
        return other

    def create(self) -> Created:
        """Make what a new workspace begins with; nothing that exists is touched. See :mod:`.scaffold`."""
        return create(self.root, lock_dir=self.lock_dir)

    def append_note(self, day: date, text: str, heading: str | None = None) -> Edit:
        """Add a note to a day's file.

        Raises:
            UsageError: the text is empty.
            WorkspaceMissing, PathNotAllowed, WriteRefused, WriteConflict, FileUnreadable, StoreBusy.
        """
        return self._edit(paths.daily_path(day), lambda file: with_note(file, day, text, heading))

    def append_entry(
        self,
        relative: str,
        text: str,
        annotations: Annotations | None = None,
        *,
        section: str | None = None,
        observed: date | None = None,
        max_chars: int | None = None,
    ) -> Edit:
        """Add an entry to a curated file; in a USER.md it is a directive, active since ``observed``.

        Raises:
            UsageError: the text is empty, an annotation cannot be written, or a directive has no day.
            WriteRefused: the file would be longer than ``max_chars``, or cannot be written.
            WorkspaceMissing, PathNotAllowed, WriteConflict, FileUnreadable, StoreBusy.
        """
        self._require_curated(relative)
        model = paths.is_user_model(relative)
        if model and observed is None:
            raise UsageError("A directive of USER.md needs the day it was observed")

        def change(file: FileText | None) -> Draft:
            return with_entry(
                file,
                text,
                annotations or Annotations(),
                title=_TITLES.get(relative, "About the user"),
                section=section,
                observed=observed if model else None,
            )

        return self._edit(relative, change, max_chars)

    def replace_entry(
        self,
        relative: str,
        entry: Entry,
        *,
        text: str | None = None,
        annotations: Mapping[str, object] | None = None,
        max_chars: int | None = None,
    ) -> Edit:
        """Give an entry a new text, new annotations (fields of ``Annotations``), or both.

        Without ``text`` only the comments named change, every other byte stays.

        Raises:
            WriteConflict: the entry is not what it was when it was read.
            UsageError, WriteRefused, WorkspaceMissing, PathNotAllowed, FileUnreadable, StoreBusy.
        """
        self._require_curated(relative)
        return self._edit(
            relative, lambda file: with_replaced(file, entry, text=text, annotations=annotations or {}), max_chars
        )

    def mark_superseded(
        self,
        relative: str,
        entry: Entry,
        replacement: str,
        observed: date,
        annotations: Annotations | None = None,
        *,
        max_chars: int | None = None,
    ) -> Edit:
        """Mark a directive of a USER.md superseded and put its replacement right after it, active since ``observed``.

        Raises:
            WriteConflict: the entry is not what it was when it was read.
            WriteRefused: it is superseded already, or the file cannot be written.
            UsageError, WorkspaceMissing, PathNotAllowed, FileUnreadable, StoreBusy.
        """
        if not paths.is_user_model(relative):
            raise PathNotAllowed("Only the directives of a USER.md are superseded in place", path=relative)
        return self._edit(
            relative,
            lambda file: with_superseded(file, entry, replacement, annotations or Annotations(), observed=observed),
            max_chars,
        )

    def _edit(self, relative: str, change: Callable[[FileText | None], Draft], max_chars: int | None = None) -> Edit:
        self._require_root()
        path = self.path(relative)

        def drafted(file: FileText | None) -> tuple[bytes, Draft]:
            draft = change(file)
            size = len(draft.data.decode("utf-8", "replace"))
            if max_chars is not None and size > max_chars:
                raise WriteRefused("The file would exceed its budget", path=relative, size=size, budget=max_chars)
            return draft.data, draft

        before, after, draft = self._editor(path, drafted, lock_dir=self.lock_dir)
        return Edit(relative, draft.start_line, draft.end_line, before, after, draft.splices)

    def _require_root(self) -> None:
        # A missing root is a drive that is not there, or a wrong setting; a write must not begin a second memory.
        if not self.root.is_dir():
            raise WorkspaceMissing(path=str(self.root))

    def _require_curated(self, relative: str) -> None:
        if not paths.is_curated(relative):
            raise PathNotAllowed("Entries are kept in curated files only", path=relative)


def passage(path: str, content: str, from_line: int, lines: int | None, max_chars: int) -> Passage:
    """Return a window of the lines of a text, as :meth:`Workspace.read_lines` describes it.

    Raises:
        UsageError: ``from_line``, ``lines`` or ``max_chars`` is below 1.
    """
    if min(from_line, DEFAULT_LINES if lines is None else lines, max_chars) < 1:
        raise UsageError("Lines and limits count from 1", from_line=from_line, lines=lines)
    texts = [text for text, _ in split_lines(content)][from_line - 1 :]
    window = texts[: DEFAULT_LINES if lines is None else lines]
    shown, notice = _within(window, max_chars, from_line)
    after = from_line + len(shown) if len(shown) < len(texts) else None
    cut_short = len(shown) < len(texts if lines is None else window)
    said = [notice] if notice else []
    said += [f"more lines follow: go on from {after}"] if after and (cut_short or notice) else []
    text = "\n".join([*shown, f"[{'; '.join(said)}]"] if said else shown)
    return Passage(path, from_line, len(shown), text, after)


def _within(window: list[str], max_chars: int, from_line: int) -> tuple[list[str], str]:
    """Return the lines that fit, and a notice if the first of them had to be cut itself."""
    shown: list[str] = []
    used = 0
    for text in window:
        if used + len(text) > max_chars:
            break
        shown.append(text)
        used += len(text) + 1
    if shown or not window:
        return shown, ""
    notice = f"line {from_line} is cut: {max_chars} of {len(window[0])} characters"
    return [window[0][:max_chars]], notice
