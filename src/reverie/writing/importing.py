"""Bringing Markdown in from elsewhere: copies below ``memory/imports``; doing it again brings only what is new."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from reverie.core.errors import FileUnreadable, ImportRefused, PathNotAllowed, WorkspaceError
from reverie.core.types import Provenance, SessionKind, Skipped, SourceClass, Written
from reverie.workspace import files

#: Where copies go, relative to the workspace.
FOLDER = "memory/imports/markdown"

_SUFFIXES = frozenset({".md", ".markdown"})


class Importer(Protocol):
    """What an import needs of the writer."""

    def many(self) -> AbstractContextManager[None]:
        """Prepare for many writes in a row."""
        ...

    def import_file(self, relative: str, text: str, provenance: Provenance) -> Written:
        """Write one imported file; nothing if it stands there already."""
        ...


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: paths in the workspace, and what was left out and why."""

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def __str__(self) -> str:
        """Return the report for people."""
        head = f"imported {len(self.written)}, unchanged {len(self.unchanged)}, skipped {len(self.skipped)}"
        return "\n".join([head, *(f"skipped {one.path}: {one.reason}" for one in self.skipped)])


def import_markdown(
    writer: Importer, source: Path, *, origin: SourceClass = SourceClass.UNTRUSTED, folder: str = FOLDER
) -> ImportReport:
    """Copy a Markdown file, or all below a folder, into the workspace.

    Args:
        writer: Records each copy.
        source: A file, or a folder, of which hidden parts and symbolic links are left out.
        origin: The class of what comes in. Nothing vouches for a file from elsewhere, hence ``UNTRUSTED``.
        folder: Where the copies go, relative to the workspace.

    Raises:
        ImportRefused: There is nothing there that can be imported.
    """
    sources = list(_sources(source))
    if not sources:
        raise ImportRefused("There is no Markdown file to import", path=str(source))
    provenance = Provenance(origin, SessionKind.UNKNOWN)
    written: list[str] = []
    unchanged: list[str] = []
    skipped: list[Skipped] = []
    with writer.many():
        for path, name in sources:
            target = str(PurePosixPath(folder) / name)
            try:
                done = writer.import_file(target, files.read(path).text, provenance)
            except (FileUnreadable, PathNotAllowed, WorkspaceError) as error:
                skipped.append(Skipped(name, str(error.fields.get("reason", error.message))))
                continue
            (written if done.record else unchanged).append(done.path)
    return ImportReport(tuple(written), tuple(unchanged), tuple(skipped))


def _sources(source: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file with the name of its copy, in a fixed order; no two copies share a name."""
    if not source.exists():
        raise ImportRefused("There is no such file or folder", path=str(source))
    if not source.is_dir():
        if source.suffix.lower() not in _SUFFIXES:
            raise ImportRefused(
                "This is no Markdown file", path=str(source), hint=f"one of: {', '.join(sorted(_SUFFIXES))}"
            )
        yield source, f"{source.stem}.md"
        return
    taken: set[str] = set()
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix.lower() in _SUFFIXES and not name.startswith(".") and not path.is_symlink():
                copy = path.relative_to(source).as_posix()
                while copy in taken or not copy.lower().endswith(".md"):
                    copy += ".md"
                taken.add(copy)
                yield path, copy
