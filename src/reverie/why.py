"""Why something stands in memory and what may become of it: the chain from the line to its record and its session.

An answer names, for each line, its class and the reason; the write records and acts of trust behind it; and every gate,
with what it says, so that whatever would refuse the text can be seen before it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from reverie.assembly import Parts
from reverie.core.errors import FileUnreadable, PathNotAllowed, ReverieError, StoreError, UsageError
from reverie.core.language import normal
from reverie.core.provenance import is_trusted
from reverie.core.text import collapse
from reverie.core.types import Annotations, Provenance, SessionKind, SourceClass
from reverie.sessions.capture import Captured, capture
from reverie.sessions.reading import Reading
from reverie.sessions.source import session_in
from reverie.store.lines import FileTrust, is_bare, line_hash, path_class
from reverie.store.records import TrustRecord, WriteRecord
from reverie.workspace.markdown import Entry, entries, scan
from reverie.workspace.paths import CURATED, is_curated, is_memory_path
from reverie.writing.gates import Gate, candidate_gates, injection_gates, search_gates
from reverie.writing.recording import lines_of

#: A place as a search cites it: ``memory/2026-03-02.md#L3-L7``.
_PLACE = re.compile(r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")
#: At most so many places are told of, where a text stands in several.
PLACES = 5
#: The shortest text that is looked for, so that "a" does not find everything.
_LEAST_CHARS = 3


@dataclass(frozen=True, slots=True)
class LineWhy:
    """One line: its class, and why it has that one. ``records`` are the ids of the writes that put it there."""

    number: int
    text: str
    origin: SourceClass
    kind: SessionKind
    because: str
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteWhy:
    """A write behind the lines: who had it done, in which session, with which tool, when, and what became of it."""

    id: str
    origin: SourceClass
    kind: SessionKind
    at: datetime | None
    session: str
    session_key: str
    sender: str
    tool: str
    reason: str
    state: str


@dataclass(frozen=True, slots=True)
class TrustWhy:
    """An act of trust that named one of the lines; ``lines`` is ``None`` where it was the whole file."""

    id: str
    at: datetime
    by: str
    lines: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Gates:
    """What every gate says: before prompts that nobody asked for, before long-term memory, and in a search."""

    injection: tuple[Gate, ...]
    promotion: tuple[Gate, ...]
    search: tuple[Gate, ...]

    @property
    def refused(self) -> tuple[tuple[str, Gate], ...]:
        """Return the gates that refuse, each with what it stands before."""
        named = (("injection", self.injection), ("promotion", self.promotion), ("search", self.search))
        return tuple((purpose, gate) for purpose, gates in named for gate in gates if not gate.passed)


@dataclass(frozen=True, slots=True)
class Why:
    """The chain of one place in memory. ``lowered`` says why the whole file is lowered, if it is."""

    path: str
    start_line: int
    end_line: int
    text: str
    lines: tuple[LineWhy, ...]
    writes: tuple[WriteWhy, ...]
    trusts: tuple[TrustWhy, ...]
    gates: Gates
    lowered: str = ""

    @property
    def citation(self) -> str:
        """Return ``path#L3`` or ``path#L3-L7``."""
        tail = f"-L{self.end_line}" if self.end_line > self.start_line else ""
        return f"{self.path}#L{self.start_line}{tail}"


def explain(parts: Parts, entry: str) -> list[Why]:
    """Return the chain of an entry; several where its text stands in several places.

    Args:
        parts: the memory.
        entry: ``PATH#L12``, ``PATH#L3-L7``, a path, the id of a write record, the key of a promotion or of an entry, or
            the text of the entry.

    Raises:
        UsageError: there is nothing like that in memory.
        PathNotAllowed, FileUnreadable: the place cannot be read.
    """
    wanted = entry.strip()
    if not wanted:
        raise UsageError("Name a place, a record or a text", hint="such as MEMORY.md#L3")
    parts.judge.refresh()
    place = _PLACE.fullmatch(wanted)
    if place is not None:
        first = int(place["first"])
        return [_at(parts, place["path"], first, max(first, int(place["last"] or first)))]
    if is_memory_path(wanted):
        return [_at(parts, wanted, 1, None)]
    found = _of_record(parts, wanted) or _of_key(parts, wanted) or _of_text(parts, wanted)
    if not found:
        raise UsageError(
            "Nothing like this stands in memory", entry=wanted[:80], hint="`reverie search` finds places to ask about"
        )
    return found


# --- finding the place -----------------------------------------------------------------------------------------


def _of_record(parts: Parts, ident: str) -> list[Why]:
    """Return where the lines of a write record stand now."""
    try:
        record = parts.durable.record(ident)
    except StoreError:
        return []
    try:
        lines = lines_of(parts.workspace.read(record.path).text)
    except FileUnreadable:
        lines = []
    numbers = [number for number, line in enumerate(lines, 1) if line_hash(line) in record.written]
    if not numbers:
        reason = "its lines do not stand there any more"
        raise UsageError("This write left nothing", record=ident, path=record.path, reason=reason)
    return [_at(parts, record.path, first, last) for first, last in _runs(numbers)[:PLACES]]


def _of_key(parts: Parts, key: str) -> list[Why]:
    """Return the curated entries with this promotion key, lineage or supersession key."""
    return [
        _at(parts, path, entry.start_line, entry.end_line)
        for path in CURATED
        for entry in _entries(parts, path)
        if key in (entry.promotion, entry.lineage, entry.annotations.key)
    ][:PLACES]


def _of_text(parts: Parts, text: str) -> list[Why]:
    """Return where a text stands, the curated files first; compared without case, width and spaces."""
    sought = collapse(normal(text))
    if len(sought) < _LEAST_CHARS:
        return []
    found: list[Why] = []
    stats = [one.path for one in parts.workspace.scan().stats]
    for path in [*(name for name in CURATED if name in stats), *(name for name in stats if name not in CURATED)]:
        if len(found) >= PLACES:
            break
        found += [_at(parts, path, first, last) for first, last in _holding(parts, path, sought)]
    return found[:PLACES]


def _holding(parts: Parts, path: str, sought: str) -> list[tuple[int, int]]:
    if is_curated(path):
        whole = [(entry, collapse(normal(entry.text))) for entry in _entries(parts, path)]
        return [(entry.start_line, entry.end_line) for entry, text in whole if sought in text]
    try:
        lines = lines_of(parts.workspace.read(path).text)
    except ReverieError:
        return []
    return [(number, number) for number, line in enumerate(lines, 1) if sought in collapse(normal(line))]


def _entries(parts: Parts, path: str) -> tuple[Entry, ...]:
    try:
        return entries(scan(parts.workspace.read(path).text))
    except ReverieError:
        return ()


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return runs of lines; a blank line between two of them does not part them."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= 2:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


# --- the chain -------------------------------------------------------------------------------------------------


def _at(parts: Parts, path: str, first: int, last: int | None) -> Why:
    prefix = f"sessions/{parts.agent}/"
    if path.startswith(prefix):
        return _said(parts, path, path.removeprefix(prefix), first, last or first)
    every = lines_of(parts.workspace.read(path).text)
    last = len(every) if last is None else last
    if not every or not 1 <= first <= last <= len(every):
        raise UsageError("There are no such lines", path=path, lines=f"{first}-{last}", has=len(every))
    annotations = Annotations()
    for entry in _entries(parts, path) if is_curated(path) else ():
        if entry.start_line <= first and last <= entry.end_line:
            first, last, annotations = entry.start_line, entry.end_line, entry.annotations
    judged = parts.judge.judge(path, every)
    records, trusts = parts.durable.records(path), parts.durable.trusts(path)
    window = range(first - 1, last)
    chain = _Chain(path, judged, records, trusts, parts.judge.strays(path))
    lines = tuple(chain.line(place, every[place]) for place in window)
    born = [judged.lines[place] for place in window if not is_bare(every[place])]
    text = "\n".join(every[first - 1 : last])
    return Why(
        path=path,
        start_line=first,
        end_line=last,
        text=text,
        lines=lines,
        writes=tuple(_write(parts, record) for record in chain.behind(every[place] for place in window)),
        trusts=tuple(TrustWhy(one.id, one.at, one.by, one.lines) for one in chain.vouched(lines)),
        gates=_gates(parts, text, born, path, annotations),
        lowered=chain.lowered,
    )


def _gates(parts: Parts, text: str, born: Sequence[Provenance], path: str, annotations: Annotations) -> Gates:
    return Gates(
        injection=injection_gates(born, path, annotations),
        promotion=candidate_gates(text, born, path, marker=parts.marker),
        search=search_gates(born, path, annotations),
    )


@dataclass(frozen=True, slots=True)
class _Chain:
    """What is recorded of one file, asked line by line."""

    path: str
    judged: FileTrust
    records: Sequence[WriteRecord]
    trusts: Sequence[TrustRecord]
    strays: Mapping[str, frozenset[str]]

    def line(self, place: int, text: str) -> LineWhy:
        born = self.judged.lines[place]
        behind = self.behind([text])
        told = tuple(record.id for record in behind)
        return LineWhy(place + 1, text, born.origin, born.kind, self._because(text, born, behind), told)

    def behind(self, texts: Iterable[str]) -> list[WriteRecord]:
        hashes = {line_hash(text) for text in texts if not is_bare(text)}
        return [one for one in self.records if one.state != "rolled_back" and hashes & set(one.written)]

    def vouched(self, lines: Iterable[LineWhy]) -> list[TrustRecord]:
        hashes = {line_hash(line.text) for line in lines if not is_bare(line.text)}
        return [one for one in self.trusts if hashes & one.hashes]

    @property
    def lowered(self) -> str:
        if self.judged.lowered_to is None:
            return ""
        return (
            f"lines of class {self.judged.lowered_to} that were written here were changed or taken away by hand, so "
            f"nobody can tell any more which words are theirs; `reverie trust {self.path}` clears it"
        )

    def _because(self, text: str, born: Provenance, behind: Sequence[WriteRecord]) -> str:
        if is_bare(text):
            return "it has no words of its own"
        ceiling = path_class(self.path)
        if not is_trusted(ceiling):
            return f"nothing at this place is above {ceiling}"
        if not is_trusted(born.origin):
            return self._because_untrusted(text, behind)
        vouches = [one for one in self.trusts if line_hash(text) in one.hashes]
        if vouches:
            return f"the owner vouched for it ({vouches[-1].at.date().isoformat()}, {vouches[-1].by})"
        if behind:
            return f"written by {_by(behind[-1])}"
        return "nothing is recorded of it, so it was written by hand"

    def _because_untrusted(self, text: str, behind: Sequence[WriteRecord]) -> str:
        doubtful = [record for record in behind if not is_trusted(record.provenance.origin)]
        if doubtful:
            return f"written by {_by(doubtful[0])}"
        home = sorted(path for path, gone in self.strays.items() if line_hash(text) in gone)
        if home:
            return f"it was written to {home[0]} as untrusted, and this is a copy"
        if self.judged.lowered_to is not None:
            return "the file is lowered as a whole"
        return "it stands between the lines of an untrusted write"


def _by(record: WriteRecord) -> str:
    born = record.provenance
    who = f" of {born.sender}" if born.sender else ""
    return f"{record.tool or 'a write'}{who} as {born.origin}"


def _write(parts: Parts, record: WriteRecord) -> WriteWhy:
    born = record.provenance
    return WriteWhy(
        id=record.id,
        origin=born.origin,
        kind=born.kind,
        at=born.observed_at,
        session=born.session or "",
        session_key=parts.sessions.key_of(born.session) if born.session else "",
        sender=born.sender or "",
        tool=record.tool,
        reason=record.reason,
        state=record.state,
    )


# --- transcripts -----------------------------------------------------------------------------------------------


def _said(parts: Parts, path: str, name: str, first: int, last: int) -> Why:
    """Return the chain of messages of a transcript: who said them, in which session, and what was left out."""
    session = session_in(name)
    if session is None or "/" in name:
        raise PathNotAllowed(path=path)
    found = list(_messages(parts, name, session, first, last))
    if not found:
        raise UsageError("No message stands there", path=path, lines=f"{first}-{last}")
    key = parts.sessions.key_of(session)
    lines = tuple(line for line, _ in found)
    born = [one for _, one in found if one is not None]
    text = "\n".join(line.text for line in lines)
    writes = tuple(
        WriteWhy("", one.origin, one.kind, one.observed_at, session, key, one.sender or "", "transcript", "", "said")
        for one in born
    )
    return Why(path, first, last, text, lines, writes, (), _gates(parts, text, born, path, Annotations()))


def _messages(
    parts: Parts, name: str, session: str, first: int, last: int
) -> Iterator[tuple[LineWhy, Provenance | None]]:
    reading = Reading(parts.paths.sessions(parts.agent) / name)
    kind = parts.sessions.kind_of(parts.sessions.key(parts.sessions.key_of(session)))
    with closing(iter(reading)) as read:
        walk = capture(
            read,
            kind=kind,
            session=session,
            marker=parts.marker,
            external_tools=parts.external_tools,
            redacted=parts.config.redact,
        )
        for one in walk:
            number = one.entry.line
            if not first <= number <= last:
                continue
            if isinstance(one, Captured):
                born = one.provenance
                who = f" of {born.sender}" if born.sender else ""
                because = f"said by the {one.role}{who}"
                yield LineWhy(number, one.text, born.origin, born.kind, because), born
            else:
                told = f"left out: {one.reason}"
                yield LineWhy(number, "", SourceClass.SYSTEM, kind, told), None
