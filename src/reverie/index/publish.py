"""Documents into rows: what is the same stays, what changed is replaced, all in the caller's transaction.

A chunk that is the same keeps its id even where its lines moved, so an edit at the top of a long note rewrites a few
numbers and neither words nor vectors. So does a context; the words of a document as a whole are written anew.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reverie.core.language import analysed, index_form, normal
from reverie.core.provenance import is_trusted
from reverie.core.types import Chunk, Corpus, SourceClass, SourceDocument, SourceStat
from reverie.index.contexts import Context
from reverie.index.rows import moment_of, names_of, packed, storable, to_micros
from reverie.index.schema import HALVES, REMOVALS_KEPT
from reverie.store.database import Database

_PUT_SOURCE = (
    "INSERT INTO source (corpus, path, size, mtime_ns, hash, recipe, curated, touched) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT revision + 1 FROM state)) "
    "ON CONFLICT (corpus, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, "
    "hash = excluded.hash, recipe = excluded.recipe, curated = excluded.curated, "
    "touched = excluded.touched RETURNING id"
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
_IDS_OF = "SELECT id, trusted FROM chunk WHERE source_id IN (SELECT value FROM json_each(?))"
_LAST_ID = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunk'"
_ADD = (
    f"INSERT INTO chunk (id, source_id, {_FIXED}, {_LOOSE}, language, speaker, chars, trusted) "
    f"VALUES ({', '.join('?' * 26)})"
)
_ADD_TEXT = "INSERT INTO chunk_text (id, text) VALUES (?, ?)"
_ADD_WORDS = "INSERT INTO {half}_chunk_fts (rowid, body) VALUES (?, ?)"
_MOVE = f"UPDATE chunk SET ({_LOOSE}) = ({', '.join('?' * 13)}) WHERE id = ?"
_DROP_WORDS = "DELETE FROM {half}_chunk_fts WHERE rowid = ?"
_DROP_TEXT = "DELETE FROM chunk_text WHERE id = ?"
_DROP = "DELETE FROM chunk WHERE id = ?"
_OLD_CONTEXTS = "SELECT id, trusted, hash, first, last FROM context WHERE source_id = ? ORDER BY first"
_LAST_CONTEXT = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'context'"
_ADD_CONTEXT = "INSERT INTO context (id, source_id, first, last, trusted, hash) VALUES (?, ?, ?, ?, ?, ?)"
_ADD_CONTEXT_WORDS = "INSERT INTO {half}_context_fts (rowid, body, heading) VALUES (?, ?, ?)"
_MOVE_CONTEXT = "UPDATE context SET first = ?, last = ? WHERE id = ?"
_CONTEXTS_OF = "SELECT id, trusted FROM context WHERE source_id IN (SELECT value FROM json_each(?))"
_DROP_CONTEXT_WORDS = "DELETE FROM {half}_context_fts WHERE rowid = ?"
_DROP_CONTEXT = "DELETE FROM context WHERE id = ?"
_ADD_SOURCE_WORDS = "INSERT INTO {half}_source_fts (rowid, body, path) VALUES (?, ?, ?)"
_DROP_SOURCE_WORDS = "DELETE FROM {half}_source_fts WHERE rowid = ?"
_DROP_SOURCES = "DELETE FROM source WHERE id IN (SELECT value FROM json_each(?))"
_BUMP = "UPDATE state SET revision = revision + 1, backlog = max(backlog, ?), orphans = orphans + ?"
_TRIM_LOG = "DELETE FROM removed WHERE seq <= (SELECT max(seq) FROM removed) - ?"

#: Beginnings and ends of paths that every document shares and that therefore say nothing.
_COMMON_FOLDERS = ("memory/", "sessions/")
_COMMON_ENDINGS = (".md", ".jsonl")


#: Where the class stands among what makes a chunk the same.
_ORIGIN = _FIXED.split(", ").index("origin")

#: Who says a line, where it begins with a short name and a colon.
_SPEAKER = re.compile(r"\s*(?:[-*+]\s+)?(?P<name>[^\W\d_][^\n:：.!?]{0,31})[:：]\s")
_SPEAKER_WORDS = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, read and cut, ready to be published. ``rewrite`` replaces also the rows that look the same."""

    document: SourceDocument
    corpus: Corpus
    stat: SourceStat
    chunks: tuple[Chunk, ...]
    contexts: tuple[Context, ...]
    rewrite: bool = False


@dataclass(slots=True)
class _Rows:
    """Rows of one transaction, gathered so that each table is written by one statement.

    What goes into or out of the tables of words says first whether it is trusted, which names the table.
    """

    names: list[tuple[str, int, int]] = field(default_factory=list)
    chunks: list[tuple[Any, ...]] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    words: list[tuple[bool, int, str]] = field(default_factory=list)
    moves: list[tuple[Any, ...]] = field(default_factory=list)
    drops: list[tuple[bool, int]] = field(default_factory=list)
    contexts: list[tuple[int, int, int, int, bool, bytes]] = field(default_factory=list)
    context_words: list[tuple[bool, int, str, str]] = field(default_factory=list)
    context_moves: list[tuple[int, int, int]] = field(default_factory=list)
    context_drops: list[tuple[bool, int]] = field(default_factory=list)
    sources: list[tuple[bool, int, str, str]] = field(default_factory=list)
    stale_sources: list[int] = field(default_factory=list)

    @property
    def changes(self) -> tuple[int, ...]:
        """Return how much there is of what readers can see."""
        return len(self.chunks), len(self.moves), len(self.drops), len(self.contexts), len(self.context_drops)


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
        next_context = int(database.value(_LAST_CONTEXT)) + 1
        changed = []
        for reading in readings:
            before = rows.changes
            forms: dict[str, tuple[str, str]] = {}
            source_id = _put_source(database, reading, rows, recipe)
            next_id = _gather(database, reading, source_id, rows, forms, next_id)
            next_context = _gather_contexts(database, reading, source_id, rows, forms, next_context)
            changed.append(before != rows.changes)
            if changed[-1]:
                _gather_words(reading, source_id, rows, forms)
        database.executemany(_PUT_NAME, rows.names)
        if any(changed):
            _write(database, rows)
            database.execute(_BUMP, (int(unembedded), len(rows.drops)))
    return changed


def _write(database: Database, rows: _Rows) -> None:
    _drop(database, rows.drops)
    database.executemany(_MOVE, rows.moves)
    database.executemany(_ADD, rows.chunks)
    database.executemany(_ADD_TEXT, rows.texts)
    _write_words(database, _ADD_WORDS, rows.words)
    _drop_contexts(database, rows.context_drops)
    database.executemany(_MOVE_CONTEXT, rows.context_moves)
    database.executemany(_ADD_CONTEXT, rows.contexts)
    _write_words(database, _ADD_CONTEXT_WORDS, rows.context_words)
    _drop_source_words(database, rows.stale_sources)
    _write_words(database, _ADD_SOURCE_WORDS, rows.sources)


def _write_words(database: Database, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run a statement over the rows of each half; a row begins with whether it is trusted."""
    for trusted, half in HALVES.items():
        if chosen := [row[1:] for row in rows if row[0] == trusted]:
            database.executemany(sql.format(half=half), chosen)


def _drop_source_words(database: Database, source_ids: Sequence[int]) -> None:
    """Take the words of documents out of both halves; a document may stand in either, in both or in none."""
    _write_words(database, _DROP_SOURCE_WORDS, [(trusted, ident) for trusted in HALVES for ident in source_ids])


def remove(database: Database, source_ids: Sequence[int]) -> None:
    """Remove documents with all their rows; their vectors stay until they are pruned."""
    if not source_ids:
        return
    listed = json.dumps(list(source_ids))
    with database.transaction():
        ids = [(bool(trusted), ident) for ident, trusted in database.rows(_IDS_OF, (listed,))]
        _drop(database, ids)
        _drop_contexts(database, [(bool(trusted), ident) for ident, trusted in database.rows(_CONTEXTS_OF, (listed,))])
        _drop_source_words(database, source_ids)
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


def speaker(text: str) -> str | None:
    """Return who says a line that begins with a name and a colon, in one spelling; ``None`` for any other."""
    found = _SPEAKER.match(text)
    name = normal(found["name"]).strip() if found else ""
    return name if name and len(name.split()) <= _SPEAKER_WORDS else None


def _form(forms: dict[str, tuple[str, str]], text: str) -> tuple[str, str]:
    """Return the words of a text as they are indexed and their language, worked out once a document."""
    if text not in forms:
        forms[text] = analysed(text)
    return forms[text]


def _put_source(database: Database, reading: Reading, rows: _Rows, recipe: str) -> int:
    document, stat = reading.document, reading.stat
    path = storable(document.path)
    source_id = int(
        database.value(
            _PUT_SOURCE,
            (reading.corpus, path, stat.size, stat.mtime_ns, document.hash, recipe, int(document.curated)),
        )
    )
    rows.names.extend((name, source_id, specificity) for name, specificity in names_of(path))
    return source_id


def _gather(
    database: Database,
    reading: Reading,
    source_id: int,
    rows: _Rows,
    forms: dict[str, tuple[str, str]],
    next_id: int,
) -> int:
    document = reading.document
    old: dict[tuple[Any, ...], list[tuple[int, tuple[Any, ...]]]] = defaultdict(list)
    for row in database.rows(_OLD, (source_id,)):
        old[row[1:9]].append((row[0], row[9:]))
    if reading.rewrite:
        rows.drops.extend(_gone(old))
        old.clear()
    date = None if document.date is None else to_micros(document.date)
    for position, chunk in enumerate(reading.chunks):
        fixed, loose = _columns(chunk, reading, position, date)
        if same := old.get(fixed):
            ident, before = same.pop(0)
            if before != loose:
                rows.moves.append((*loose, ident))
            continue
        text = fixed[-1]
        form, language = _form(forms, text)
        trusted = is_trusted(chunk.provenance.origin)
        rows.chunks.append((next_id, source_id, *fixed[:-1], *loose, language, speaker(text), len(text), trusted))
        rows.texts.append((next_id, text))
        rows.words.append((trusted, next_id, form))
        next_id += 1
    rows.drops.extend(_gone(old))
    return next_id


def _gone(old: Mapping[tuple[Any, ...], Sequence[tuple[int, tuple[Any, ...]]]]) -> Iterator[tuple[bool, int]]:
    """Yield the chunks that nothing took over, with their half."""
    for fixed, group in old.items():
        trusted = is_trusted(SourceClass(fixed[_ORIGIN]))
        yield from ((trusted, ident) for ident, _ in group)


def _gather_words(reading: Reading, source_id: int, rows: _Rows, forms: dict[str, tuple[str, str]]) -> None:
    """Write the words of a document as a whole; one without text has none, not even those of its path."""
    rows.stale_sources.append(source_id)
    path = path_words(storable(reading.document.path))
    for trusted in HALVES:
        chunks = [chunk for chunk in reading.chunks if is_trusted(chunk.provenance.origin) == trusted]
        if chunks:
            body = " ".join(_form(forms, storable(chunk.text))[0] for chunk in chunks)
            rows.sources.append((trusted, source_id, body, path))


def _gather_contexts(
    database: Database,
    reading: Reading,
    source_id: int,
    rows: _Rows,
    forms: dict[str, tuple[str, str]],
    next_id: int,
) -> int:
    old: dict[tuple[bool, bytes], list[tuple[int, int, int]]] = defaultdict(list)
    for ident, trusted, digest, first, last in database.rows(_OLD_CONTEXTS, (source_id,)):
        old[bool(trusted), digest].append((ident, first, last))
    if reading.rewrite:
        rows.context_drops.extend((trusted, ident) for (trusted, _), group in old.items() for ident, _, _ in group)
        old.clear()
    for context in reading.contexts:
        digest = bytes.fromhex(context.hash)
        trusted = is_trusted(reading.chunks[context.first].provenance.origin)
        if same := old.get((trusted, digest)):
            ident, *place = same.pop(0)
            if place != [context.first, context.last]:
                rows.context_moves.append((context.first, context.last, ident))
            continue
        chunks = reading.chunks[context.first : context.last + 1]
        body = " ".join(_form(forms, storable(chunk.text))[0] for chunk in chunks)
        rows.contexts.append((next_id, source_id, context.first, context.last, trusted, digest))
        rows.context_words.append((trusted, next_id, body, index_form(storable(context.heading))))
        next_id += 1
    rows.context_drops.extend((trusted, ident) for (trusted, _), group in old.items() for ident, _, _ in group)
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


def _drop(database: Database, ids: Sequence[tuple[bool, int]]) -> None:
    listed = [(ident,) for _, ident in ids]
    _write_words(database, _DROP_WORDS, ids)
    database.executemany(_DROP_TEXT, listed)
    database.executemany(_DROP, listed)


def _drop_contexts(database: Database, ids: Sequence[tuple[bool, int]]) -> None:
    _write_words(database, _DROP_CONTEXT_WORDS, ids)
    database.executemany(_DROP_CONTEXT, [(ident,) for _, ident in ids])
