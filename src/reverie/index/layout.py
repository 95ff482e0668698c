"""What a search knows of every chunk besides its words and its text, as arrays in memory.

A document keeps its part as one row of ``layout``; :class:`Layouts` puts them together and stays up with the database
by reading again the documents that were touched. Chunks stand in the order of document and position, so neighbours are
neighbouring numbers and a context is a range of them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reverie.core.types import Corpus
from reverie.index.rows import Filters, revision, storable, to_micros
from reverie.store.database import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READ = (
    "SELECT s.id, s.path, s.corpus, s.curated, l.path_tokens, l.names, l.chunks, l.contexts "
    "FROM source s CROSS JOIN layout l ON l.source_id = s.id WHERE s.touched > ?"
)
_IDS = "SELECT id FROM source"

#: A moment that is not known.
NEVER = np.iinfo(np.int64).min
#: ``Field.FLAGS``: a malformed project, a text that begins with a heading, a directive that no longer holds.
INVALID_PROJECT, OPENS_SECTION, SUPERSEDED = 1, 2, 4


class Field(IntEnum):
    """The columns of a chunk. Names are numbers of the document's list of names; 0 is none."""

    ID = 0
    POSITION = 1
    START = 2
    END = 3
    MOMENT = 4
    DATE = 5
    TRUSTED = 6
    CHARS = 7
    TOKENS = 8
    BORN = 9
    SESSION = 10
    SPEAKER = 11
    HEADING = 12
    IMPORTANCE = 13
    PROJECT = 14
    FLAGS = 15
    KEY = 16


class ContextField(IntEnum):
    """The columns of a context; ``FIRST`` and ``LAST`` are positions in the document, ``TOKENS`` its heading's."""

    ID = 0
    FIRST = 1
    LAST = 2
    TRUSTED = 3
    TOKENS = 4


@dataclass(frozen=True, slots=True)
class Document:
    """A document as a search knows it, with its part of the arrays: one row for each field."""

    id: int
    path: str
    corpus: str
    curated: bool
    path_tokens: int
    names: tuple[str, ...]
    chunks: NDArray[np.int64]
    contexts: NDArray[np.int64]


def packed(rows: Sequence[Sequence[int]]) -> bytes:
    """Return rows of whole numbers as bytes, field after field, little-endian."""
    return np.array(rows, "<i8").T.tobytes() if rows else b""


def _unpacked(blob: bytes, fields: int) -> NDArray[np.int64]:
    return np.frombuffer(blob, "<i8").reshape(fields, -1)


@dataclass(frozen=True)
class Columns:
    """The chunks of one revision. A row is the number of a chunk in ``chunks``, a column of ``Field``."""

    revision: int
    documents: tuple[Document, ...]
    chunks: NDArray[np.int64]
    contexts: NDArray[np.int64]

    def __getitem__(self, field: Field) -> NDArray[np.int64]:
        """Return one column."""
        column: NDArray[np.int64] = self.chunks[field]
        return column

    def __len__(self) -> int:
        """Return how many chunks there are."""
        return int(self.chunks.shape[1])

    @cached_property
    def document(self) -> NDArray[np.int64]:
        """Return the number of each chunk's document."""
        return np.repeat(np.arange(len(self.documents)), [one.chunks.shape[1] for one in self.documents])

    @cached_property
    def document_starts(self) -> NDArray[np.int64]:
        """Return the first row of each document, and the number of rows at the end."""
        counts = np.array([0, *(one.chunks.shape[1] for one in self.documents)], np.int64)
        return np.cumsum(counts)

    @cached_property
    def path_order(self) -> NDArray[np.int64]:
        """Return the place of each document among all by path and corpus."""
        order = sorted(range(len(self.documents)), key=lambda at: (self.documents[at].path, self.documents[at].corpus))
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places

    @cached_property
    def trusted(self) -> NDArray[np.bool_]:
        """Say of each chunk whether it was born trusted."""
        column: NDArray[np.bool_] = self[Field.TRUSTED] != 0
        return column

    @cached_property
    def _by_id(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self[Field.ID], kind="stable")
        return order, self[Field.ID][order]

    @cached_property
    def _document_ids(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.arange(len(self.documents)), np.array([one.id for one in self.documents], np.int64)

    @cached_property
    def context_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first row of each context, and the row after its last."""
        counts = [one.contexts.shape[1] for one in self.documents]
        base = np.repeat(self.document_starts[:-1], counts)
        return base + self.contexts[ContextField.FIRST], base + self.contexts[ContextField.LAST] + 1

    @cached_property
    def context_of(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the contexts of all rows, row after row, and where those of each row begin. Each row has one."""
        first, end = self.context_rows
        sizes = end - first
        contexts = np.repeat(np.arange(len(first)), sizes)
        rows = ranges(first, sizes)
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=len(self))
        return contexts[order], np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def _context_by_id(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        ids = self.contexts[ContextField.ID]
        order = np.argsort(ids, kind="stable")
        return order, ids[order]

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of chunks by their ids; -1 for one that is not there."""
        return _located(ids, *self._by_id)

    def context_numbers(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of contexts by their ids; -1 for one that is not there."""
        return _located(ids, *self._context_by_id)

    def document_numbers(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of documents by their ids; -1 for one that is not there."""
        return _located(ids, *self._document_ids)

    def ordered(self, rows: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the order of some rows: the highest score first, ties by path and line, never by id (I9)."""
        places = self.path_order[self.document[rows]]
        order: NDArray[np.int64] = np.lexsort((self[Field.END][rows], self[Field.START][rows], places, -scores))
        return order

    def allowed(self, filters: Filters) -> NDArray[np.bool_] | None:
        """Return which rows pass, or ``None`` where all do; the same rule as :meth:`Filters.where`."""
        masks: list[NDArray[np.bool_]] = []
        if filters.corpus is not Corpus.ALL and any(one.corpus != filters.corpus for one in self.documents):
            masks.append(self._where(lambda one: one.corpus == filters.corpus))
        moment = self[Field.MOMENT]
        if filters.since is not None:
            masks.append(moment >= to_micros(filters.since))
        if filters.until is not None:
            masks.append((moment <= to_micros(filters.until)) & (moment != NEVER))
        if filters.as_of is not None:
            masks.append(moment <= to_micros(filters.as_of))
        if filters.path_prefix:
            prefix = storable(filters.path_prefix)
            masks.append(self._where(lambda one: one.path.startswith(prefix)))
        if filters.sessions is not None:
            masks.append(self._seen(frozenset(map(storable, filters.sessions))))
        if not masks:
            return None
        passed: NDArray[np.bool_] = np.logical_and.reduce(masks)
        return passed

    def _where(self, passes: Callable[[Document], bool]) -> NDArray[np.bool_]:
        per_document = np.array([passes(one) for one in self.documents], np.bool_)
        passed: NDArray[np.bool_] = per_document[self.document]
        return passed

    def _seen(self, sessions: frozenset[str]) -> NDArray[np.bool_]:
        """Say which rows are no transcript, or lines of a session that may be seen."""
        mask = self._where(lambda one: one.corpus != Corpus.SESSIONS)
        for at, document in enumerate(self.documents):
            if document.corpus == Corpus.SESSIONS:
                codes = [code for code, name in enumerate(document.names) if code and name in sessions]
                rows = slice(self.document_starts[at], self.document_starts[at + 1])
                mask[rows] = np.isin(self[Field.SESSION][rows], codes)
        return mask

    def superseded(self, as_of: datetime | None) -> dict[int, int | None]:
        """Return the chunks that no longer hold, each with the one that does, if there is one.

        Of the chunks with one key the newest holds, among those that were known at ``as_of``; each half by itself, so
        that nothing that was sent in takes the place of what the owner said. What stands in a curated file without a
        date is newer than anything that has one.
        """
        latest = None if as_of is None else to_micros(as_of)
        flagged = (self[Field.FLAGS] & SUPERSEDED) != 0
        held: dict[tuple[bool, str], list[tuple[tuple[int, ...], int]]] = {}
        over: dict[int, int | None] = {}
        for row in np.flatnonzero((self[Field.KEY] != 0) | flagged).tolist():
            moment, ident = int(self[Field.MOMENT][row]), int(self[Field.ID][row])
            if latest is not None and moment > latest:
                continue
            document = self.documents[int(self.document[row])]
            stands = document.curated and not flagged[row]
            if flagged[row] and latest is None:
                over[ident] = None
            if key := self.name(row, Field.KEY):
                undated = moment == NEVER
                order = (int(undated and stands), moment, int(stands), row)
                held.setdefault((bool(self.trusted[row]), key), []).append((order, ident))
        for rows in held.values():
            *older, (_, newest) = sorted(rows)
            over |= {ident: newest for _, ident in older}
        return over

    def name(self, row: int, field: Field) -> str | None:
        """Return what a field of names says of a row."""
        code = int(self[field][row])
        return self.documents[int(self.document[row])].names[code] if code else None


def ranges(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of several ranges one after another: ``first[i]`` and the next ``sizes[i] - 1``."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - sizes - first, sizes)


def _located(ids: NDArray[np.int64], order: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    if not len(ordered):
        return np.full(len(ids), -1, np.int64)
    found = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
    return np.where(ordered[found] == ids, order[found], -1)


class Layouts:
    """The columns of one database, kept up with it. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._columns: Columns | None = None

    def current(self) -> Columns:
        """Return the columns as the database is now; the same object while nothing was published."""
        with self._lock:
            if self._columns is None or revision(self._database) != self._columns.revision:
                self._columns = self._read(self._columns)
            return self._columns

    def _read(self, before: Columns | None) -> Columns:
        with self._database.transaction(immediate=False):
            now = revision(self._database)
            found = {one.id: one for one in before.documents} if before is not None else {}
            touched = self._database.rows(_READ, (-1 if before is None else before.revision,))
            alive = {ident for (ident,) in self._database.rows(_IDS)}
        for row in touched:
            found[row[0]] = _document(row)
        return _together(now, [found[ident] for ident in sorted(alive & found.keys())])


def _document(row: tuple[Any, ...]) -> Document:
    ident, path, corpus, curated, path_tokens, names, chunks, contexts = row
    return Document(
        ident,
        path,
        corpus,
        bool(curated),
        path_tokens,
        tuple(json.loads(names)),
        _unpacked(chunks, len(Field)),
        _unpacked(contexts, len(ContextField)),
    )


def _together(now: int, documents: Sequence[Document]) -> Columns:
    """Join the arrays of documents; each then holds a view of the whole, so that nothing is kept twice."""
    chunks = np.concatenate([np.empty((len(Field), 0), np.int64), *(one.chunks for one in documents)], axis=1)
    contexts = np.concatenate(
        [np.empty((len(ContextField), 0), np.int64), *(one.contexts for one in documents)], axis=1
    )
    return Columns(now, tuple(_views(documents, chunks, contexts)), chunks, contexts)


def _views(documents: Sequence[Document], chunks: NDArray[np.int64], contexts: NDArray[np.int64]) -> Iterator[Document]:
    row = context = 0
    for one in documents:
        last, last_context = row + one.chunks.shape[1], context + one.contexts.shape[1]
        yield replace(one, chunks=chunks[:, row:last], contexts=contexts[:, context:last_context])
        row, context = last, last_context
