"""Which lines stand in the memory files now: what an untrusted write repeats, and where copies of a line are.

Whoever repeats the owner's words must not be able to silence them. So before an untrusted write is recorded, its
lines are looked for in what is trusted; those that stand there already are recorded as echoes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.core.provenance import is_trusted
from reverie.store.lines import is_bare, line_hash, line_hashes
from reverie.workspace.notes import Workspace
from reverie.writing.judging import LineJudge
from reverie.writing.recording import lines_of


class Standing:
    """The lines of all memory files, by hash. Files are read again when their size or time changed."""

    def __init__(self, workspace: Workspace, judge: LineJudge) -> None:
        self._workspace = workspace
        self._judge = judge
        self._files: dict[str, tuple[tuple[int, int], frozenset[str]]] = {}
        self._held = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Look at the files once for a whole round of writes, such as an import of many files."""
        self._look()
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def holding(self, hashes: Collection[str]) -> list[str]:
        """Return the files in which any of these lines stands, in order."""
        if not self._held:
            self._look()
        return sorted(path for path, (_, lines) in self._files.items() if not lines.isdisjoint(hashes))

    def trusted(self, hashes: Collection[str]) -> frozenset[str]:
        """Return those of these lines that stand in trusted text."""
        wanted = frozenset(hashes)
        found: set[str] = set()
        for path in self.holding(wanted) if wanted else ():
            lines = self._lines(path)
            judged = self._judge.judge(path, lines).lines
            found.update(
                line_hash(line)
                for line, born in zip(lines, judged, strict=True)
                if is_trusted(born.origin) and not is_bare(line)
            )
        return wanted & found

    def _look(self) -> None:
        self._judge.refresh()
        looked = {}
        for one in self._workspace.scan().stats:
            state = (one.size, one.mtime_ns)
            known = self._files.get(one.path)
            if known is None or known[0] != state:
                known = (state, frozenset(line_hashes(self._lines(one.path))))
            looked[one.path] = known
        self._files = looked

    def _lines(self, path: str) -> list[str]:
        try:
            return lines_of(self._workspace.read(path).text)
        except (FileUnreadable, PathNotAllowed):
            return []
