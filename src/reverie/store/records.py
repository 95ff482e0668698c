"""The values of the ledger: write records, what recovery finds, and how rows become them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from reverie.core.clock import as_utc
from reverie.core.provenance import is_trusted
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.store.database import Row

State = Literal["reserved", "committed", "rolled_back"]


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """A recorded write. Lines are 1-based and stood there right after the write; hashes are sha256 of file bytes.

    ``written`` and ``dropped`` are hashes of single lines (:func:`reverie.store.lines.line_hashes`).
    """

    id: str
    path: str
    provenance: Provenance
    tool: str
    reason: str
    before_hash: str | None
    after_hash: str
    start_line: int
    end_line: int
    state: State
    written: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """The owner's act of trust: on which lines (``None``: the whole file), and the hashes of those that it raised."""

    id: str
    path: str
    at: datetime
    by: str
    lines: tuple[int, int] | None
    hashes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Present:
    """A file as it stands: its sha256, and the hashes of its lines with content."""

    hash: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of writes whose writer was killed: identifiers of their records.

    ``left`` are those whose file cannot be read at present.
    """

    committed: tuple[str, ...] = ()
    rolled_back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """A session that an entry comes from."""

    session: str
    session_key: str | None
    origin: SourceClass
    observed_at: datetime


def happened(record: WriteRecord, present: Present | None) -> bool:
    """Say whether a reserved write reached the file, judging by the file as it stands."""
    after = None if present is None else present.hash
    if after == record.after_hash:
        return True
    if present is None or after == record.before_hash:
        return False
    # Trigger: the file was changed by somebody else after the writer was killed.
    # Why: a rollback would turn lines that did arrive into handwritten ones, which must not happen to untrusted
    # lines; for trusted ones it is the careful answer. Outcome: one untrusted line is enough, else all are needed.
    arrived = [line in present.lines for line in record.written]
    return bool(arrived) and (all(arrived) if is_trusted(record.provenance.origin) else any(arrived))


def record_of(row: Row, lines: Sequence[Row]) -> WriteRecord:
    """Return the record of a row and of the rows of its lines."""
    ident, path, origin, kind, session, sender, tool, reason, observed, before, after, start, end, key, state, _ = row
    return WriteRecord(
        id=ident,
        path=path,
        provenance=provenance_of(origin, kind, observed, session, sender, key),
        tool=tool,
        reason=reason,
        before_hash=before,
        after_hash=after,
        start_line=start,
        end_line=end,
        state=state,
        written=tuple(line for change, line in lines if change == "written"),
        dropped=tuple(line for change, line in lines if change == "dropped"),
    )


def provenance_of(
    origin: str, kind: str, observed: int, session: str | None, sender: str | None, key: str | None
) -> Provenance:
    """Return the provenance that columns hold."""
    return Provenance(SourceClass(origin), SessionKind(kind), moment(observed), session, sender, key)


def milliseconds(moment: datetime) -> int:
    """Return the milliseconds since 1970, UTC."""
    return round(as_utc(moment).timestamp() * 1000)


def moment(milliseconds: int) -> datetime:
    """Return the aware moment of milliseconds since 1970."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
