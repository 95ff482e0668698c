"""The tables of ``index.sqlite``. Everything in them is derived and may be thrown away.

A row of ``chunk`` never changes what it is filtered by: where that would change, the row is replaced under a new id.
So a reader that holds vectors in memory needs only those of the ids above the highest it knows; which chunks there
still are, and where they stand, the layout of their document says. The text stands apart from the columns that
searches filter by, which keeps those few and close together.

A chunk is what is found: a line or an entry. FTS5 keeps where each word stands: ``chunk_fts`` in the chunks,
``heading_fts`` in the headings above a run of neighbouring chunks (``context``: their positions in the document),
``path_fts`` in the paths of the documents. Words of trusted text and of any other stand in tables of their own, so
that what somebody sends in says nothing about how rare a word is among the owner's.

``layout`` has what a search must know of every chunk of a document besides its words and its text, as arrays
(:mod:`reverie.index.layout`), so that a process has all of it in memory after a few milliseconds.
"""

from __future__ import annotations

from reverie.core.types import SessionKind, SourceClass
from reverie.store.database import Database, Migration

#: Raised whenever rows made by an older Reverie may no longer be read as they are.
SCHEMA_VERSION = 5

#: The two halves of the words, by whether the text was born trusted.
HALVES = {True: "trusted", False: "untrusted"}


def _among(values: type[SourceClass] | type[SessionKind]) -> str:
    return ", ".join(f"'{value}'" for value in values)


_TABLES = f"""
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    corpus TEXT NOT NULL CHECK (corpus IN ('memory', 'sessions')),
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    hash TEXT NOT NULL,
    recipe TEXT NOT NULL,
    curated INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    UNIQUE (corpus, path)
) STRICT;
CREATE INDEX source_touched ON source (touched);

CREATE TABLE source_name (
    name TEXT NOT NULL,
    source_id INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    specificity INTEGER NOT NULL,
    PRIMARY KEY (name, source_id, specificity)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_name_source ON source_name (source_id);

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL REFERENCES source (id),
    corpus TEXT NOT NULL CHECK (corpus IN ('memory', 'sessions')),
    moment INTEGER,
    session TEXT,
    hash BLOB NOT NULL,
    position INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ({_among(SourceClass)})),
    kind TEXT NOT NULL CHECK (kind IN ({_among(SessionKind)})),
    observed_at INTEGER,
    date INTEGER,
    sender TEXT,
    key TEXT,
    heading TEXT NOT NULL,
    importance INTEGER CHECK (importance BETWEEN 1 AND 10),
    triggers TEXT,
    project TEXT,
    invalid_project INTEGER NOT NULL,
    review TEXT,
    entry_key TEXT,
    language TEXT NOT NULL,
    speaker TEXT,
    chars INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    trusted INTEGER NOT NULL
) STRICT;
CREATE INDEX chunk_source ON chunk (source_id, position);
CREATE INDEX chunk_hash ON chunk (hash);

CREATE TABLE chunk_text (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE context (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL REFERENCES source (id),
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    trusted INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE INDEX context_source ON context (source_id, first);

CREATE TABLE layout (
    source_id INTEGER PRIMARY KEY REFERENCES source (id) ON DELETE CASCADE,
    chunks BLOB NOT NULL,
    contexts BLOB NOT NULL,
    names TEXT NOT NULL,
    path_tokens INTEGER NOT NULL
) STRICT;

CREATE TABLE space (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
) STRICT;

CREATE TABLE centre (
    space INTEGER NOT NULL REFERENCES space (id) ON DELETE CASCADE,
    script TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space, script)
) STRICT, WITHOUT ROWID;

CREATE TABLE embedding (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES space (id),
    hash BLOB NOT NULL,
    vector BLOB,
    UNIQUE (space, hash)
) STRICT;
CREATE INDEX embedding_refused ON embedding (space, hash) WHERE vector IS NULL;

CREATE TABLE skipped (
    corpus TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (corpus, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL,
    backlog INTEGER NOT NULL,
    orphans INTEGER NOT NULL
) STRICT;
INSERT INTO state (id, revision, backlog, orphans) VALUES (1, 0, 0, 0);

CREATE TABLE tally (
    corpus TEXT PRIMARY KEY,
    sources INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    trusted INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO tally VALUES ('memory', 0, 0, 0), ('sessions', 0, 0, 0);

CREATE TABLE spoken (
    trusted INTEGER NOT NULL,
    language TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    PRIMARY KEY (trusted, language)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER source_added AFTER INSERT ON source BEGIN
    UPDATE tally SET sources = sources + 1 WHERE corpus = new.corpus;
END;
CREATE TRIGGER source_removed AFTER DELETE ON source BEGIN
    UPDATE tally SET sources = sources - 1 WHERE corpus = old.corpus;
END;
CREATE TRIGGER chunk_added AFTER INSERT ON chunk BEGIN
    UPDATE tally SET chunks = chunks + 1, trusted = trusted + new.trusted WHERE corpus = new.corpus;
    INSERT INTO spoken VALUES (new.trusted, new.language, 1)
    ON CONFLICT (trusted, language) DO UPDATE SET chunks = chunks + 1;
END;
CREATE TRIGGER chunk_removed AFTER DELETE ON chunk BEGIN
    UPDATE tally SET chunks = chunks - 1, trusted = trusted - old.trusted WHERE corpus = old.corpus;
    UPDATE spoken SET chunks = chunks - 1 WHERE trusted = old.trusted AND language = old.language;
END;
"""

_WORDS = """
CREATE VIRTUAL TABLE {half}_chunk_fts USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE {half}_chunk_vocabulary USING fts5vocab ('{half}_chunk_fts', 'row');
CREATE VIRTUAL TABLE {half}_chunk_places USING fts5vocab ('{half}_chunk_fts', 'instance');

CREATE VIRTUAL TABLE {half}_heading_fts USING fts5 (
    heading, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE {half}_heading_places USING fts5vocab ('{half}_heading_fts', 'instance');

CREATE VIRTUAL TABLE {half}_path_fts USING fts5 (
    path, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE {half}_path_places USING fts5vocab ('{half}_path_fts', 'instance');
"""

#: The tables of words.
FULLTEXT_TABLES = tuple(f"{half}_{level}_fts" for half in HALVES.values() for level in ("chunk", "heading", "path"))

#: Virtual tables first: with one of them go the tables that it keeps its rows in.
_FOUND = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'migration' "
    "ORDER BY sql NOT LIKE 'CREATE VIRTUAL TABLE%', name LIKE '%_fts', name"
)


def _nothing(database: Database) -> None:
    """Stand for the tables of an older version: the last step would only throw them away again."""


def _create(database: Database) -> None:
    """Begin anew: what another version made of the files is of no use."""
    for (name,) in database.rows(_FOUND):
        database.execute(f'DROP TABLE IF EXISTS "{name}"')
    database.execute(_TABLES)
    for half in HALVES.values():
        database.execute(_WORDS.format(half=half))


MIGRATIONS = (
    Migration("0001_index", _nothing),
    Migration("0002_lines", _nothing),
    Migration("0003_halves", _nothing),
    Migration("0004_layout", _nothing),
    Migration("0005_keys", _create),
)
