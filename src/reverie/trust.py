"""Trusting lines, which only the owner may do: what it would raise, then the recorded act."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.assembly import Parts
from reverie.core.errors import ReverieError, WriteRefused
from reverie.core.provenance import is_trusted, of_sender
from reverie.core.types import Sender, SourceClass
from reverie.store.lines import is_bare
from reverie.turn import sender_name
from reverie.writing.recording import lines_of
from reverie.writing.vouching import Vouching


@dataclass(frozen=True, slots=True)
class TrustReport:
    """What an act of trust raised, or would raise.

    ``applied`` says that it was recorded, under the id ``record``. ``note`` says in words what there is to know.
    """

    path: str
    content_hash: str
    lines: tuple[tuple[int, str, SourceClass], ...]
    applied: bool
    record: str
    note: str


@dataclass(frozen=True, slots=True)
class DoubtfulFile:
    """A file with lines that are not trusted: how many, and whether it is lowered as a whole."""

    path: str
    lines: int
    whole: bool


def trust(
    parts: Parts,
    path: str,
    lines: tuple[int, int] | None,
    sender: Sender,
    *,
    dry_run: bool,
    expected_hash: str | None,
) -> TrustReport:
    """Record that the owner vouches for lines; see :meth:`reverie.memory.Memory.trust`."""
    if of_sender(sender) is not SourceClass.OWNER:
        raise WriteRefused("Only the owner can vouch for a line", sender=sender_name(sender))
    if dry_run:
        return _report(parts.writer.preview_trust(path, lines), applied=False)
    done = parts.writer.vouch(path, sender_name(sender), lines, expected_hash=expected_hash)
    parts.judge.refresh()
    parts.engine.touched()
    return _report(done, applied=bool(done.record))


def _report(seen: Vouching, *, applied: bool) -> TrustReport:
    raised = tuple((line.number, line.text, line.before) for line in seen.raised)
    left = sum(not is_trusted(line.after) for line in seen.lines)
    if not raised:
        note = "nothing is raised by it" if left else "all of it is trusted already; nothing was recorded"
    else:
        note = "they count as the agent's from now on" if applied else "nothing was recorded yet"
    return TrustReport(seen.path, seen.content_hash, raised, applied, seen.record, note)


def doubtful_files(parts: Parts) -> list[DoubtfulFile]:
    """Return the files with untrusted lines as they stand now, by path."""
    parts.judge.refresh()
    found = []
    # A line that left its file by hand can stand in any other; such are few, and only then are all files looked at.
    paths = set(parts.durable.doubtful_paths())
    if parts.judge.strays(""):
        paths |= {one.path for one in parts.workspace.scan().stats}
    for path in sorted(paths):
        try:
            every = lines_of(parts.workspace.read(path).text)
        except ReverieError:
            continue
        judged = parts.judge.judge(path, every)
        count = sum(
            not is_trusted(born.origin) for line, born in zip(every, judged.lines, strict=True) if not is_bare(line)
        )
        if count:
            found.append(DoubtfulFile(path, count, judged.lowered_to is not None))
    return found
