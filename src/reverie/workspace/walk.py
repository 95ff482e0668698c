"""Looking at a workspace without reading it: one ``stat`` a file, everything that is left out reported by name."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from reverie.core.errors import FileUnreadable
from reverie.core.types import Skipped, SourceScan, SourceStat
from reverie.workspace.ignore import Rule, is_ignored, parse_rules
from reverie.workspace.paths import CURATED, IGNORE_FILE, NOTES, is_hidden
from reverie.workspace.reading import kind_of, read, reason_of

_LINK = "symbolic link; links are not followed"


def load_rules(root: Path) -> tuple[Rule, ...]:
    """Return the rules of ``.reverieignore``; no file, no rules.

    Raises:
        FileUnreadable: there is such a file, but it cannot be read.
    """
    try:
        return parse_rules(read(root / IGNORE_FILE).text)
    except FileUnreadable as error:
        if error.fields["reason"] == "vanished":
            return ()
        raise


def walk(root: Path, *, known: bool, max_bytes: int) -> SourceScan:
    """Look at the curated files and at ``memory/``.

    Args:
        root: the workspace.
        known: the caller has had files under ``memory/``, so that a missing folder is an accident, not a deletion.
        max_bytes: a larger file is skipped.

    Returns:
        The files in order of their paths. ``missing_root`` names the workspace, or ``memory/`` if ``known``.
    """
    walker = _Walker(max_bytes)
    try:
        walker.rules = load_rules(root)
    except FileUnreadable as error:
        walker.skip(IGNORE_FILE, error.fields["reason"])
    try:
        with os.scandir(root) as found:
            entries = {entry.name: entry for entry in found}
    except OSError as error:
        return SourceScan(skipped=tuple(walker.skipped), missing_root=f"{root} ({reason_of(error)})")
    walker.curated(entries)
    has_notes = walker.notes(entries.get(NOTES))
    return SourceScan(
        stats=tuple(sorted(walker.stats, key=lambda one: one.path)),
        skipped=tuple(sorted(walker.skipped, key=lambda one: one.path)),
        missing_root=f"{root / NOTES}" if known and not has_notes else None,
    )


class _Walker:
    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.rules: tuple[Rule, ...] = ()
        self.stats: list[SourceStat] = []
        self.skipped: list[Skipped] = []

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), reason))

    def curated(self, entries: dict[str, os.DirEntry[str]]) -> None:
        for name in CURATED:
            if name in entries:
                self.consider(entries[name], name)
            for other in sorted(entries):
                if other != name and other.casefold() == name.casefold():
                    self.skip(other, f"{name} is read instead" if name in entries else f"rename it to {name}")

    def notes(self, entry: os.DirEntry[str] | None) -> bool:
        """Walk ``memory/``; say whether there is such a folder."""
        if entry is None:
            return False
        if entry.is_symlink():
            self.skip(NOTES, _LINK)
            return False
        if not entry.is_dir(follow_symlinks=False):
            self.skip(NOTES, "not a folder")
            return False
        folders = [(entry.path, NOTES)]
        while folders:
            place, path = folders.pop()
            folders.extend(self.folder(place, path))
        return True

    def folder(self, place: str, path: str) -> Iterator[tuple[str, str]]:
        """Look at one folder and yield those inside it that are to be looked at."""
        try:
            with os.scandir(place) as found:
                entries = list(found)
        except OSError as error:
            self.skip(path, reason_of(error))
            return
        for entry in entries:
            name = entry.name
            inside = f"{path}/{name}"
            if is_hidden(name):
                continue
            if entry.is_symlink():
                if not self.left_out(inside, folder=False):
                    self.skip(inside, _LINK)
            elif entry.is_dir(follow_symlinks=False):
                if not self.left_out(inside, folder=True):
                    yield entry.path, inside
            elif name.lower().endswith(".md") and not self.left_out(inside, folder=False):
                self.consider(entry, inside)

    def left_out(self, path: str, *, folder: bool) -> bool:
        return bool(self.rules) and is_ignored(self.rules, path, folder=folder)

    def consider(self, entry: os.DirEntry[str], path: str) -> None:
        """Take a file in, or say why not."""
        if not path.isprintable() and (reason := _unusable(path)):
            self.skip(path, reason)
            return
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self.skip(path, reason_of(error))
            return
        if stat.S_ISLNK(found.st_mode):
            self.skip(path, _LINK)
        elif not stat.S_ISREG(found.st_mode):
            self.skip(path, kind_of(found.st_mode))
        elif found.st_size > self.max_bytes:
            self.skip(path, f"too large: {found.st_size} bytes, the limit is {self.max_bytes}")
        else:
            self.stats.append(SourceStat(path, found.st_size, found.st_mtime_ns))


def _unusable(path: str) -> str:
    """Return why a name cannot be an address: what is shown to a model must not hold line breaks."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    breaks = any(ord(char) < 32 or char in "\x7f\x85\u2028\u2029" for char in path)
    return "its name holds control characters" if breaks else ""
