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
from reverie.core.text import collapse
from reverie.core.types import Chunk, Corpus, SourceClass, SourceDocument, SourceStat
from reverie.index.contexts import Context
from reverie.index.layout import INVALID_PROJECT, NEVER, OPENS_SECTION, SUPERSEDED
from reverie.index.layout import packed as packed_rows
from reverie.index.rows import moment_of, names_of, packed, storable, to_micros
from reverie.index.schema import HALVES
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
    f"SELECT c.id, c.speaker, c.chars, c.tokens, {_FIXED}, t.text, {_LOOSE} FROM chunk c "
    "JOIN chunk_text t ON t.id = c.id WHERE c.source_id = ? ORDER BY c.position"
)
_PUT_NAME = "INSERT OR IGNORE INTO source_name (name, source_id, specificity) VALUES (?, ?, ?)"
_IDS_OF = "SELECT id, trusted FROM chunk WHERE source_id IN (SELECT value FROM json_each(?))"
_LAST_ID = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunk'"
_ADD = (
    f"INSERT INTO chunk (id, source_id, {_FIXED}, {_LOOSE}, language, trusted, speaker, chars, tokens) "
    f"VALUES ({', '.join('?' * 27)})"
)
_ADD_TEXT = "INSERT INTO chunk_text (id, text) VALUES (?, ?)"
_ADD_WORDS = "INSERT INTO {half}_chunk_fts (rowid, body) VALUES (?, ?)"
_MOVE = f"UPDATE chunk SET ({_LOOSE}) = ({', '.join('?' * 13)}) WHERE id = ?"
_DROP_WORDS = "DELETE FROM {half}_chunk_fts WHERE rowid = ?"
_DROP_TEXT = "DELETE FROM chunk_text WHERE id = ?"
_DROP = "DELETE FROM chunk WHERE id = ?"
_OLD_CONTEXTS = "SELECT id, trusted, hash, tokens, first, last FROM context WHERE source_id = ? ORDER BY first"
_LAST_CONTEXT = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'context'"
_ADD_CONTEXT = "INSERT INTO context (id, source_id, first, last, trusted, tokens, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ADD_HEADING = "INSERT INTO {half}_heading_fts (rowid, heading) VALUES (?, ?)"
_MOVE_CONTEXT = "UPDATE context SET first = ?, last = ? WHERE id = ?"
_CONTEXTS_OF = "SELECT id, trusted FROM context WHERE source_id IN (SELECT value FROM json_each(?))"
_DROP_HEADING = "DELETE FROM {half}_heading_fts WHERE rowid = ?"
_DROP_CONTEXT = "DELETE FROM context WHERE id = ?"
_ADD_PATH = "INSERT INTO {half}_path_fts (rowid, path) VALUES (?, ?)"
_DROP_PATH = "DELETE FROM {half}_path_fts WHERE rowid = ?"
_PUT_LAYOUT = "INSERT OR REPLACE INTO layout (source_id, chunks, contexts, names, path_tokens) VALUES (?, ?, ?, ?, ?)"
_DROP_LAYOUTS = "DELETE FROM layout WHERE source_id IN (SELECT value FROM json_each(?))"
_DROP_SOURCES = "DELETE FROM source WHERE id IN (SELECT value FROM json_each(?))"
_BUMP = "UPDATE state SET revision = revision + 1, backlog = max(backlog, ?), orphans = orphans + ?"

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
    contexts: list[tuple[int, int, int, int, bool, int, bytes]] = field(default_factory=list)
    headings: list[tuple[bool, int, str]] = field(default_factory=list)
    context_moves: list[tuple[int, int, int]] = field(default_factory=list)
    context_drops: list[tuple[bool, int]] = field(default_factory=list)
    paths: list[tuple[bool, int, str]] = field(default_factory=list)
    stale_paths: list[int] = field(default_factory=list)
    layouts: list[tuple[int, bytes, bytes, str, int]] = field(default_factory=list)

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
            layout = _Layout()
            next_id = _gather(database, reading, source_id, rows, forms, layout, next_id)
            next_context = _gather_contexts(database, reading, source_id, rows, layout, next_context)
            changed.append(before != rows.changes)
            if changed[-1]:
                _gather_path(reading, source_id, rows, layout)
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
    _write_words(database, _ADD_HEADING, rows.headings)
    _drop_paths(database, rows.stale_paths)
    _write_words(database, _ADD_PATH, rows.paths)
    database.executemany(_PUT_LAYOUT, rows.layouts)


def _write_words(database: Database, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run a statement over the rows of each half; a row begins with whether it is trusted."""
    for trusted, half in HALVES.items():
        if chosen := [row[1:] for row in rows if row[0] == trusted]:
            database.executemany(sql.format(half=half), chosen)


def _drop_paths(database: Database, source_ids: Sequence[int]) -> None:
    """Take the paths of documents out of both halves; a document may stand in either, in both or in none."""
    _write_words(database, _DROP_PATH, [(trusted, ident) for trusted in HALVES for ident in source_ids])


def remove(database: Database, source_ids: Sequence[int]) -> None:
    """Remove documents with all their rows; their vectors stay until they are pruned."""
    if not source_ids:
        return
    listed = json.dumps(list(source_ids))
    with database.transaction():
        ids = [(bool(trusted), ident) for ident, trusted in database.rows(_IDS_OF, (listed,))]
        _drop(database, ids)
        _drop_contexts(database, [(bool(trusted), ident) for ident, trusted in database.rows(_CONTEXTS_OF, (listed,))])
        _drop_paths(database, source_ids)
        database.execute(_DROP_LAYOUTS, (listed,))
        database.execute(_DROP_SOURCES, (listed,))
        database.execute(_BUMP, (0, len(ids)))


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
    layout: _Layout,
    next_id: int,
) -> int:
    document = reading.document
    old: dict[tuple[Any, ...], list[tuple[tuple[Any, ...], tuple[Any, ...]]]] = defaultdict(list)
    for row in database.rows(_OLD, (source_id,)):
        old[row[4:12]].append((row[:4], row[12:]))
    if reading.rewrite:
        rows.drops.extend(_gone(old))
        old.clear()
    date = None if document.date is None else to_micros(document.date)
    for position, chunk in enumerate(reading.chunks):
        fixed, loose = _columns(chunk, reading, position, date)
        trusted = is_trusted(chunk.provenance.origin)
        if same := old.get(fixed):
            (ident, *form_of), before = same.pop(0)
            if before != loose:
                rows.moves.append((*loose, ident))
            layout.add_chunk(ident, chunk, fixed, loose, trusted, form_of)
            continue
        text = fixed[-1]
        form, language = _form(forms, text)
        form_of = [speaker(text), len(text), len(form.split())]
        rows.chunks.append((next_id, source_id, *fixed[:-1], *loose, language, trusted, *form_of))
        layout.add_chunk(next_id, chunk, fixed, loose, trusted, form_of)
        rows.texts.append((next_id, text))
        rows.words.append((trusted, next_id, form))
        next_id += 1
    rows.drops.extend(_gone(old))
    return next_id


def _gone(
    old: Mapping[tuple[Any, ...], Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]],
) -> Iterator[tuple[bool, int]]:
    """Yield the chunks that nothing took over, with their half."""
    for fixed, group in old.items():
        trusted = is_trusted(SourceClass(fixed[_ORIGIN]))
        yield from ((trusted, row[0]) for row, _ in group)


def _gather_path(reading: Reading, source_id: int, rows: _Rows, layout: _Layout) -> None:
    """Write the words of the path where the document has text, and what a search knows of its chunks."""
    rows.stale_paths.append(source_id)
    path = path_words(storable(reading.document.path))
    for trusted in HALVES:
        if any(is_trusted(chunk.provenance.origin) == trusted for chunk in reading.chunks):
            rows.paths.append((trusted, source_id, path))
    rows.layouts.append((source_id, *layout.packed(), len(path.split())))


def _gather_contexts(
    database: Database, reading: Reading, source_id: int, rows: _Rows, layout: _Layout, next_id: int
) -> int:
    old: dict[tuple[bool, bytes], list[tuple[int, int, int, int]]] = defaultdict(list)
    for ident, trusted, digest, tokens, first, last in database.rows(_OLD_CONTEXTS, (source_id,)):
        old[bool(trusted), digest].append((ident, tokens, first, last))
    if reading.rewrite:
        rows.context_drops.extend((trusted, row[0]) for (trusted, _), group in old.items() for row in group)
        old.clear()
    for context in reading.contexts:
        digest = bytes.fromhex(context.hash)
        trusted = is_trusted(reading.chunks[context.first].provenance.origin)
        if same := old.get((trusted, digest)):
            ident, tokens, *place = same.pop(0)
            if place != [context.first, context.last]:
                rows.context_moves.append((context.first, context.last, ident))
        else:
            ident, heading = next_id, index_form(storable(context.heading))
            tokens = len(heading.split())
            rows.contexts.append((ident, source_id, context.first, context.last, trusted, tokens, digest))
            rows.headings.append((trusted, ident, heading))
            next_id += 1
        layout.contexts.append((ident, context.first, context.last, int(trusted), tokens))
    rows.context_drops.extend((trusted, row[0]) for (trusted, _), group in old.items() for row in group)
    return next_id


@dataclass(slots=True)
class _Layout:
    """The rows of ``layout`` for one document; see :class:`reverie.index.layout.Field` for the order."""

    chunks: list[tuple[int, ...]] = field(default_factory=list)
    contexts: list[tuple[int, ...]] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=lambda: {"": 0})

    def add_chunk(
        self,
        ident: int,
        chunk: Chunk,
        fixed: tuple[Any, ...],
        loose: tuple[Any, ...],
        trusted: bool,
        form_of: Sequence[Any],
    ) -> None:
        """Add a chunk by its columns in the database; ``form_of`` has its speaker, its characters and its tokens."""
        moment, session, heading = fixed[1], fixed[2], fixed[6]
        position, start, end, _, date, _, known, importance, _, project, invalid, _, named = loose
        speaker_of, chars, tokens = form_of
        flags = INVALID_PROJECT * invalid + SUPERSEDED * chunk.annotations.superseded
        flags += OPENS_SECTION * (bool(heading) and fixed[-1].startswith("#"))
        born = self._name(f"{chunk.provenance.origin} {chunk.provenance.kind}")
        self.chunks.append(
            (
                *(ident, position, start, end),
                *(NEVER if moment is None else moment, NEVER if date is None else date),
                *(int(trusted), chars, tokens, born),
                *(self._name(session), self._name(speaker_of), self._name(heading)),
                *(importance or 0, self._name(project), flags, self._name(collapse(normal(known or named or "")))),
            )
        )

    def _name(self, name: str | None) -> int:
        return self.names.setdefault(name or "", len(self.names))

    def packed(self) -> tuple[bytes, bytes, str]:
        """Return the columns of ``layout``."""
        return packed_rows(self.chunks), packed_rows(self.contexts), json.dumps(list(self.names), ensure_ascii=False)


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
    _write_words(database, _DROP_HEADING, ids)
    database.executemany(_DROP_CONTEXT, [(ident,) for _, ident in ids])
