"""The vector leg: exact cosine over rows kept in memory, read again only where the index changed (choice C13).

Up to ``EXACT_ROWS`` the rows stand in memory as float32 and every one is compared. Above that, each row is one bit a
dimension: the sign after the mean of a sample is taken away (without that the vectors of a small model all point the
same way, and the bits say little). The nearest by bits are then compared exactly, from the float16 of the database.
The sample is chosen by content, not by age, so that an index grown by edits has the codes of one built at once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reverie.core.types import Corpus
from reverie.index.rows import Filters, LegHit, ranked, revision, storable, to_micros
from reverie.store.database import Database, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie.core.types import Vector

# CROSS JOIN fixes the order of the tables and a plus takes an index away: each of these reads a range of new ids, and
# SQLite, which cannot know that the range is small, would rather read everything.
_COLUMNS = "SELECT c.id, e.id, e.vector, c.corpus, c.moment, c.source_id, c.session"
_ALL = (
    f"{_COLUMNS} FROM embedding e CROSS JOIN chunk c ON c.hash = e.hash "
    "WHERE e.id > ? AND e.id <= ? AND +e.space = ? AND e.vector IS NOT NULL"
)
_NEW_CHUNKS = (
    f"{_COLUMNS} FROM chunk c CROSS JOIN embedding e ON e.space = ? AND e.hash = c.hash AND e.vector IS NOT NULL "
    "WHERE c.id > ?"
)
_NEW_VECTORS = (
    f"{_COLUMNS} FROM embedding e CROSS JOIN chunk c ON c.hash = e.hash AND c.id <= ? "
    "WHERE e.id > ? AND +e.space = ? AND e.vector IS NOT NULL"
)
_REMOVED = "SELECT seq, chunk_id FROM removed WHERE seq > ?"
_LOG = "SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM removed"
_ENDS = "SELECT (SELECT coalesce(max(id), 0) FROM chunk), (SELECT coalesce(max(id), 0) FROM embedding)"
_CHUNKS = "SELECT sum(chunks) FROM tally"
_COUNT = "SELECT count(*) FROM chunk c JOIN embedding e ON e.space = ? AND e.hash = c.hash AND e.vector IS NOT NULL"
_SAMPLE = (
    "SELECT e.id FROM embedding e WHERE e.space = ? AND e.vector IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM chunk c WHERE c.hash = e.hash) ORDER BY e.hash LIMIT ?"
)
_BY_ID = "SELECT id, vector FROM embedding WHERE id IN (SELECT value FROM json_each(?))"
_SOURCES = "SELECT id FROM source WHERE substr(path, 1, ?) = ?"

EXACT_ROWS = 50_000
#: How many rows are compared exactly for each one wanted, and how many at least.
RESCORED = 5
RESCORED_AT_LEAST = 500
#: The rows whose mean is taken away before the signs: those with the smallest hashes.
SAMPLE_ROWS = 64
#: A float32 product may differ in its last bits with the place of a row; what is this near is compared exactly.
NEAR = 1e-5
DECIMALS = 6

_CORPORA = {str(Corpus.MEMORY): 0, str(Corpus.SESSIONS): 1}
_NO_MOMENT = np.iinfo(np.int64).min
_READ_ROWS = 8_192


def to_blob(vector: Vector) -> bytes | None:
    """Return a vector at unit length as little-endian float16; ``None`` for one that is zero or not finite."""
    wide = np.asarray(vector, dtype=np.float64)
    with np.errstate(all="ignore"):
        length = float(np.sqrt((wide * wide).sum()))
        if not np.isfinite(length) or length < 1e-12:
            return None
        half = (wide / length).astype("<f2")
    return half.tobytes() if np.isfinite(half).all() and half.any() else None


def from_blobs(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Return stored vectors as float32, shape ``(len(blobs), dimension)``."""
    return np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(blobs), dimension).astype(np.float32)


class _Columns:
    """What is known of each loaded row besides its vector; row ``i`` of every array is the same chunk."""

    def __init__(self) -> None:
        self.ids = np.empty(0, np.int64)
        self.vectors = np.empty(0, np.int64)
        self.corpus = np.empty(0, np.int8)
        self.moment = np.empty(0, np.int64)
        self.source = np.empty(0, np.int64)
        self.session = np.empty(0, np.int64)
        self.alive = np.empty(0, np.bool_)
        self._codes: dict[str | None, int] = {}

    def extend(self, rows: Sequence[Row]) -> None:
        """Add rows of the query ``_COLUMNS``."""
        codes = self._codes
        fresh: dict[str, list[int]] = {
            "ids": [row[0] for row in rows],
            "vectors": [row[1] for row in rows],
            "corpus": [_CORPORA[row[3]] for row in rows],
            "moment": [_NO_MOMENT if row[4] is None else row[4] for row in rows],
            "source": [row[5] for row in rows],
            "session": [codes.setdefault(row[6], len(codes)) for row in rows],
            "alive": [1] * len(rows),
        }
        for name, values in fresh.items():
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.array(values, column.dtype)]))

    def allowed(self, database: Database, filters: Filters) -> NDArray[np.bool_]:
        """Return which rows pass; the same rule as :meth:`Filters.where`."""
        mask = self.alive.copy()
        if filters.corpus is not Corpus.ALL:
            mask &= self.corpus == _CORPORA[str(filters.corpus)]
        if filters.since is not None:
            mask &= self.moment >= to_micros(filters.since)
        if filters.until is not None:
            mask &= (self.moment <= to_micros(filters.until)) & (self.moment != _NO_MOMENT)
        if filters.as_of is not None:
            mask &= self.moment <= to_micros(filters.as_of)
        if filters.path_prefix:
            prefix = storable(filters.path_prefix)
            sources = [ident for (ident,) in database.rows(_SOURCES, (len(prefix), prefix))]
            mask &= np.isin(self.source, sources)
        if filters.sessions is not None:
            seen = [self._codes[name] for name in map(storable, filters.sessions) if name in self._codes]
            mask &= (self.corpus != _CORPORA["sessions"]) | np.isin(self.session, seen)
        return mask


class _Exact:
    """Rows as float32; every one is compared."""

    def __init__(self, dimension: int, expected: int = 0) -> None:
        self._dimension = dimension
        self._rows: NDArray[np.float32] = np.empty((expected, dimension), np.float32)
        self._used = 0

    def extend(self, blobs: Sequence[bytes]) -> None:
        """Add rows, growing by half again, so that adding few rows copies nothing."""
        need = self._used + len(blobs)
        if need > len(self._rows):
            grown = np.empty((need + need // 2, self._dimension), np.float32)
            grown[: self._used] = self._rows[: self._used]
            self._rows = grown
        self._rows[self._used : need] = from_blobs(blobs, self._dimension)
        self._used = need

    def nearest(self, query: NDArray[np.float64], mask: NDArray[np.bool_], limit: int) -> NDArray[np.int64]:
        """Return the numbers of at least the ``limit`` best rows, in no order."""
        scores = self._rows[: self._used] @ query.astype(np.float32)
        scores[~mask] = -2.0
        if limit < self._used:
            mask = mask & (scores >= np.partition(scores, -limit)[-limit] - NEAR)
        return np.flatnonzero(mask)

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of some rows."""
        return self._rows[rows]


class _Codes:
    """Rows as one bit a dimension. ``_words`` is ``(dimension / 64, capacity)``: one pass a word, all rows at once."""

    def __init__(self, dimension: int, mean: NDArray[np.float32]) -> None:
        self._dimension = dimension
        self._mean = mean
        self._words: NDArray[np.uint64] = np.empty((-(-dimension // 64), 0), np.uint64)
        self._used = 0

    def extend(self, blobs: Sequence[bytes]) -> None:
        """Add rows."""
        need = self._used + len(blobs)
        if need > self._words.shape[1]:
            grown = np.empty((len(self._words), need + need // 4), np.uint64)
            grown[:, : self._used] = self._words[:, : self._used]
            self._words = grown
        self._words[:, self._used : need] = self._encode(from_blobs(blobs, self._dimension))
        self._used = need

    def _encode(self, rows: NDArray[np.float32]) -> NDArray[np.uint64]:
        packed = np.packbits(rows > self._mean, axis=1)
        whole = np.zeros((len(rows), 8 * len(self._words)), np.uint8)
        whole[:, : packed.shape[1]] = packed
        return whole.view(np.uint64).T

    def nearest(self, query: NDArray[np.float64], mask: NDArray[np.bool_], limit: int) -> NDArray[np.int64]:
        """Return the numbers of enough rows, nearest by bits, to hold the ``limit`` best; in no order."""
        code = self._encode(query.astype(np.float32)[None, :])[:, 0]
        distance = np.zeros(self._used, np.uint16)
        for word, mine in zip(self._words[:, : self._used], code, strict=True):
            distance += np.bitwise_count(word ^ mine)
        distance[~mask] = np.iinfo(np.uint16).max
        wanted = max(limit * RESCORED, RESCORED_AT_LEAST)
        if wanted < self._used:
            mask = mask & (distance <= np.partition(distance, wanted - 1)[wanted - 1])
        return np.flatnonzero(mask)


class VectorTable:
    """The vectors of one embedder in one database, ready to be searched. Safe to use from several threads."""

    def __init__(self, database: Database, space: int, dimension: int) -> None:
        self._database = database
        self._space = space
        self._dimension = dimension
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._revision = self._last_chunk = self._last_vector = self._last_removal = -1
        self._sample: list[int] = []
        self._columns = _Columns()
        self._data: _Exact | _Codes = _Exact(self._dimension)

    def __len__(self) -> int:
        """Return how many chunks have a vector."""
        with self._lock:
            self._refresh()
            return int(self._columns.alive.sum())

    def leg(self, query: Vector, filters: Filters, limit: int) -> list[LegHit]:
        """Return the chunks nearest to the query by cosine, at most ``limit``, best first; scores in ``(0, 1]``.

        A query of another width, of no length or with values that are no numbers has no neighbours.
        """
        wide = np.asarray(query, dtype=np.float64).reshape(-1)
        length = float(np.sqrt((wide * wide).sum()))
        if limit < 1 or wide.shape != (self._dimension,) or not np.isfinite(length) or length < 1e-12:
            return []
        with self._lock:
            self._refresh()
            columns = self._columns
            mask = columns.allowed(self._database, filters)
            if not mask.any():
                return []
            wide /= length
            rows = self._data.nearest(wide, mask, limit)
            scores = self._cosine(wide, rows)
        scored = zip(columns.ids[rows].tolist(), scores.tolist(), strict=True)
        return ranked(self._database, [(ident, score) for ident, score in scored if score > 0], limit)

    def _cosine(self, query: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return exact cosines. Each row is summed by itself, so its place among the others changes nothing."""
        if isinstance(self._data, _Exact):
            vectors = self._data.vectors(rows).astype(np.float64)
        else:
            wanted = self._columns.vectors[rows].tolist()
            found: dict[int, bytes] = dict(self._database.rows(_BY_ID, (json.dumps(wanted),)))
            zero = bytes(2 * self._dimension)
            vectors = from_blobs([found.get(ident, zero) for ident in wanted], self._dimension).astype(np.float64)
        lengths = np.sqrt((vectors * vectors).sum(axis=1))
        lengths[lengths == 0] = 1.0
        rounded: NDArray[np.float64] = np.round((vectors * query).sum(axis=1) / lengths, DECIMALS)
        return rounded

    # --- keeping up with the database ---

    def _refresh(self) -> None:
        if revision(self._database) == self._revision:
            return
        with self._database.transaction(immediate=False):
            now = revision(self._database)
            if not self._catch_up():
                self._load()
            self._revision = now

    def _catch_up(self) -> bool:
        """Read what is new; say ``False`` if everything must be read instead."""
        oldest, newest = self._database.row(_LOG) or (0, 0)
        if self._last_chunk < 0 or self._last_removal < oldest - 1 or newest < self._last_removal:
            return False
        gone = [ident for _, ident in self._database.rows(_REMOVED, (self._last_removal,))]
        if gone:
            self._columns.alive &= ~np.isin(self._columns.ids, gone)
        fresh = self._database.rows(_NEW_CHUNKS, (self._space, self._last_chunk))
        fresh += self._database.rows(_NEW_VECTORS, (self._last_chunk, self._last_vector, self._space))
        self._add(fresh)
        self._mark(newest)
        alive = int(self._columns.alive.sum())
        if len(self._columns.ids) > 1024 and alive < 0.75 * len(self._columns.ids):
            return False
        if isinstance(self._data, _Codes) != (alive > EXACT_ROWS):
            return False
        return isinstance(self._data, _Exact) or self._sample == self._sample_ids()

    def _load(self) -> None:
        _, newest = self._database.row(_LOG) or (0, 0)
        self._clear()
        expected = int(self._database.value(_CHUNKS) or 0)
        if expected > EXACT_ROWS:
            expected = int(self._database.value(_COUNT, (self._space,)))
        self._data = self._empty_codes() if expected > EXACT_ROWS else _Exact(self._dimension, expected)
        self._mark(newest)
        for low in range(0, self._last_vector, _READ_ROWS):
            self._add(self._database.rows(_ALL, (low, low + _READ_ROWS, self._space)))

    def _empty_codes(self) -> _Codes:
        self._sample = self._sample_ids()
        blobs = [blob for _, blob in self._database.rows(_BY_ID, (json.dumps(self._sample),))]
        mean = from_blobs(blobs, self._dimension).astype(np.float64).mean(axis=0)
        return _Codes(self._dimension, mean.astype(np.float32))

    def _sample_ids(self) -> list[int]:
        return [ident for (ident,) in self._database.rows(_SAMPLE, (self._space, SAMPLE_ROWS))]

    def _add(self, rows: Sequence[Row]) -> None:
        good = [row for row in rows if len(row[2]) == 2 * self._dimension]
        if good:
            self._data.extend([row[2] for row in good])
            self._columns.extend(good)

    def _mark(self, newest_removal: int) -> None:
        self._last_chunk, self._last_vector = self._database.row(_ENDS) or (0, 0)
        self._last_removal = newest_removal
