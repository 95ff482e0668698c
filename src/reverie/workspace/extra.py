"""Files and folders beside memory that are searched, too: ``memory.search.extraPaths``.

They are somebody's documents, not memory: every line is untrusted, nothing in them is injected or learned, and nothing
is ever written to them. A file inside the workspace keeps its path there, another one is known by its whole path.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reverie.core.clock import day_in
from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.core.text import sha256
from reverie.core.types import Corpus, Passage, Provenance, Skipped, SourceDocument, SourceLine, SourceScan, SourceStat
from reverie.workspace.document import LineKind
from reverie.workspace.ignore import Rule, is_ignored, parse_rules
from reverie.workspace.notes import passage
from reverie.workspace.paths import is_hidden, is_memory_path
from reverie.workspace.reading import kind_of, read, reason_of
from reverie.workspace.scanner import scan

#: What is taken of a folder where no pattern is given.
PATTERN = "**/*.md"
_LINK = "symbolic link; links are not followed"


@dataclass(frozen=True, slots=True)
class Root:
    """A file, or a folder with the files below it that a pattern takes."""

    path: Path
    pattern: str = PATTERN

    def rules(self) -> tuple[Rule, ...]:
        """Return the pattern, anchored to the folder."""
        return parse_rules("/" + self.pattern.lstrip("/"))


class ExtraSource:
    """Documents of other folders for the indexer, and for reading.

    Args:
        workspace: the workspace; what is memory in it is left to the workspace's own source.
        roots: what is searched.
        max_bytes: a larger file is skipped.
        shown: gives each line as the index may hold it, such as without secrets.
    """

    def __init__(
        self,
        workspace: Path,
        roots: Sequence[Root],
        *,
        max_bytes: int,
        shown: Callable[[Sequence[str]], Sequence[str]] | None = None,
    ) -> None:
        self._workspace = Path(os.path.realpath(workspace))
        self._roots = tuple(roots)
        self._max_bytes = max_bytes
        self._shown = shown

    @property
    def corpus(self) -> Corpus:
        """Return ``MEMORY``: they are searched with the notes."""
        return Corpus.MEMORY

    def scan(self, *, known: Collection[str] = ()) -> SourceScan:
        """Look at the roots; one ``stat`` a file, each file once however many roots hold it.

        A root that is not there is told of as missing where files of it are ``known``: a disk that is away is no
        deletion.
        """
        found: dict[str, SourceStat] = {}
        skipped: list[Skipped] = []
        missing = None
        for root in self._roots:
            if root.path.is_symlink():
                skipped.append(Skipped(str(root.path), _LINK))
            elif not root.path.exists():
                prefix = self._name(root.path)
                if any(path == prefix or path.startswith(f"{prefix}/") for path in known):
                    missing = f"{root.path} (vanished)"
                else:
                    skipped.append(Skipped(str(root.path), "not there"))
            else:
                for path in self._files(root, skipped):
                    self._consider(path, found, skipped)
        ordered = tuple(sorted(found.values(), key=lambda one: one.path))
        return SourceScan(ordered, tuple(sorted(skipped, key=lambda one: one.path)), missing)

    def read(self, path: str) -> SourceDocument | Skipped:
        """Read one document; all of its lines are untrusted."""
        try:
            file = read(self.path(path), max_bytes=self._max_bytes)
        except PathNotAllowed:
            return Skipped(path, "not indexed")
        except FileUnreadable as error:
            return Skipped(path, str(error.fields["reason"]))
        document = scan(file.text)
        texts = [line.text for line in document.lines]
        texts = list(self._shown(texts)) if self._shown is not None else texts
        lines = tuple(
            SourceLine(line.number, text, Provenance())
            for line, text in zip(document.lines, texts, strict=True)
            if line.kind is not LineKind.FRONT_MATTER
        )
        day = day_in(path)
        date = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
        return SourceDocument(path, sha256(f"extra:{file.hash}"), lines, False, date, tuple(file.notices))

    def read_lines(self, path: str, from_line: int, lines: int | None, max_chars: int) -> Passage:
        """Read a window of lines, as the workspace does of its own files.

        Raises:
            PathNotAllowed: no root holds this path, or a symbolic link stands on its way.
        """
        place = self.path(path)
        try:
            file = read(place, max_bytes=self._max_bytes)
        except FileUnreadable as error:
            if error.fields["reason"] != "vanished":
                raise
            return Passage(path, from_line, 0, "", status="not_found")
        return passage(path, file.text, from_line, lines, max_chars)

    def holds(self, path: str) -> bool:
        """Say whether a path is one of these documents, whether it is there or not."""
        try:
            self.path(path)
        except PathNotAllowed:
            return False
        return True

    def path(self, path: str) -> Path:
        """Return where a document is.

        Raises:
            PathNotAllowed: no root holds this path, or a symbolic link stands on its way.
        """
        if "\0" in path or is_memory_path(path):
            raise PathNotAllowed(path=path.replace("\0", "\\0"))
        place = Path(os.path.normpath(self._workspace / path))
        for root in self._roots:
            inside = place == root.path if not root.path.is_dir() else self._takes(root, place)
            if inside and not root.path.is_symlink():
                straight = Path(os.path.realpath(root.path)) / place.relative_to(root.path)
                if place.exists() and Path(os.path.realpath(place)) != straight:
                    raise PathNotAllowed(path=path, reason="symbolic link")
                return place
        raise PathNotAllowed(path=path)

    def _takes(self, root: Root, place: Path) -> bool:
        if not place.is_relative_to(root.path) or place == root.path:
            return False
        inside = place.relative_to(root.path).as_posix()
        hidden = any(is_hidden(part) for part in inside.split("/"))
        return not hidden and is_ignored(root.rules(), inside, folder=False)

    def _files(self, root: Root, skipped: list[Skipped]) -> Iterator[Path]:
        """Yield the files of a root; links and what is hidden are passed over, links with a word."""
        if not root.path.is_dir():
            yield root.path
            return
        rules = root.rules()

        def unreadable(error: OSError) -> None:
            skipped.append(Skipped(str(error.filename), reason_of(error)))

        for folder, folders, names in os.walk(root.path, onerror=unreadable, followlinks=False):
            place = Path(folder)
            links = [name for name in folders if (place / name).is_symlink()]
            skipped.extend(Skipped(str(place / name), _LINK) for name in links if not is_hidden(name))
            folders[:] = sorted(name for name in folders if not is_hidden(name) and name not in links)
            for name in sorted(names):
                inside = (place / name).relative_to(root.path).as_posix()
                if not is_hidden(name) and is_ignored(rules, inside, folder=False):
                    yield place / name

    def _consider(self, path: Path, found: dict[str, SourceStat], skipped: list[Skipped]) -> None:
        name = self._name(path)
        if name in found or is_memory_path(name):
            return
        try:
            about = path.lstat()
        except OSError as error:
            skipped.append(Skipped(str(path), reason_of(error)))
            return
        if stat.S_ISLNK(about.st_mode):
            skipped.append(Skipped(str(path), _LINK))
        elif not stat.S_ISREG(about.st_mode):
            skipped.append(Skipped(str(path), kind_of(about.st_mode)))
        elif about.st_size > self._max_bytes:
            skipped.append(Skipped(str(path), f"too large: {about.st_size} bytes, the limit is {self._max_bytes}"))
        elif not name.isprintable():
            skipped.append(Skipped(name.encode("utf-8", "replace").decode(), "its name holds control characters"))
        else:
            found[name] = SourceStat(name, about.st_size, about.st_mtime_ns)

    def _name(self, path: Path) -> str:
        """Return the path as it is known: from the workspace where it lies inside, else whole."""
        if path.is_relative_to(self._workspace):
            return path.relative_to(self._workspace).as_posix()
        return path.as_posix()
