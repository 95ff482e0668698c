"""The newer generation: one SQLite database an agent, whose tables and columns differ by version.

The database may belong to a running gateway. It is opened for reading only, and in such a way that nothing beside it
changes: see :func:`opened`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import apsw

from reverie.core.errors import ImportRefused
from reverie.core.types import SessionKind
from reverie.imports.arrival import Account
from reverie.imports.openclaw.found import Transcript, chat_of
from reverie.imports.zstd import decompress
from reverie.sessions.keys import parse_key
from reverie.sessions.lines import JsonLine, parsed
from reverie.sessions.messages import moment
from reverie.sessions.reading import VERSION, header_of
from reverie.sessions.rows import Rows, kind_in
from reverie.sessions.tree import Entry, entries_of

_COLUMNS = "SELECT name FROM pragma_table_info(?)"
_ROWS = "SELECT * FROM {table} ORDER BY {key}"
_WINDOWS = "SELECT * FROM {table}"
_SESSIONS = "SELECT DISTINCT session_id FROM transcript_events ORDER BY session_id"
_EVENTS = "SELECT {columns} FROM transcript_events WHERE session_id = ? ORDER BY seq"
_COLD = "SELECT archive_name, raw_bytes, archive_blob FROM session_transcript_cold_archives WHERE session_id = ?"
_COLD_SESSIONS = "SELECT session_id FROM session_transcript_cold_archives ORDER BY session_id"
_FORGOTTEN = "SELECT session_id FROM memory_session_tombstones"
_DOUBTFUL = """
SELECT DISTINCT c.path FROM memory_index_chunks c JOIN memory_index_chunk_provenance p ON p.chunk_id = c.id
WHERE p.origin_class NOT IN ('owner', 'agent')
"""
_INTENTS = "SELECT count(*) FROM standing_intents WHERE status IN ('pending', 'armed')"

#: The tables that hold the rows and the windows, in the present shape and in the first one.
_ROW_TABLES = ("session_nodes", "session_entries")
_WINDOW_TABLES = ("session_windows", "sessions")
#: Columns that repeat what stands in ``entry_json``, and win where it lacks them.
_PROJECTED = {"spawned_by": "spawnedBy", "parent_session_key": "parentSessionKey", "label": "label"}
#: What started a session, where that says that no person did. It can only lower the kind.
_STARTED = {"cron": SessionKind.CRON, "spawn": SessionKind.SUBAGENT, "plugin": SessionKind.UNKNOWN}
_STARTED |= {"internal": SessionKind.UNKNOWN}
_LARGEST_EVENT = 64 << 20


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Open a database of OpenClaw without changing a byte of it or beside it.

    One that a gateway has open is read as SQLite reads beside a writer. One that was left with a journal by a program
    that is gone would need files made beside it, so a copy is read. Any other one is read as it lies there.

    Raises:
        ImportRefused: it cannot be read.
    """
    journal, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        with tempfile.TemporaryDirectory(prefix="reverie-import-") as folder:
            mode, flags = "mode=ro" if shared.exists() else "immutable=1", apsw.SQLITE_OPEN_READONLY
            if not shared.exists() and journal.exists() and journal.stat().st_size:
                copy = Path(folder) / path.name
                shutil.copyfile(path, copy)
                shutil.copyfile(journal, f"{copy}-wal")
                path, mode, flags = copy, "mode=rw", apsw.SQLITE_OPEN_READWRITE
            address = f"file:{quote(str(path.resolve()))}?{mode}"
            with closing(apsw.Connection(address, flags=flags | apsw.SQLITE_OPEN_URI)) as found:
                found.execute("PRAGMA schema_version").fetchone()
                yield Database(found, path)
    except (apsw.Error, OSError) as error:
        raise ImportRefused("The database cannot be read", path=str(path), reason=str(error)) from error


class Database:
    """An open database; every method reads."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def forgotten(self) -> frozenset[str]:
        """Return the ids of sessions that were forgotten there."""
        return frozenset(str(row[0]) for row in self._all(_FORGOTTEN, "memory_session_tombstones"))

    def doubtful_paths(self) -> frozenset[str]:
        """Return the paths of notes of which OpenClaw holds anything for untrusted."""
        return frozenset(str(row[0]) for row in self._all(_DOUBTFUL, "memory_index_chunk_provenance"))

    def intents(self) -> int:
        """Return how many standing intents wait there."""
        found = self._all(_INTENTS, "standing_intents")
        return int(found[0][0]) if found else 0

    def transcripts(self, agent_folder: Path, main_key: str, account: Account) -> Iterator[Transcript]:
        """Yield every transcript, with what its row and its window say. Damage ends the list, and is told."""
        try:
            yield from self._found(agent_folder, main_key, account)
        except apsw.Error as error:
            account.skip(self._path.name, f"it is damaged: {error}")

    def _found(self, agent_folder: Path, main_key: str, account: Account) -> Iterator[Transcript]:
        rows = self._rows(main_key, account)
        windows = self._windows()
        current = {str(row.get("sessionId")): key for key, row in rows.items()}
        cold = {str(row[0]) for row in self._all(_COLD_SESSIONS, "session_transcript_cold_archives")}
        live = {str(row[0]) for row in self._all(_SESSIONS, "transcript_events")}
        for session in sorted(live | cold):
            window = windows.get(session, {})
            key = parse_key(current.get(session) or str(window.get("session_key") or ""), main_key=main_key)
            row = rows.get(key.text, {})
            kinds = {**rows, key.text: _with_window(row, window)}
            yield Transcript(
                session=session,
                key=key,
                entries=lambda session=session, packed=session in cold - live: self._entries(  # type: ignore[misc]
                    session, packed, agent_folder, account
                ),
                begun=self._begun(session, window),
                kind=_lowest(kind_in(kinds, key, main_key), row, known=bool(key.text)),
                chat=chat_of(key, window.get("chat_type") or row.get("chatType")),
                row=row,
                current=session in current,
                outside=bool(window.get("hook_external_content_source") or row.get("hookExternalContentSource")),
            )

    # --- rows ---

    def _rows(self, main_key: str, account: Account) -> Rows:
        table = self._present(_ROW_TABLES)
        if not table:
            return {}
        found: Rows = {}
        for record in self._records(_ROWS.format(table=table, key="session_key")):
            key = str(record.get("session_key") or "")
            row, _ = parsed(str(record.get("entry_json") or record.get("entry") or "{}").encode("utf-8", "replace"))
            if row is None:
                account.skip(key, "its row cannot be read")
                row = {}
            row.setdefault("sessionId", record.get("current_session_id") or record.get("session_id"))
            row |= {name: record[column] for column, name in _PROJECTED.items() if record.get(column)}
            row["startedBy"] = [record.get("created_via"), record.get("created_actor_type")]
            found[parse_key(key, main_key=main_key).text] = row
        return found

    def _windows(self) -> dict[str, dict[str, Any]]:
        table = self._present(_WINDOW_TABLES)
        records = self._records(_WINDOWS.format(table=table)) if table else []
        return {str(record.get("session_id")): record for record in records}

    # --- events ---

    def _entries(self, session: str, packed: bool, agent_folder: Path, account: Account) -> Iterator[Entry]:
        lines = self._cold_lines(session, agent_folder, account) if packed else self._lines(session, account)
        first = next(lines, None)
        version = VERSION
        header = header_of(first.data) if first is not None and first.data is not None else None
        if header is not None:
            version = header.version
        yield from entries_of(lines if header is not None or first is None else _chained(first, lines), version)

    def _lines(self, session: str, account: Account) -> Iterator[JsonLine]:
        bad = 0
        for number, row in enumerate(self._events(session, account), 1):
            text, packed, size = (*row, None, None)[:3]
            try:
                raw = text.encode("utf-8", "replace") if isinstance(text, str) else _unpacked(packed, size)
                data = parsed(raw)[0]
            except ImportRefused:
                data = None
            bad += data is None
            yield JsonLine(number, 0, 0, data)
        if bad:
            account.notices.append(f"{session}: {bad} events cannot be read and were left out")

    def _events(self, session: str, account: Account) -> Iterator[tuple[Any, ...]]:
        columns = self._columns("transcript_events")
        wanted = ["event_json", *(name for name in ("event_zstd", "event_utf8_bytes") if name in columns)]
        try:
            yield from self._connection.execute(_EVENTS.format(columns=", ".join(wanted)), (session,))
        except apsw.Error as error:
            account.skip(session, f"the rest of it is damaged: {error}")

    def _cold_lines(self, session: str, agent_folder: Path, account: Account) -> Iterator[JsonLine]:
        """Read a transcript that was put into an archive: a file beside the sessions, or a value in the database."""
        name, size, blob = next(iter(self._connection.execute(_COLD, (session,))), ("", 0, None))
        places = [agent_folder / folder / "cold" / str(name) for folder in ("sessions", "agent", ".")]
        try:
            packed = blob if blob is not None else next(file for file in places if file.is_file()).read_bytes()
            text = decompress(packed, int(size) + 1)
        except (ImportRefused, OSError, StopIteration, ValueError) as error:
            account.skip(session, f"its archive {name} cannot be read: {str(error) or 'it is not there'}")
            return
        for number, raw in enumerate(text.split(b"\n"), 1):
            if raw.strip():
                yield JsonLine(number, 0, 0, parsed(raw)[0])

    def _begun(self, session: str, window: Mapping[str, Any]) -> datetime:
        for name in ("started_at", "created_at"):
            at = moment(window.get(name))
            if at is not None:
                return at
        sql = "SELECT created_at FROM transcript_events WHERE session_id = ? ORDER BY seq LIMIT 1"
        found = self._connection.execute(sql, (session,)).fetchone() if self._columns("transcript_events") else None
        return (moment(found[0]) if found else None) or datetime.fromtimestamp(0, tz=UTC)

    # --- tables ---

    def _present(self, names: tuple[str, ...]) -> str:
        return next((name for name in names if self._columns(name)), "")

    def _columns(self, table: str) -> list[str]:
        return [str(row[0]) for row in self._connection.execute(_COLUMNS, (table,))]

    def _all(self, sql: str, table: str) -> list[Any]:
        """Run a query, if the version of the database has the table; nothing if its columns are other ones."""
        if not self._columns(table):
            return []
        try:
            return list(self._connection.execute(sql))
        except apsw.SQLError:
            return []

    def _records(self, sql: str) -> list[dict[str, Any]]:
        cursor = self._connection.execute(sql)
        names: list[str] = []
        found = []
        for row in cursor:
            names = names or [str(column[0]) for column in cursor.get_description()]
            found.append(dict(zip(names, cast("tuple[Any, ...]", row), strict=True)))
        return found


def _unpacked(packed: object, size: object) -> bytes:
    if not isinstance(packed, bytes):
        raise ImportRefused("There is no event")
    found = decompress(packed, min(int(size), _LARGEST_EVENT) if isinstance(size, int) else _LARGEST_EVENT)
    if isinstance(size, int) and len(found) != size:
        raise ImportRefused("The event has another size than it should")
    return found


def _with_window(row: Mapping[str, Any], window: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with what its window knows of where the session came from."""
    said = {"spawnedBy": window.get("spawned_by"), "parentSessionKey": window.get("parent_session_key")}
    return {**{name: value for name, value in said.items() if value}, **row}


def _lowest(kind: SessionKind, row: Mapping[str, Any], *, known: bool) -> SessionKind:
    """Return the kind, lowered where the row says that a program started the session."""
    if not known:
        return SessionKind.UNKNOWN
    if kind is not SessionKind.INTERACTIVE:
        return kind
    via, actor = row.get("startedBy") or (None, None)
    lowered = _STARTED.get(str(via))
    if lowered is not None:
        return lowered
    return SessionKind.UNKNOWN if actor in ("agent", "system") else kind


def _chained(first: JsonLine, rest: Iterator[JsonLine]) -> Iterator[JsonLine]:
    yield first
    yield from rest
