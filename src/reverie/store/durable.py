"""The durable store of an agent, ``memory.sqlite``: what its files cannot hold and nothing can rebuild.

Its heart is the ledger of acts on memory files. A write is reserved before the file changes, with the hash that the
file will have; it is committed afterwards or rolled back. So a writer killed in between leaves a reservation from
which :meth:`DurableStore.recover` can tell what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from reverie.core.errors import StoreError, WorkspaceError
from reverie.core.types import Clock, Ids, Provenance, SourceClass
from reverie.store.database import Database, Row
from reverie.store.lines import Act, Removal, Trust, Write
from reverie.store.records import (
    EntryOrigin,
    Present,
    Recovery,
    State,
    TrustRecord,
    WriteRecord,
    happened,
    milliseconds,
    moment,
    provenance_of,
    record_of,
)
from reverie.store.schema import MIGRATIONS, TABLES

_ADD_ACT = "INSERT INTO act (kind, path, at, content_hash, detail) VALUES (?, ?, ?, ?, ?)"
_ADD_WRITE = """
INSERT INTO write_record (seq, id, origin, session_kind, session, sender, tool, reason, observed_at,
                          before_hash, after_hash, start_line, end_line, key, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'reserved')
"""
_ADD_TRUST = "INSERT INTO trust_act (seq, id, start_line, end_line, by) VALUES (?, ?, ?, ?, ?)"
_ADD_LINE = "INSERT INTO act_line (seq, change, position, hash) VALUES (?, ?, ?, ?)"
_LINES = "SELECT change, hash FROM act_line WHERE seq = ? ORDER BY change, position"
_RECORD_COLUMNS = """
SELECT w.id, a.path, w.origin, w.session_kind, w.session, w.sender, w.tool, w.reason, w.observed_at, w.before_hash,
       w.after_hash, w.start_line, w.end_line, w.key, w.state, w.seq
FROM write_record w JOIN act a USING (seq)
"""
_RECORD = _RECORD_COLUMNS + "WHERE w.id = ?"
_RECORDS_OF_PATH = _RECORD_COLUMNS + "WHERE a.path = ? ORDER BY w.seq"
_RESERVED = _RECORD_COLUMNS + "WHERE w.state = 'reserved' AND a.path = coalesce(?, a.path) ORDER BY w.seq"
_SETTLE = "UPDATE write_record SET state = ? WHERE id = ? AND state = 'reserved'"
_COMMITTED_AS = "UPDATE write_record SET after_hash = ?, start_line = ?, end_line = ? WHERE id = ?"
_HISTORY = """
SELECT a.seq, a.kind, w.origin, w.session_kind, w.session, w.sender, w.observed_at, w.key, w.state, t.start_line IS NULL
FROM act a LEFT JOIN write_record w USING (seq) LEFT JOIN trust_act t USING (seq)
WHERE a.path = ? AND coalesce(w.state, '') <> 'rolled_back'
ORDER BY a.seq
"""
_HISTORY_LINES = """
SELECT l.seq, l.change, l.hash FROM act_line l JOIN act a USING (seq) WHERE a.path = ?
ORDER BY l.seq, l.change, l.position
"""
_TOUCH = """
INSERT INTO file_state (path, revision, hash) VALUES (?, 1, ?)
ON CONFLICT (path) DO UPDATE SET revision = revision + 1, hash = excluded.hash
"""
_JUDGE_ANEW = """
INSERT INTO file_state (path, revision, hash) VALUES (?, 1, NULL)
ON CONFLICT (path) DO UPDATE SET revision = revision + 1
"""
_MOVE_ACTS = "UPDATE act SET path = ? WHERE path = ? AND kind <> 'rename'"
_STATES = "SELECT path, revision, hash FROM file_state ORDER BY path"
_STAMP = "SELECT (SELECT max(seq) FROM act), (SELECT total(revision) FROM file_state)"
_HASH_OF = "SELECT hash FROM file_state WHERE path = ?"
_DOUBTFUL_PATHS = """
SELECT DISTINCT a.path FROM act a JOIN write_record w USING (seq)
WHERE w.origin NOT IN ('owner', 'agent') AND w.state <> 'rolled_back' ORDER BY a.path
"""
#: Lines of untrusted writes, without those that stood in trusted text before and those vouched for later.
_UNTRUSTED_LINES = """
SELECT a.path, l.hash FROM write_record w JOIN act a USING (seq) JOIN act_line l USING (seq)
WHERE w.origin NOT IN ('owner', 'agent') AND w.state <> 'rolled_back' AND l.change = 'written'
  AND NOT EXISTS (SELECT 1 FROM act_echo e WHERE e.seq = l.seq AND e.hash = l.hash)
  AND NOT EXISTS (
    SELECT 1 FROM act_line v JOIN act b ON b.seq = v.seq
    WHERE v.change = 'vouched' AND v.hash = l.hash AND b.path = a.path AND v.seq > l.seq)
"""
_CONFINED_LINES = """
SELECT a.path, l.hash FROM write_record w JOIN act a USING (seq) JOIN act_line l USING (seq)
WHERE w.origin IN ('owner', 'agent') AND w.session_kind IN ('cron', 'heartbeat', 'subagent')
  AND w.state <> 'rolled_back' AND l.change = 'written'
  AND NOT EXISTS (SELECT 1 FROM act_echo e WHERE e.seq = l.seq AND e.hash = l.hash)
"""
_ADD_ECHO = "INSERT INTO act_echo (seq, hash) VALUES (?, ?)"
_ECHOES = "SELECT e.seq, e.hash FROM act_echo e JOIN act a USING (seq) WHERE a.path = ?"
_BURY = "INSERT INTO session_tombstone (session, reason, at) VALUES (?, ?, ?) ON CONFLICT (session) DO NOTHING"
_TOMBSTONES = "SELECT session, reason FROM session_tombstone ORDER BY session"
_ADD_ORIGIN = """
INSERT INTO entry_origin (entry, session, session_key, origin, observed_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (entry, session) DO UPDATE SET
    session_key = excluded.session_key, origin = excluded.origin, observed_at = max(observed_at, excluded.observed_at)
"""
_ORIGINS = "SELECT session, session_key, origin, observed_at FROM entry_origin WHERE entry = ? ORDER BY session"
_TRUSTS = """
SELECT t.seq, t.id, a.at, t.by, t.start_line, t.end_line FROM trust_act t JOIN act a USING (seq) WHERE a.path = ?
ORDER BY t.seq
"""
_VOUCHED = "SELECT hash FROM act_line WHERE seq = ? AND change = 'vouched'"
_COUNT = "SELECT count(*) FROM write_record WHERE state = 'committed'"
_SETTING = "SELECT value FROM setting WHERE key = ?"
_SET = "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class DurableStore:
    """The open durable store of one agent. Every method is one transaction; usable from several threads."""

    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self.database = database
        self._clock = clock
        self._ids = ids

    @classmethod
    def open(cls, folder: Path, clock: Clock, ids: Ids, *, readonly: bool = False) -> DurableStore:
        """Open ``memory.sqlite`` in the agent's folder.

        Raises:
            StoreError: or one of its kinds, as :meth:`Database.open`.
        """
        path = folder / "memory.sqlite"
        return cls(Database.open(path, migrations=MIGRATIONS, durable=True, readonly=readonly), clock, ids)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def integrity(self) -> list[str]:
        """Return what is wrong with the database; empty when nothing is."""
        return self.database.integrity()

    def __enter__(self) -> DurableStore:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    # --- writes ---

    def reserve(
        self,
        path: str,
        provenance: Provenance,
        *,
        before_hash: str | None,
        after_hash: str,
        start_line: int,
        end_line: int,
        written: Sequence[str],
        dropped: Sequence[str] = (),
        echoed: Collection[str] = (),
        tool: str = "",
        reason: str = "",
    ) -> str:
        """Announce a write that is about to happen and return the identifier of its record.

        Must be called under the lock of the file, which is held until the record is settled. From here on the
        lines count as what they are even if the writer is killed.
        """
        ident = self._ids.new()
        observed = self._clock.now() if provenance.observed_at is None else provenance.observed_at
        with self.database.transaction():
            seq = self._act("write", path)
            self.database.execute(
                _ADD_WRITE,
                (
                    *(seq, ident, str(provenance.origin), str(provenance.kind), provenance.session, provenance.sender),
                    *(tool, reason, milliseconds(observed), before_hash, after_hash, start_line, end_line),
                    provenance.key,
                ),
            )
            self._add_lines(seq, "written", written)
            self._add_lines(seq, "dropped", dropped)
            self.database.executemany(_ADD_ECHO, [(seq, line) for line in sorted(frozenset(echoed))])
        return ident

    def commit(
        self,
        ident: str,
        *,
        after_hash: str | None = None,
        start_line: int | None = None,
        end_line: int | None = None,
        written: Sequence[str] | None = None,
    ) -> None:
        """Confirm a reserved write. What is given replaces what was planned.

        Raises:
            StoreError: There is no such reservation; it may have been settled already.
        """
        record = self.record(ident)
        after = record.after_hash if after_hash is None else after_hash
        start = record.start_line if start_line is None else start_line
        end = record.end_line if end_line is None else end_line
        with self.database.transaction():
            self._settle(ident, "committed")
            self.database.execute(_COMMITTED_AS, (after, start, end, ident))
            if written is not None and tuple(written) != record.written:
                seq = self.database.value("SELECT seq FROM write_record WHERE id = ?", (ident,))
                self.database.execute("DELETE FROM act_line WHERE seq = ? AND change = 'written'", (seq,))
                self._add_lines(seq, "written", written)
            self.database.execute(_TOUCH, (record.path, after))

    def roll_back(self, ident: str) -> None:
        """Take back a reserved write that did not happen.

        Raises:
            StoreError: There is no such reservation.
        """
        record = self.record(ident)
        with self.database.transaction():
            self._settle(ident, "rolled_back")
            self.database.execute(_JUDGE_ANEW, (record.path,))

    def recover(
        self,
        present: Callable[[str], Present | None],
        locked: Callable[[str], AbstractContextManager[object]],
        *,
        path: str | None = None,
    ) -> Recovery:
        """Settle the reservations of killed writers.

        Args:
            present: Reads the file at a path as it stands, ``None`` if there is none.
            locked: Takes the lock of the file at a path; a live writer holds it from reservation to settlement.
            path: Only those of this file; of every file by default.
        """
        done: dict[State, list[str]] = {"committed": [], "rolled_back": [], "reserved": []}
        for listed in self._records(_RESERVED, (path,)):
            try:
                state = self._recovered(listed.id, listed.path, present, locked)
            except WorkspaceError:
                # What cannot be read now may be readable later; until then its untrusted lines count as written.
                state = "reserved"
            if state is not None:
                done[state].append(listed.id)
        return Recovery(tuple(done["committed"]), tuple(done["rolled_back"]), tuple(done["reserved"]))

    def _recovered(
        self,
        ident: str,
        path: str,
        present: Callable[[str], Present | None],
        locked: Callable[[str], AbstractContextManager[object]],
    ) -> State | None:
        """Settle one reservation and return how; ``None`` if its writer did so in the meantime."""
        with locked(path), self.database.transaction():
            record = self.record(ident)
            if record.state != "reserved":
                return None
            if happened(record, present(path)):
                self.commit(ident)
                return "committed"
            self.roll_back(ident)
            return "rolled_back"

    def records(self, path: str) -> list[WriteRecord]:
        """Return all records of a file, oldest first, whatever their state."""
        return self._records(_RECORDS_OF_PATH, (path,))

    def record(self, ident: str) -> WriteRecord:
        """Return one record.

        Raises:
            StoreError: There is none with this identifier.
        """
        found = self._records(_RECORD, (ident,))
        if not found:
            raise StoreError("There is no such write record", record=ident)
        return found[0]

    # --- acts on files ---

    def trust(
        self,
        path: str,
        lines: tuple[int, int] | None,
        content_hash: str,
        hashes: Sequence[str],
        by: str,
    ) -> str:
        """Record that the owner vouches for lines and return the identifier of the act.

        Args:
            path: The file.
            lines: First and last line, 1-based and inclusive, or ``None`` for the whole file.
            content_hash: sha256 of the file that the owner saw.
            hashes: Hashes of the lines with content that the owner saw there. Only these are raised.
            by: Who did it.
        """
        ident = self._ids.new()
        start, end = lines if lines is not None else (None, None)
        with self.database.transaction():
            seq = self._act("trust", path, content_hash=content_hash)
            self.database.execute(_ADD_TRUST, (seq, ident, start, end, by))
            self._add_lines(seq, "vouched", hashes)
            self.database.execute(_JUDGE_ANEW, (path,))
        return ident

    def trusts(self, path: str) -> list[TrustRecord]:
        """Return the owner's acts of trust on a file, oldest first."""
        with self.database.transaction(immediate=False):
            return [
                TrustRecord(
                    ident,
                    path,
                    moment(at),
                    by,
                    (start, end) if start is not None else None,
                    frozenset(line for (line,) in self.database.rows(_VOUCHED, (seq,))),
                )
                for seq, ident, at, by, start, end in self.database.rows(_TRUSTS, (path,))
            ]

    def removed(self, path: str, content_hash: str) -> None:
        """Record that Reverie removed the file. A file that vanished by itself must not be recorded so."""
        with self.database.transaction():
            self._act("removal", path, content_hash=content_hash)
            self.database.execute(_TOUCH, (path, None))

    def renamed(self, old: str, new: str, content_hash: str) -> None:
        """Record that a file has another name now; its whole history goes with it."""
        with self.database.transaction():
            self._act("rename", new, content_hash=content_hash, detail=old)
            self.database.execute(_MOVE_ACTS, (new, old))
            self.database.execute(_TOUCH, (old, None))
            self.database.execute(_TOUCH, (new, content_hash))

    def history(self, path: str) -> list[Act]:
        """Return the acts of a file in order, as :func:`reverie.store.lines.judge` takes them."""
        lines: dict[tuple[int, str], list[str]] = {}
        with self.database.transaction(immediate=False):
            for seq, change, line in self.database.rows(_HISTORY_LINES, (path,)):
                lines.setdefault((seq, change), []).append(line)
            rows = self.database.rows(_HISTORY, (path,))
            echoes: dict[int, set[str]] = {}
            for seq, line in self.database.rows(_ECHOES, (path,)):
                echoes.setdefault(seq, set()).add(line)
        acts: list[Act] = []
        for seq, kind, origin, session_kind, session, sender, observed, key, state, whole in rows:
            if kind == "write":
                provenance = provenance_of(origin, session_kind, observed, session, sender, key)
                written, dropped = (tuple(lines.get((seq, change), ())) for change in ("written", "dropped"))
                echoed = frozenset(echoes.get(seq, ()))
                acts.append(Write(provenance, written, dropped, pending=state == "reserved", echoed=echoed))
            elif kind == "trust":
                acts.append(Trust(frozenset(lines.get((seq, "vouched"), ())), whole=bool(whole)))
            elif kind == "removal":
                acts.append(Removal())
        return acts

    def doubtful_paths(self) -> list[str]:
        """Return the files to which something untrusted was ever written."""
        return [path for (path,) in self.database.rows(_DOUBTFUL_PATHS)]

    def untrusted_lines(self) -> dict[str, frozenset[str]]:
        """Return the hashes of lines that were written as untrusted and are so still, by file."""
        return self._lines_by_path(_UNTRUSTED_LINES)

    def confined_lines(self) -> dict[str, frozenset[str]]:
        """Return the hashes of lines that programs of the owner wrote by themselves (invariant I3), by file."""
        return self._lines_by_path(_CONFINED_LINES)

    def _lines_by_path(self, query: str) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for path, line in self.database.rows(query):
            found.setdefault(path, set()).add(line)
        return {path: frozenset(lines) for path, lines in found.items()}

    def judge_anew(self, paths: Iterable[str]) -> None:
        """Let the lines of some files be judged anew by whoever keeps a judgement of them."""
        self.database.executemany(_JUDGE_ANEW, [(path,) for path in paths])

    def revisions(self) -> dict[str, int]:
        """Return a number for each file with acts; it grows whenever the file's lines must be judged anew."""
        return {path: revision for path, revision, _ in self.database.rows(_STATES)}

    def stamp(self) -> tuple[object, ...]:
        """Return what changes whenever anything is recorded of any file."""
        return tuple(self.database.row(_STAMP) or ())

    def last_hash(self, path: str) -> str | None:
        """Return the sha256 of the file as Reverie last wrote it, ``None`` if it never did or removed it."""
        found: str | None = self.database.value(_HASH_OF, (path,))
        return found

    def paths_changed_outside(self, present: Mapping[str, str]) -> list[str]:
        """Return the files that are not as Reverie last left them.

        ``present`` maps every memory file that exists to its sha256; a file that is missing there has changed too.
        """
        known = [(path, last) for path, _, last in self.database.rows(_STATES) if last is not None]
        return [path for path, last in known if present.get(path) != last]

    # --- lineage and settings ---

    def bury(self, session: str, reason: str) -> None:
        """Leave a tombstone: nothing of this session may come in again. A second one changes nothing."""
        self.database.execute(_BURY, (session, reason, milliseconds(self._clock.now())))

    def tombstones(self) -> dict[str, str]:
        """Return the buried sessions with the reason."""
        return dict(self.database.rows(_TOMBSTONES))

    def add_origins(self, entry: str, origins: Iterable[EntryOrigin]) -> None:
        """Add sessions from which an entry comes; of a session known already the latest moment is kept."""
        rows = [
            (entry, one.session, one.session_key, str(one.origin), milliseconds(one.observed_at)) for one in origins
        ]
        self.database.executemany(_ADD_ORIGIN, rows)

    def origins(self, entry: str) -> list[EntryOrigin]:
        """Return the sessions from which an entry comes."""
        return [
            EntryOrigin(session, key, SourceClass(origin), moment(at))
            for session, key, origin, at in self.database.rows(_ORIGINS, (entry,))
        ]

    def setting(self, key: str) -> str | None:
        """Return a stored value."""
        found: str | None = self.database.value(_SETTING, (key,))
        return found

    def set_setting(self, key: str, value: str) -> None:
        """Store a value under a key."""
        self.database.execute(_SET, (key, value))

    def count(self) -> int:
        """Return how many writes were recorded."""
        return int(self.database.value(_COUNT))

    def export(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield every row of every table as its table's name and a mapping of columns, all of one moment."""
        with self.database.transaction(immediate=False):
            tables = [
                (table, [name for _, name, *_ in self.database.rows(f"PRAGMA table_info({table})")], self._all(table))
                for table in TABLES
            ]
        for table, columns, rows in tables:
            for row in rows:
                yield table, dict(zip(columns, row, strict=True))

    # --- parts ---

    def _all(self, table: str) -> list[Row]:
        return self.database.rows(f"SELECT * FROM {table}")

    def _act(self, kind: str, path: str, *, content_hash: str | None = None, detail: str | None = None) -> int:
        at = milliseconds(self._clock.now())
        self.database.execute(_ADD_ACT, (kind, path, at, content_hash, detail))
        return self.database.last_id

    def _add_lines(self, seq: int, change: str, hashes: Sequence[str]) -> None:
        self.database.executemany(_ADD_LINE, [(seq, change, position, line) for position, line in enumerate(hashes)])

    def _settle(self, ident: str, state: State) -> None:
        self.database.execute(_SETTLE, (state, ident))
        if self.database.changes != 1:
            raise StoreError("The write record is settled already", record=ident)

    def _records(self, sql: str, params: Sequence[object] = ()) -> list[WriteRecord]:
        with self.database.transaction(immediate=False):
            return [record_of(row, self.database.rows(_LINES, (row[-1],))) for row in self.database.rows(sql, params)]
