"""The tables of ``agents/<id>/memory.sqlite``, one numbered step after the other. Add steps; never change one."""

from __future__ import annotations

from reverie.core.types import SessionKind, SourceClass
from reverie.store.database import Migration


def _one_of(column: str, values: type[SourceClass] | type[SessionKind]) -> str:
    return f"CHECK ({column} IN ({', '.join(repr(str(value)) for value in values)}))"


_LEDGER = f"""
-- Every act on a memory file, in one order: judging a file means replaying its acts.
CREATE TABLE act (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('write', 'trust', 'removal', 'rename')),
    path TEXT NOT NULL,
    at INTEGER NOT NULL,           -- milliseconds since 1970, UTC
    content_hash TEXT,             -- of the file: seen by the owner (trust), removed or moved
    detail TEXT                    -- the former path of a rename
) STRICT;
CREATE INDEX act_path ON act (path, seq);

CREATE TABLE write_record (
    seq INTEGER PRIMARY KEY REFERENCES act (seq) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL {_one_of("origin", SourceClass)},
    session_kind TEXT NOT NULL {_one_of("session_kind", SessionKind)},
    session TEXT,
    sender TEXT,
    tool TEXT NOT NULL,
    reason TEXT NOT NULL,
    observed_at INTEGER NOT NULL,
    before_hash TEXT,              -- NULL: there was no file
    after_hash TEXT NOT NULL,      -- planned when reserved, so that a killed write can be told from none
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    key TEXT,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'committed', 'rolled_back'))
) STRICT;
CREATE INDEX write_reserved ON write_record (seq) WHERE state = 'reserved';

CREATE TABLE trust_act (
    seq INTEGER PRIMARY KEY REFERENCES act (seq) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    start_line INTEGER,            -- NULL: the whole file
    end_line INTEGER,
    by TEXT NOT NULL
) STRICT;

-- Hashes of the lines with content that an act wrote, took out or vouched for.
CREATE TABLE act_line (
    seq INTEGER NOT NULL REFERENCES act (seq) ON DELETE CASCADE,
    change TEXT NOT NULL CHECK (change IN ('written', 'dropped', 'vouched')),
    position INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (seq, change, position)
) STRICT, WITHOUT ROWID;

-- What is known of a file. `revision` grows whenever its lines must be judged anew, `hash` is what Reverie last wrote.
CREATE TABLE file_state (
    path TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    hash TEXT
) STRICT, WITHOUT ROWID;
"""

_LINEAGE = f"""
CREATE TABLE session_tombstone (
    session TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which sessions an entry comes from; what `forget` follows.
CREATE TABLE entry_origin (
    entry TEXT NOT NULL,
    session TEXT NOT NULL,
    session_key TEXT,
    origin TEXT NOT NULL {_one_of("origin", SourceClass)},
    observed_at INTEGER NOT NULL,
    PRIMARY KEY (entry, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_origin_session ON entry_origin (session);

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_ECHOES = """
-- Lines of an untrusted write that stood in trusted text before it.
CREATE TABLE act_echo (
    seq INTEGER NOT NULL REFERENCES act (seq) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    PRIMARY KEY (seq, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX act_line_vouched ON act_line (hash, seq) WHERE change = 'vouched';
"""

_SESSION_END = """
-- Transcripts that ended, queued for ingestion (C9). A session that goes on and ends again is queued again.
CREATE TABLE session_end (
    session TEXT PRIMARY KEY,
    session_key TEXT NOT NULL,
    reason TEXT NOT NULL,
    next_session TEXT,
    at INTEGER NOT NULL,           -- milliseconds since 1970, UTC
    done_at INTEGER                -- NULL: waits for ingestion
) STRICT, WITHOUT ROWID;
"""

_USAGE = """
-- What language models cost, a day, feature and model in one row.
CREATE TABLE model_usage (
    day TEXT NOT NULL,             -- the user's calendar day
    feature TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    prompt INTEGER NOT NULL,       -- tokens, as the provider counts them
    completion INTEGER NOT NULL,
    PRIMARY KEY (day, feature, model)
) STRICT, WITHOUT ROWID;
"""

MIGRATIONS = (
    Migration.script("0001_ledger", _LEDGER),
    Migration.script("0002_lineage", _LINEAGE),
    Migration.script("0003_echoes", _ECHOES),
    Migration.script("0004_session_end", _SESSION_END),
    Migration.script("0005_usage", _USAGE),
)

#: Every table, in the order of an export; parents before children.
TABLES = (
    *("act", "write_record", "trust_act", "act_line", "act_echo", "file_state"),
    *("session_tombstone", "entry_origin", "setting", "session_end", "model_usage"),
)
