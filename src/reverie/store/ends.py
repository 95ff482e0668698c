"""The queue of transcripts that ended and wait for ingestion (choice C9). It outlives a kill, and repeats nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from reverie.core.types import Clock
from reverie.store.database import Database, Row
from reverie.store.records import milliseconds, moment

_COLUMNS = "session, session_key, reason, next_session, at, done_at"
_QUEUE = """
INSERT INTO session_end (session, session_key, reason, next_session, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session) DO UPDATE SET
    reason = excluded.reason, next_session = coalesce(excluded.next_session, next_session),
    at = excluded.at, done_at = NULL
"""
_QUEUE_MISSED = """
INSERT INTO session_end (session, session_key, reason, at) VALUES (?, ?, 'missed', ?) ON CONFLICT (session) DO NOTHING
"""
_WAITING = f"SELECT {_COLUMNS} FROM session_end WHERE done_at IS NULL ORDER BY at, session"
_ONE = f"SELECT {_COLUMNS} FROM session_end WHERE session = ?"
# Only the end that was worked on: one queued since then waits for its own turn.
_DONE = "UPDATE session_end SET done_at = ? WHERE session = ? AND at = ? AND done_at IS NULL"
_DROP = "DELETE FROM session_end WHERE session = ?"


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """A transcript that ended: why, when, and in which transcript its conversation went on, if in any."""

    session: str
    key: str
    reason: str
    at: datetime
    next: str = ""
    done_at: datetime | None = None


class SessionEnds:
    """The queue, in the durable store of an agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def queue(self, session: str, key: str, reason: str, *, next_session: str = "") -> SessionEnd:
        """Queue the end of a transcript; one that is queued already is there once, with the later reason."""
        at = milliseconds(self._clock.now())
        with self._database.transaction():
            self._database.execute(_QUEUE, (session, key, reason, next_session or None, at))
            found = self._database.row(_ONE, (session,))
        return _end_of(found) if found is not None else SessionEnd(session, key, reason, moment(at), next_session)

    def queue_missed(self, ended: Iterable[tuple[str, str]]) -> None:
        """Queue (session, key) of transcripts that ended with nobody telling; those known already stay as they are."""
        at = milliseconds(self._clock.now())
        self._database.executemany(_QUEUE_MISSED, [(session, key, at) for session, key in ended])

    def waiting(self) -> list[SessionEnd]:
        """Return what waits for ingestion, the oldest end first."""
        return [_end_of(row) for row in self._database.rows(_WAITING)]

    def done(self, end: SessionEnd) -> None:
        """Note that an end was ingested. Doing so twice changes nothing."""
        now = milliseconds(self._clock.now())
        self._database.execute(_DONE, (now, end.session, milliseconds(end.at)))

    def drop(self, session: str) -> None:
        """Forget that there was such a session."""
        self._database.execute(_DROP, (session,))


def _end_of(row: Row) -> SessionEnd:
    session, key, reason, following, at, done = row
    return SessionEnd(session, key, reason, moment(at), following or "", None if done is None else moment(done))
