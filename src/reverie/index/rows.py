"""Chunks in and out of their rows, and the filters of a search in SQL."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from reverie.core.clock import as_utc
from reverie.core.types import (
    Annotations,
    Chunk,
    Corpus,
    Provenance,
    SearchRequest,
    SessionKind,
    SourceClass,
)
from reverie.store.database import Database, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLUMNS = (
    "c.id, s.path, c.corpus, c.start_line, c.end_line, t.text, c.heading, c.hash, c.origin, c.kind, c.observed_at, "
    "c.session, c.sender, c.key, c.triggers, c.importance, c.project, c.invalid_project, c.review, c.entry_key, "
    "c.date, s.curated, c.position"
)
_FROM = "FROM chunk c JOIN source s ON s.id = c.source_id JOIN chunk_text t ON t.id = c.id"
_LOAD = f"SELECT {_COLUMNS} {_FROM} WHERE c.id IN (SELECT value FROM json_each(?))"
_CURATED = f"SELECT {_COLUMNS} {_FROM} WHERE s.curated = 1 ORDER BY s.path, c.position"
_OF_PATH = f"SELECT {_COLUMNS} {_FROM} WHERE s.path = ? ORDER BY c.corpus, c.position"
_NAMED = (
    "SELECT c.id, max(n.specificity) AS best FROM source_name n JOIN source s ON s.id = n.source_id "
    "JOIN chunk c ON c.source_id = s.id WHERE n.name = ? {where} GROUP BY c.id "
    "ORDER BY best DESC, s.path, c.position LIMIT ?"
)
_TALLY = "SELECT corpus, sources, chunks, trusted FROM tally"
_SKIPPED = "SELECT path, reason FROM skipped ORDER BY path"
_REVISION = "SELECT revision FROM state"

#: How exactly a query names a file: by its path, by its name, by its name without the ending.
BY_PATH, BY_NAME, BY_STEM = 3, 2, 1
#: Chunks of named files; a query is seldom a name, and a name seldom that of so much.
NAMED_CHUNKS = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of the index. ``date`` is that of its document; ``position`` counts the chunks of a document from 0."""

    id: int
    chunk: Chunk
    date: datetime | None
    curated: bool
    position: int


@dataclass(frozen=True, slots=True)
class LegHit:
    """One chunk as one leg sees it: its 1-based rank, a positive score, and for the vector leg what it adds up to.

    ``evidence`` counts in standard deviations of all that was compared. ``trusted`` says which half it stands in:
    ranks are those within one half.
    """

    chunk_id: int
    rank: int
    score: float
    evidence: float = 0.0
    trusted: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class LegHits(Sequence[LegHit]):
    """The hits of one leg as arrays: the trusted half best first, then the other half best first."""

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    evidence: NDArray[np.float64]
    trusted: NDArray[np.bool_]

    @classmethod
    def none(cls) -> LegHits:
        """Return no hits."""
        return cls(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[LegHits]) -> LegHits:
        """Return the hits of several parts one after another."""
        whole = [cls.none(), *parts]
        return cls(
            np.concatenate([one.ids for one in whole]),
            np.concatenate([one.scores for one in whole]),
            np.concatenate([one.evidence for one in whole]),
            np.concatenate([one.trusted for one in whole]),
        )

    def half(self, trusted: bool) -> LegHits:
        """Return the hits of one half."""
        inside = self.trusted == trusted
        return LegHits(self.ids[inside], self.scores[inside], self.evidence[inside], self.trusted[inside])

    def __len__(self) -> int:
        """Return how many hits there are."""
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> LegHit: ...

    @overload
    def __getitem__(self, at: slice) -> list[LegHit]: ...

    def __getitem__(self, at: int | slice) -> LegHit | list[LegHit]:
        """Return a hit by its number, or some of them."""
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        trusted = bool(self.trusted[at])
        rank = int((self.trusted[: range(len(self))[at] + 1] == trusted).sum())
        return LegHit(int(self.ids[at]), rank, float(self.scores[at]), float(self.evidence[at]), trusted)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the index holds of one corpus; ``trusted`` of its chunks were born trusted."""

    sources: int = 0
    chunks: int = 0
    trusted: int = 0


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks a leg may return.

    ``since`` and ``until`` ask for a known moment: that of the message in a transcript, the date of the document
    elsewhere. ``as_of`` takes out what is known to be later and keeps what has no date, since nothing says that it
    was not there. ``path_prefix`` compares the beginning of the path as it is written. ``sessions`` says which
    transcripts may be seen; notes are not transcripts and pass.
    """

    corpus: Corpus = Corpus.ALL
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    path_prefix: str = ""
    sessions: frozenset[str] | None = None

    @classmethod
    def of(cls, request: SearchRequest) -> Filters:
        """Return the filters of a request."""
        return cls(request.corpus, request.since, request.until, request.as_of, request.path_prefix, request.sessions)

    def where(self, tally: dict[str, Counts]) -> tuple[str, list[Any]]:
        """Return conditions over ``chunk c`` and ``source s``, joined by AND, with their values; ``""`` if all pass."""
        conditions: list[str] = []
        values: list[Any] = []

        def add(condition: str, *parameters: Any) -> None:
            conditions.append(condition)
            values.extend(parameters)

        # A corpus that holds all there is need not be asked for, which saves a look at every matched row.
        if self.corpus is not Corpus.ALL and any(found.chunks for name, found in tally.items() if name != self.corpus):
            add("c.corpus = ?", str(self.corpus))
        if self.since is not None:
            add("c.moment >= ?", to_micros(self.since))
        if self.until is not None:
            add("c.moment <= ?", to_micros(self.until))
        if self.as_of is not None:
            add("(c.moment IS NULL OR c.moment <= ?)", to_micros(self.as_of))
        if self.path_prefix:
            prefix = storable(self.path_prefix)
            add("substr(s.path, 1, ?) = ?", len(prefix), prefix)
        if self.sessions is not None:
            names = json.dumps(sorted(map(storable, self.sessions)))
            add("(c.corpus <> 'sessions' OR c.session IN (SELECT value FROM json_each(?)))", names)
        return " AND ".join(conditions), values


EVERYTHING = Filters()


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970 in UTC, exactly."""
    return (as_utc(moment) - _EPOCH) // _MICROSECOND


def from_micros(value: int | None) -> datetime | None:
    """Return the moment that :func:`to_micros` was given, in UTC."""
    return None if value is None else _EPOCH + timedelta(microseconds=value)


def storable(text: str) -> str:
    """Return the text with lone surrogates replaced, as SQLite keeps only valid Unicode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def moment_of(chunk: Chunk, date: datetime | None) -> int | None:
    """Return when a chunk counts as known: a message when it was said, a note by the date of its document.

    A line of a note that was known before that day, since it was moved there, keeps its own moment.
    """
    observed = chunk.provenance.observed_at
    if chunk.corpus is Corpus.SESSIONS:
        moment = observed or date
    else:
        moment = min((one for one in (date, observed) if one is not None), default=None)
    return None if moment is None else to_micros(moment)


def load(database: Database, ids: Sequence[int]) -> list[StoredChunk]:
    """Return the chunks in the order of ``ids``; one that is no longer there is left out."""
    found = {row[0]: _stored(row) for row in database.rows(_LOAD, (json.dumps(list(ids)),))}
    return [found[ident] for ident in ids if ident in found]


def curated_rows(database: Database) -> list[StoredChunk]:
    """Return every chunk of the curated files, by path and position."""
    return [_stored(row) for row in database.rows(_CURATED)]


def rows_of(database: Database, path: str) -> list[StoredChunk]:
    """Return every chunk of one document, in order."""
    return [_stored(row) for row in database.rows(_OF_PATH, (storable(path),))]


def names_of(path: str) -> list[tuple[str, int]]:
    """Return the names by which a query may ask for a file, in one spelling, each with how exact it is."""
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return [(_spelled(path), BY_PATH), (_spelled(name), BY_NAME), (_spelled(stem), BY_STEM)]


def _spelled(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", storable(name)).casefold())


def named(database: Database, query: str, filters: Filters) -> dict[int, int]:
    """Return the chunks of files that the whole query names, each with how exactly: ``BY_PATH`` to ``BY_STEM``."""
    name = _spelled(query.strip())
    where, values = filters.where(tally(database))
    sql = _NAMED.format(where=f"AND {where}" if where else "")
    return dict(database.rows(sql, (name, *values, NAMED_CHUNKS)))


def tally(database: Database) -> dict[str, Counts]:
    """Return the counts of each corpus; costs the same however large the index is."""
    return {corpus: Counts(*counts) for corpus, *counts in database.rows(_TALLY)}


def skipped_rows(database: Database) -> list[tuple[str, str]]:
    """Return path and reason of all that the last full sync left out."""
    return [(path, reason) for path, reason in database.rows(_SKIPPED)]


def revision(database: Database) -> int:
    """Return the number of publications so far; equal numbers mean equal rows."""
    return int(database.value(_REVISION))


def packed(texts: Sequence[str]) -> str | None:
    """Return a list of texts as JSON; ``None`` for an empty one."""
    return json.dumps([storable(text) for text in texts], ensure_ascii=False) if texts else None


def unpacked(value: str | None) -> tuple[str, ...]:
    """Return the list of texts that :func:`packed` was given."""
    return tuple(json.loads(value)) if value else ()


def _stored(row: Row) -> StoredChunk:
    (ident, path, corpus, start, end, text, heading, digest, origin, kind, observed, session, sender, key) = row[:14]
    (triggers, importance, project, invalid, review, entry_key, date, curated, position) = row[14:]
    chunk = Chunk(
        path=path,
        corpus=Corpus(corpus),
        start_line=start,
        end_line=end,
        text=text,
        heading=heading,
        hash=digest.hex(),
        provenance=Provenance(SourceClass(origin), SessionKind(kind), from_micros(observed), session, sender, key),
        annotations=Annotations(unpacked(triggers), importance, unpacked(project), bool(invalid), review, entry_key),
    )
    return StoredChunk(ident, chunk, from_micros(date), bool(curated), position)
