"""Documents into rows: what is the same stays, what changed is replaced, all in the caller's transaction.

A chunk that is the same keeps its id even where its lines moved, so an edit at the top of a long note rewrites a few
numbers and neither words nor vectors.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reverie.core.language import index_form
from reverie.core.types import Chunk, Corpus, SourceDocument, SourceStat
from reverie.index.rows import moment_of, names_of, packed, storable, to_micros
from reverie.index.schema import REMOVALS_KEPT
from reverie.store.database import Database

_PUT_SOURCE = (
    "INSERT INTO source (corpus, path, size, mtime_ns, hash, recipe, curated) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (corpus, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, "
    "hash = excluded.hash, recipe = excluded.recipe, curated = excluded.curated RETURNING id"
)
_FIXED = "corpus, moment, session, hash, origin, kind, heading"
_LOOSE = (
    "position, start_line, end_line, observed_at, date, sender, key, importance, triggers, project, "
    "invalid_project, review, entry_key"
)
_OLD = (
    f"SELECT c.id, {_FIXED}, t.text, {_LOOSE} FROM chunk c JOIN chunk_text t ON t.id = c.id "
    "WHERE c.source_id = ? ORDER BY c.position"
)
_PUT_NAME = "INSERT OR IGNORE INTO source_name (name, source_id, specificity) VALUES (?, ?, ?)"
_IDS_OF = "SELECT id FROM chunk WHERE source_id IN (SELECT value FROM json_each(?))"
_LAST_ID = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunk'"
_ADD = f"INSERT INTO chunk (id, source_id, {_FIXED}, {_LOOSE}) VALUES ({', '.join('?' * 22)})"
_ADD_TEXT = "INSERT INTO chunk_text (id, text) VALUES (?, ?)"
_ADD_WORDS = "INSERT INTO chunk_fts (rowid, body, heading, path) VALUES (?, ?, ?, ?)"
_MOVE = f"UPDATE chunk SET ({_LOOSE}) = ({', '.join('?' * 13)}) WHERE id = ?"
_DROP_WORDS = "DELETE FROM chunk_fts WHERE rowid = ?"
_DROP_TEXT = "DELETE FROM chunk_text WHERE id = ?"
_DROP = "DELETE FROM chunk WHERE id = ?"
_DROP_SOURCES = "DELETE FROM source WHERE id IN (SELECT value FROM json_each(?))"
_BUMP = "UPDATE state SET revision = revision + 1, backlog = max(backlog, ?), orphans = orphans + ?"
_TRIM_LOG = "DELETE FROM removed WHERE seq <= (SELECT max(seq) FROM removed) - ?"

#: Beginnings and ends of paths that every document shares and that therefore say nothing.
_COMMON_FOLDERS = ("memory/", "sessions/")
_COMMON_ENDINGS = (".md", ".jsonl")


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, read and cut, ready to be published. ``rewrite`` replaces also the rows that look the same."""

    document: SourceDocument
    corpus: Corpus
    stat: SourceStat
    chunks: tuple[Chunk, ...]
    rewrite: bool = False


@dataclass(slots=True)
class _Rows:
    """Rows of one transaction, gathered so that each table is written by one statement."""

    names: list[tuple[str, int, int]] = field(default_factory=list)
    chunks: list[tuple[Any, ...]] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    words: list[tuple[int, str, str, str]] = field(default_factory=list)
    moves: list[tuple[Any, ...]] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)


def publish(database: Database, readings: Sequence[Reading], *, recipe: str, unembedded: bool) -> list[bool]:
    """Write documents and say of each whether its rows changed.

    Args:
        database: The index.
        readings: What to write; a document replaces the rows of the same corpus and path.
        recipe: What the rows depend on besides the bytes.
        unembedded: Some of the chunks have no vector yet.
    """
    rows = _Rows()
    with database.transaction():
        next_id = int(database.value(_LAST_ID)) + 1
        changed = []
        for reading in readings:
            before = (len(rows.chunks), len(rows.moves), len(rows.drops))
            next_id = _gather(database, reading, rows, next_id, recipe)
            changed.append(before != (len(rows.chunks), len(rows.moves), len(rows.drops)))
        database.executemany(_PUT_NAME, rows.names)
        if any(changed):
            _drop(database, rows.drops)
            database.executemany(_MOVE, rows.moves)
            database.executemany(_ADD, rows.chunks)
            database.executemany(_ADD_TEXT, rows.texts)
            database.executemany(_ADD_WORDS, rows.words)
            database.execute(_BUMP, (int(unembedded), len(rows.drops)))
    return changed


def remove(database: Database, source_ids: Sequence[int]) -> None:
    """Remove documents with all their rows; their vectors stay until they are pruned."""
    if not source_ids:
        return
    listed = json.dumps(list(source_ids))
    with database.transaction():
        ids = [ident for (ident,) in database.rows(_IDS_OF, (listed,))]
        _drop(database, ids)
        database.execute(_DROP_SOURCES, (listed,))
        database.execute(_BUMP, (0, len(ids)))


def trim_log(database: Database) -> None:
    """Forget old removals; readers that are so far behind load everything again."""
    database.execute(_TRIM_LOG, (REMOVALS_KEPT,))


def path_words(path: str) -> str:
    """Return the words of a path as they are indexed."""
    for folder in _COMMON_FOLDERS:
        path = path.removeprefix(folder)
    for ending in _COMMON_ENDINGS:
        path = path.removesuffix(ending)
    return index_form(path)


def _gather(database: Database, reading: Reading, rows: _Rows, next_id: int, recipe: str) -> int:
    document, stat = reading.document, reading.stat
    path = storable(document.path)
    source_id = database.value(
        _PUT_SOURCE,
        (reading.corpus, path, stat.size, stat.mtime_ns, document.hash, recipe, int(document.curated)),
    )
    rows.names.extend((name, source_id, specificity) for name, specificity in names_of(path))
    old: dict[tuple[Any, ...], list[tuple[int, tuple[Any, ...]]]] = defaultdict(list)
    for row in database.rows(_OLD, (source_id,)):
        old[row[1:9]].append((row[0], row[9:]))
    if reading.rewrite:
        rows.drops.extend(ident for group in old.values() for ident, _ in group)
        old.clear()
    date = None if document.date is None else to_micros(document.date)
    words_of_path = path_words(path)
    headings: dict[str, str] = {}
    for position, chunk in enumerate(reading.chunks):
        fixed, loose = _columns(chunk, reading, position, date)
        if same := old.get(fixed):
            ident, before = same.pop(0)
            if before != loose:
                rows.moves.append((*loose, ident))
            continue
        text, heading = fixed[-1], fixed[-2]
        if heading not in headings:
            headings[heading] = index_form(heading)
        rows.chunks.append((next_id, source_id, *fixed[:-1], *loose))
        rows.texts.append((next_id, text))
        rows.words.append((next_id, index_form(text), headings[heading], words_of_path))
        next_id += 1
    rows.drops.extend(ident for group in old.values() for ident, _ in group)
    return next_id


def _columns(
    chunk: Chunk, reading: Reading, position: int, date: int | None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the columns that make a chunk the same (text last), and those that may change in place."""
    provenance, notes = chunk.provenance, chunk.annotations
    observed = provenance.observed_at
    fixed = (
        str(reading.corpus),
        moment_of(chunk, reading.document.date),
        _optional(provenance.session),
        bytes.fromhex(chunk.hash),
        str(provenance.origin),
        str(provenance.kind),
        storable(chunk.heading),
        storable(chunk.text),
    )
    loose = (
        position,
        chunk.start_line,
        chunk.end_line,
        None if observed is None else to_micros(observed),
        date,
        _optional(provenance.sender),
        _optional(provenance.key),
        notes.importance,
        packed(notes.triggers),
        packed(notes.project),
        int(notes.invalid_project),
        _optional(notes.review),
        _optional(notes.key),
    )
    return fixed, loose


def _optional(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _drop(database: Database, ids: Sequence[int]) -> None:
    listed = [(ident,) for ident in ids]
    database.executemany(_DROP_WORDS, listed)
    database.executemany(_DROP_TEXT, listed)
    database.executemany(_DROP, listed)
