"""One recorded write: announced before the file changes, confirmed afterwards, or taken back.

A :class:`Recording` stands between a change and :func:`reverie.workspace.files.edit`. It learns the bytes that are
about to be written, compares them line by line with those that stand there, and reserves a record with both hashes.
So a kill at any instruction leaves a file and a reservation from which the truth can be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TypeVar

from reverie.core.errors import FileUnreadable, StoreError
from reverie.core.provenance import CONFINED, is_trusted, least, lowered
from reverie.core.text import sha256
from reverie.core.types import Provenance, SourceClass
from reverie.store.durable import DurableStore
from reverie.store.lines import is_bare, judge, line_hash, line_hashes
from reverie.store.records import Present
from reverie.workspace import files

T = TypeVar("T")

#: Above this many pairs of changed lines they are not compared one by one; all of them count as rewritten.
_MAX_PAIRS = 4_000_000


@dataclass(frozen=True, slots=True)
class LineDiff:
    """What a write does to the lines of a file: hashes of content lines written and dropped, in order.

    ``start_line`` and ``end_line`` are 1-based, in the file afterwards; of a mere deletion both are the line that
    stands at its place.
    """

    written: tuple[str, ...]
    dropped: tuple[str, ...]
    start_line: int
    end_line: int


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as :func:`reverie.store.lines.judge` takes them: without their endings."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def present(path: Path) -> Present | None:
    """Return what stands at a path, as recovery asks for it; ``None`` if there is no file.

    Raises:
        FileUnreadable: There is something that cannot be read as text.
    """
    try:
        found = files.read(path, max_bytes=None)
    except FileUnreadable as error:
        if error.fields["reason"] == "vanished":
            return None
        raise
    return Present(found.hash, line_hashes(lines_of(found.text)))


def compare(before: Sequence[str], after: Sequence[str]) -> LineDiff:
    """Return what turns the lines ``before`` into ``after``."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old = line_hashes(before[head : len(before) - tail])
    new = line_hashes(after[head : len(after) - tail])
    dropped, written = _changed(old, new)
    changed = [number for number in range(head, len(after) - tail) if not is_bare(after[number])]
    place = min(head + 1, max(1, len(after)))
    start, end = (changed[0] + 1, changed[-1] + 1) if changed else (place, place)
    return LineDiff(tuple(written), tuple(dropped), start, end)


def _changed(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    if not old or not new or len(old) * len(new) > _MAX_PAIRS:
        return list(old), list(new)
    dropped: list[str] = []
    written: list[str] = []
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            dropped += old[i1:i2]
            written += new[j1:j2]
    return dropped, written


class Recording:
    """A write to one file that leaves a record. Use it under the lock of the file, once.

    ``echoes`` says which of the lines of an untrusted write stand in trusted text already. ``derived`` says that the
    new lines may be made of those that they replace, as in a rewrite of the whole file: then they are never above the
    least trusted line that goes.
    """

    def __init__(
        self,
        durable: DurableStore,
        relative: str,
        provenance: Provenance,
        *,
        tool: str,
        reason: str,
        echoes: Callable[[Sequence[str]], frozenset[str]] = lambda _: frozenset(),
        derived: bool = False,
    ) -> None:
        self.provenance = provenance
        self.ident = ""
        self.diff = LineDiff((), (), 1, 1)
        self._durable = durable
        self._relative = relative
        self._tool = tool
        self._reason = reason
        self._echoes = echoes
        self._derived = derived

    def edit(
        self,
        path: Path,
        change: Callable[[files.FileText | None], tuple[bytes, T]],
        *,
        lock_dir: Path,
        timeout: float = files.WAIT_SECONDS,
    ) -> tuple[str | None, str, T]:
        """Do what :func:`reverie.workspace.files.edit` does, with a record of it."""

        def announced(found: files.FileText | None) -> tuple[bytes, T]:
            data, value = change(found)
            self._announce(found, data)
            return data, value

        try:
            result = files.edit(path, announced, lock_dir=lock_dir, timeout=timeout)
        except BaseException:
            self._take_back(path)
            raise
        self._durable.commit(self.ident)
        return result

    def _announce(self, found: files.FileText | None, data: bytes) -> None:
        if self.ident:
            # Somebody without the lock changed the file under the first attempt.
            self._durable.roll_back(self.ident)
        before = [] if found is None else lines_of(found.text)
        self.diff = compare(before, lines_of(files.decode(data).text))
        provenance = self._limited(before) if self._derived else self.provenance
        self.ident = self._durable.reserve(
            self._relative,
            provenance,
            before_hash=None if found is None else found.hash,
            after_hash=sha256(data),
            start_line=self.diff.start_line,
            end_line=self.diff.end_line,
            written=self.diff.written,
            dropped=self.diff.dropped,
            echoed=self._echoes(self.diff.written) if _is_known_again(provenance) else (),
            tool=self._tool,
            reason=self._reason,
        )

    def _limited(self, before: Sequence[str]) -> Provenance:
        """Return the writer's provenance, lowered to the least trusted line that the write takes out."""
        gone = Counter(self.diff.dropped)
        judged = judge(self._relative, before, self._durable.history(self._relative))
        doubtful = [
            found.origin
            for line, found in zip(before, judged.lines, strict=True)
            if not is_trusted(found.origin) and line_hash(line) in gone
        ]
        return lowered(self.provenance, least(doubtful)) if doubtful else self.provenance

    def _take_back(self, path: Path) -> None:
        """Settle the reservation of a failed write by what the file holds; the failure itself is what is raised."""
        if self.ident:
            with suppress(StoreError, FileUnreadable):
                self._durable.recover(lambda _: present(path), lambda _: nullcontext(), path=self._relative)

    @property
    def origin(self) -> SourceClass:
        """Return the class under which the lines were recorded."""
        return self._durable.record(self.ident).provenance.origin if self.ident else self.provenance.origin


def _is_known_again(provenance: Provenance) -> bool:
    """Say whether copies of what is written are looked for everywhere, so that what stood before must be told apart."""
    return not is_trusted(provenance.origin) or provenance.kind in CONFINED
