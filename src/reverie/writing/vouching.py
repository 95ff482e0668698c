"""The owner's act of trust: what it would raise, and the record of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.core.errors import UsageError, WriteConflict, WriteRefused
from reverie.core.provenance import is_trusted
from reverie.core.types import SourceClass
from reverie.store.lines import Trust, is_bare, line_hashes, path_class
from reverie.writing.recorded import RecordedFiles
from reverie.writing.recording import lines_of


@dataclass(frozen=True, slots=True)
class VouchedLine:
    """A line with content, and its class before and after the act."""

    number: int
    text: str
    before: SourceClass
    after: SourceClass

    @property
    def raised(self) -> bool:
        """Say whether the act makes this line trusted."""
        return is_trusted(self.after) and not is_trusted(self.before)


@dataclass(frozen=True, slots=True)
class Vouching:
    """An act of trust on a file, done or only looked at.

    ``lines`` are those with content that the act names or changes. ``content_hash`` is the sha256 of the file as it
    was judged. ``record`` is empty as long as nothing was recorded.
    """

    path: str
    content_hash: str
    lines: tuple[VouchedLine, ...]
    record: str = ""

    @property
    def raised(self) -> tuple[VouchedLine, ...]:
        """Return the lines that become trusted by it."""
        return tuple(line for line in self.lines if line.raised)


def preview(files: RecordedFiles, relative: str, lines: tuple[int, int] | None = None) -> Vouching:
    """Return what an act of trust would do; nothing is recorded. See :func:`vouch`."""
    files.workspace.path(relative)  # refuses what is no memory path at all
    if not is_trusted(path_class(relative)):
        raise WriteRefused("What dreaming writes for people cannot become trusted", path=relative)
    found = files.workspace.read(relative)
    every = lines_of(found.text)
    first, last = _range(relative, every, lines)
    act = Trust(frozenset(line_hashes(every[first - 1 : last])), whole=lines is None)
    files.judge.refresh()
    before = files.judge.judge(relative, every).lines
    after = files.judge.judge(relative, every, more=(act,)).lines
    told = tuple(
        VouchedLine(number, line, old.origin, new.origin)
        for number, (line, old, new) in enumerate(zip(every, before, after, strict=True), 1)
        if not is_bare(line) and (first <= number <= last or old.origin is not new.origin)
    )
    return Vouching(relative, found.hash, told)


def vouch(
    files: RecordedFiles,
    relative: str,
    by: str,
    lines: tuple[int, int] | None = None,
    *,
    expected_hash: str | None = None,
) -> Vouching:
    """Record that the owner vouches for a file, or for some of its lines, as they stand now.

    Only the owner may be let do this. Untrusted lines become the agent's, never the owner's own. Lines that are
    changed afterwards are judged anew. Where nothing would be raised, nothing is recorded.

    Args:
        files: the memory files.
        relative: the file.
        by: who does it.
        lines: first and last line, 1-based and inclusive; the whole file by default.
        expected_hash: sha256 of the file that the owner has seen; what is not that file is not vouched for.

    Raises:
        UsageError: there are no such lines.
        WriteRefused: nothing at this path can be trusted: dreaming wrote it for people to read.
        WriteConflict: the file is not what the owner has seen.
        FileUnreadable, PathNotAllowed: the file cannot be read.
    """
    with files.locked(relative):
        files.settle(relative)
        seen = preview(files, relative, lines)
        if expected_hash is not None and seen.content_hash != expected_hash:
            raise WriteConflict("The file changed since it was shown", path=relative, hint="look at it again")
        if not seen.raised:
            return seen
        every = lines_of(files.workspace.read(relative).text)
        first, last = _range(relative, every, lines)
        vouched = line_hashes(every[first - 1 : last])
        record = files.durable.trust(relative, lines, seen.content_hash, vouched, by)
        # Copies of these lines in other files are trusted with them.
        files.durable.judge_anew(path for path in files.standing.holding(vouched) if path != relative)
        files.judge.refresh()
    return Vouching(relative, seen.content_hash, seen.lines, record)


def _range(relative: str, every: Sequence[str], lines: tuple[int, int] | None) -> tuple[int, int]:
    first, last = lines if lines is not None else (1, len(every))
    if lines is not None and not 1 <= first <= last <= len(every):
        raise UsageError("There are no such lines", path=relative, lines=f"{first}-{last}", has=len(every))
    return first, last
