"""The workspace as a source of the index: documents whose every line carries its provenance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from reverie.core.clock import day_in
from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.core.text import sha256
from reverie.core.types import Corpus, Provenance, Skipped, SourceDocument, SourceLine, SourceScan
from reverie.workspace.document import LineKind
from reverie.workspace.notes import Workspace
from reverie.workspace.paths import NOTES, is_curated, is_indexed
from reverie.workspace.scanner import scan

#: ``(path, lines as they stand, without endings)`` to one provenance for each line.
Classify = Callable[[str, Sequence[str]], Sequence[Provenance]]


class WorkspaceSource:
    """Notes and curated files for the indexer.

    Args:
        workspace: where they are.
        classify: says where each line comes from; the durable store answers it. Lines it does not answer for are
            ``untrusted``.
        revisions: a number for each path of which something was recorded; it grows with each record.
        shown: gives each line as the index may hold it, such as without secrets; the lines themselves by default.
    """

    def __init__(
        self,
        workspace: Workspace,
        classify: Classify,
        *,
        revisions: Callable[[], Mapping[str, int]] | None = None,
        shown: Callable[[Sequence[str]], Sequence[str]] | None = None,
    ) -> None:
        self._workspace = workspace
        self._classify = classify
        self._revisions = revisions
        self._shown = shown
        self._revision: Mapping[str, int] = {}

    @property
    def corpus(self) -> Corpus:
        """Return ``MEMORY``."""
        return Corpus.MEMORY

    def scan(self, *, known: Collection[str] = ()) -> SourceScan:
        """Look at the workspace; one ``stat`` a file."""
        found = self._workspace.scan(known=any(path.startswith(f"{NOTES}/") for path in known))
        if self._revisions is None:
            return found
        # What is known of whose lines these are changes without the file: then the file must be read again.
        self._revision = self._revisions()
        stats = tuple(
            replace(one, mtime_ns=one.mtime_ns + self._revision[one.path]) if one.path in self._revision else one
            for one in found.stats
        )
        return replace(found, stats=stats)

    def read(self, path: str) -> SourceDocument | Skipped:
        """Read one file. Front matter and generated blocks are left out; their lines keep their numbers free."""
        try:
            if not is_indexed(path) or self._workspace.is_ignored(path):
                return Skipped(path, "not indexed")
            file = self._workspace.read(path)
        except PathNotAllowed as error:
            return Skipped(path, str(error.fields.get("reason") or error.message))
        except FileUnreadable as error:
            return Skipped(path, str(error.fields["reason"]))
        document = scan(file.text)
        texts = [line.text for line in document.lines]
        given = self._classify(path, texts)
        texts = list(self._shown(texts)) if self._shown is not None else texts
        unknown = Provenance()
        lines = tuple(
            SourceLine(line.number, texts[index], given[index] if index < len(given) else unknown)
            for index, line in enumerate(document.lines)
            if line.kind is not LineKind.FRONT_MATTER and line.number not in document.generated
        )
        revision = self._revision.get(path, 0)
        curated = is_curated(path)
        day = None if curated else day_in(path)
        return SourceDocument(
            path=path,
            hash=sha256(f"{file.hash}:{revision}") if revision else file.hash,
            lines=lines,
            curated=curated,
            date=datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None,
            notices=(*file.notices, *(f"{path}: {notice}" for notice in document.notices)),
        )
